//! Keys that end or open something: what they ask first, and what they leave alone.

use super::*;
use crate::app::panes::output::{Hold, RunInfo};
use crate::app::testing::{App, reference, sandbox, start};
use crate::domain::{ExecId, StreamId};
use crate::protocol::{Event, Reply};

fn cancelled(app: &mut App) -> usize {
    let commands = app.commands();
    let is_cancel = |command: &&Command| matches!(command, Command::Cancel(_));
    commands.iter().filter(is_cancel).count()
}

#[test]
fn leaving_once_too_often_does_not_quit() {
    let mut app = App::with(120, 40, &["a"]);
    app.keys("f3 i ctrl-q ctrl-q");
    assert_eq!(app.state.view.mode, Mode::Nav);
    assert!(!app.effects.contains(&Effect::Quit));
    app.keys("q");
    assert!(app.effects.contains(&Effect::Quit));
}

#[test]
fn copying_nothing_cancels_what_runs() {
    let mut app = App::with(120, 40, &["a"]);
    app.keys("f3 i");
    app.typed("word");
    app.keys("ctrl-c");
    assert_eq!(cancelled(&mut app), 0, "nothing runs");
    app.state.output.open(RunInfo {
        stream: StreamId(900),
        exec: ExecId::new("x1"),
        hold: Hold::Own,
        sandbox: reference("a"),
        sandbox_name: "a".to_owned(),
        title: "loop".to_owned(),
        started: start(),
    });
    app.keys("shift-left ctrl-c");
    assert_eq!(cancelled(&mut app), 0, "a letter is selected");
    app.keys("right ctrl-c");
    assert_eq!(cancelled(&mut app), 1);
    assert_eq!(app.state.view.mode, Mode::Edit);
}

#[test]
fn a_preview_of_reaping_that_was_called_off_does_not_open() {
    let mut app = App::with(120, 40, &["a"]);
    let preview = |app: &mut App| {
        app.keys("R");
        let requests = app.requests();
        let is_preview = |request: &&crate::protocol::Request| {
            matches!(request.command, Command::PreviewReap { .. })
        };
        requests
            .iter()
            .find(is_preview)
            .map(|r| r.id)
            .expect("a request")
    };
    let answer = |app: &mut App, request| {
        let outcome = Ok(Reply::Reaped(Vec::new(), Vec::new()));
        app.engine(Event::Replied { request, outcome });
    };
    let first = preview(&mut app);
    app.keys("esc");
    answer(&mut app, first);
    assert!(app.state.view.overlay.is_none());
    let second = preview(&mut app);
    answer(&mut app, second);
    assert!(matches!(app.state.view.overlay, Some(Overlay::Reap(_))));
}

#[test]
fn a_living_shell_is_closed_only_after_a_question() {
    let mut app = App::with(120, 40, &["a"]);
    app.keys("x");
    app.answer(|command| matches!(command, Command::Exec { .. }).then(|| Ok(Reply::Done)));
    app.keys("ctrl-q D");
    assert_eq!((cancelled(&mut app), app.state.shells.living()), (0, 1));
    assert!(
        app.screen().contains("End the shell in a?"),
        "{}",
        app.screen()
    );
    app.keys("n");
    assert_eq!(app.state.shells.living(), 1);
    app.keys("D y");
    assert_eq!((cancelled(&mut app), app.state.shells.living()), (1, 0));
}

#[test]
fn what_the_screen_says_works_in_every_pane() {
    let mut app = App::new(120, 40);
    app.link(crate::app::testing::up());
    app.list(Vec::new());
    app.keys("f5 c");
    assert!(matches!(app.state.view.overlay, Some(Overlay::Create(_))));
    let mut app = App::with(120, 40, &["a"]);
    app.keys("f4 x");
    app.answer(|command| matches!(command, Command::Exec { .. }).then(|| Ok(Reply::Done)));
    assert_eq!(app.state.shells.living(), 1);
    app.list(vec![sandbox("a")]);
}
