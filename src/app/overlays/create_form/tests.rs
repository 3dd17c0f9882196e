//! The form for a new sandbox, by keys.

use crate::app::overlays::overlay::Overlay;
use crate::app::testing::{App, host};
use crate::domain::{Image, Network, SandboxSpec};
use crate::protocol::{Command, Event, Reply};

fn image(name: &str, size: u64) -> Image {
    Image {
        name: name.into(),
        id: name.into(),
        size_bytes: Some(size << 20),
        created_at: None,
    }
}

fn opened() -> App {
    let mut app = App::with(80, 24, &[]);
    app.keys("c");
    app.answer(|command| {
        let asked = Command::Images(host());
        let images = vec![
            image("node:24", 200),
            image("python:3.12-slim", 120),
            image("python:3.13", 900),
        ];
        (*command == asked).then_some(Ok(Reply::Images(images)))
    });
    app
}

fn created(app: &mut App) -> SandboxSpec {
    let mut commands = app.commands().into_iter();
    let spec = commands.find_map(|command| match command {
        Command::Create { spec, .. } => Some(*spec),
        _ => None,
    });
    spec.expect("a create")
}

#[test]
fn two_keys_create_with_the_defaults_even_before_the_images_are_known() {
    let mut app = App::with(80, 24, &[]);
    app.keys("c enter");
    assert_eq!(created(&mut app).image, "python:3.12-slim");
}

#[test]
fn local_images_are_offered_narrowed_and_picked() {
    let mut app = opened();
    app.keys("tab tab");
    let screen = app.screen();
    for words in ["available locally", "node:24", "120 MiB"] {
        assert!(screen.contains(words), "{words} in {screen}");
    }
    app.typed("python");
    assert!(!app.screen().contains("node:24"));
    assert!(app.screen().contains("will be pulled"));
    app.keys("down down");
    assert!(app.screen().contains("900 MiB"), "the others stay in sight");
    app.keys("enter");
    assert_eq!(created(&mut app).image, "python:3.13");
}

#[test]
fn picking_goes_round_and_typing_narrows_anew() {
    let mut app = opened();
    app.keys("tab tab up up up up");
    let text = |app: &App| match &app.state.view.overlay {
        Some(Overlay::Create(form)) => form.fields.get(form.at).map(|f| f.line.text()),
        _ => None,
    };
    assert_eq!(text(&app).as_deref(), Some("python:3.13"));
    app.keys("ctrl-u");
    app.typed("node");
    app.keys("down");
    assert_eq!(text(&app).as_deref(), Some("node:24"));
}

#[test]
fn network_variables_and_mounts_are_asked_for() {
    let mut app = opened();
    app.keys("tab tab tab tab tab tab tab down down tab");
    app.typed("A=1 B=2");
    app.keys("tab");
    app.typed("/srv/data:/mnt/data:ro");
    app.keys("enter");
    let spec = created(&mut app);
    assert_eq!(spec.network, Network::Default);
    let given = ["A", "B"].map(|name| spec.env.iter().any(|(known, _)| known == name));
    assert_eq!(given, [true, true]);
    assert_eq!(spec.mounts.len(), 1);
}

#[test]
fn a_mistake_is_told_while_it_is_typed_and_creates_nothing() {
    let mut app = opened();
    app.keys("tab tab tab");
    app.typed("much");
    assert!(app.screen().contains("memory:"), "{}", app.screen());
    app.keys("enter");
    assert_eq!(app.commands(), []);
    app.keys("ctrl-u");
    app.typed("64m");
    assert!(!app.screen().contains("memory:"));
}

#[test]
fn a_pull_has_a_bar() {
    let mut app = opened();
    app.keys("enter");
    let request = app.requests().last().expect("a request").id;
    let note = "pulling python:3.12-slim".to_owned();
    let (done, total) = (30 << 20, Some(120 << 20));
    app.engine(Event::Progress {
        request,
        note,
        done,
        total,
    });
    let screen = app.screen();
    let foot = screen.lines().last().unwrap_or_default();
    assert!(foot.contains("███░░░░░░░ 25% of 120 MiB"), "{foot}");
}
