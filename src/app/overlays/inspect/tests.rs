//! The view of a sandbox: what it asks for and when, and what it does with the answers.

use std::time::Duration;

use chrono::TimeDelta;

use super::*;
use crate::app::overlays::Overlay;
use crate::app::testing::{App, reference, sandbox, start};
use crate::domain::{EngineEvent, EngineEventKind, Posture};
use crate::protocol::{Event, FailureKind};

fn view(app: &App) -> &InspectState {
    let overlay = app.state.view.overlay.as_ref();
    let view = overlay.and_then(|overlay| match overlay {
        Overlay::Inspect(view) => Some(view),
        _ => None,
    });
    view.expect("the view of a sandbox")
}

fn process(pid: u32, cpu_ms: u64, age_ms: u64) -> Process {
    Process {
        pid,
        parent: 1,
        user: "nobody".into(),
        state: 'R',
        cpu_time: Duration::from_millis(cpu_ms),
        memory_bytes: 1 << 20,
        age: Duration::from_millis(age_ms),
        command: format!("work-{pid}"),
    }
}

fn details() -> Reply {
    Reply::Details(Box::new(Details {
        sandbox: sandbox("py"),
        posture: Posture::default(),
        death: None,
        env_names: Vec::new(),
        work_dir: "/workspace".into(),
    }))
}

#[test]
fn each_tab_asks_for_its_own_when_it_is_looked_at() {
    let mut app = App::with(80, 24, &["py"]);
    app.keys("i");
    assert_eq!(app.commands(), [Command::Inspect(reference("py"))]);
    app.keys("]");
    assert_eq!(app.commands(), [Command::Processes(reference("py"))]);
    app.keys("tab");
    assert_eq!((view(&app).tab, app.commands()), (Tab::Charts, vec![]));
    app.keys("right");
    assert_eq!((view(&app).tab, app.commands()), (Tab::Events, vec![]));
    app.keys("]");
    assert_eq!(app.commands(), [Command::Changes(reference("py"))]);
    app.keys("]");
    assert_eq!((view(&app).tab, app.commands()), (Tab::Overview, vec![]));
    app.keys("[");
    assert_eq!(view(&app).tab, Tab::Changes);
    app.keys("esc");
    assert_eq!(app.state.view.overlay, None);
}

#[test]
fn processes_are_looked_at_every_two_seconds_but_never_twice_at_once() {
    let mut app = App::with(80, 24, &["py"]);
    app.keys("i ]");
    app.effects
        .retain(|effect| !format!("{effect:?}").contains("Inspect"));
    app.tick(10);
    assert_eq!(app.effects.len(), 1, "one look is under way");
    app.answer(|_| {
        Some(Ok(Reply::Processes(vec![
            process(5, 100, 1_000),
            process(6, 0, 900),
        ])))
    });
    assert_eq!(app.commands(), []);
    app.tick(11);
    assert_eq!(app.effects.len(), 1);
    app.answer(|_| {
        Some(Ok(Reply::Processes(vec![
            process(5, 100, 3_000),
            process(6, 1_000, 2_900),
        ])))
    });
    let found = view(&app).processes.answer.clone().expect("an answer");
    let found: Vec<(u32, f64)> = found
        .expect("processes")
        .iter()
        .map(|seen| (seen.process.pid, seen.cpu_percent.round()))
        .collect();
    assert_eq!(
        found,
        [(6, 50.0), (5, 0.0)],
        "busiest first, since the last look"
    );
    app.tick(12);
    assert_eq!(app.commands(), []);
    app.keys("q");
    app.tick(30);
    assert_eq!(
        app.commands(),
        [],
        "nothing is asked for a view that is closed"
    );
}

#[test]
fn a_failure_is_shown_in_its_place_and_tried_again_by_a_key() {
    let mut app = App::with(80, 24, &["py"]);
    app.keys("i");
    let gone = || Failure::new(FailureKind::NotFound, "inspecting: no such sandbox");
    app.answer(|_| Some(Err(gone())));
    assert_eq!(view(&app).details.answer, Some(Err(gone())));
    assert!(app.screen().contains("inspecting: no such sandbox"));
    app.keys("ctrl-r");
    app.answer(|_| Some(Ok(details())));
    assert!(matches!(view(&app).details.answer, Some(Ok(_))));
}

#[test]
fn a_request_that_was_not_taken_is_tried_again() {
    let mut app = App::with(80, 24, &["py"]);
    app.keys("i ]");
    let requests = app.requests();
    let last = requests.last().expect("a request").id;
    app.tell(crate::app::Msg::Busy(last));
    app.tick(2);
    assert_eq!(app.commands(), [Command::Processes(reference("py"))]);
}

#[test]
fn answers_for_another_sandbox_change_nothing() {
    let mut app = App::with(80, 24, &["a", "b"]);
    app.keys("i");
    let late = app.requests();
    app.keys("esc j i");
    let before = view(&app).clone();
    assert_eq!(before.name, "b");
    for request in late {
        let request = request.id;
        let outcome = Ok(details());
        app.engine(Event::Replied { request, outcome });
    }
    assert_eq!(*view(&app), before);
}

#[test]
fn what_happens_to_the_sandbox_is_shown_and_makes_it_ask_anew() {
    let mut app = App::with(80, 24, &["py"]);
    app.keys("i");
    app.answer(|_| Some(Ok(details())));
    let event = EngineEvent {
        at: start() + TimeDelta::seconds(3),
        sandbox: reference("py"),
        name: "py".into(),
        what: EngineEventKind::Oom,
    };
    app.engine(Event::Engine(event));
    assert_eq!(app.commands(), [Command::Inspect(reference("py"))]);
    app.keys("[ [");
    assert!(app.screen().contains("oom"), "{}", app.screen());
    app.keys("esc f7");
    assert!(app.screen().contains("ran over the memory limit"));
}
