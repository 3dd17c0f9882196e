//! The history of runs, by keys and eyes.

use std::time::Duration;

use chrono::TimeDelta;

use super::*;
use crate::app::overlays::Overlay;
use crate::app::testing::{App, reference, start};
use crate::app::{Effect, Pane};
use crate::domain::{
    Code, Ended, ExecEnd, OutputChunk, Owner, OwnerKind, RunEnd, RunResult, Source, Spooled,
    StreamId, StreamKind, Tie,
};
use crate::protocol::{Event, Failure, Reply};

/// Describes a run of another process that goes on.
pub(crate) fn recorded(id: &str) -> Run {
    Run {
        id: ExecId::new(id),
        sandbox: reference("alpha"),
        name: "alpha".to_owned(),
        argv: vec!["make".to_owned(), id.to_owned()],
        code: None,
        source: Source::Cli,
        session: None,
        started_at: start() - TimeDelta::seconds(90),
        owner: Owner {
            host: "desk".into(),
            pid: 4711,
            started: 2,
            user: Some("ada".into()),
            kind: OwnerKind::Cli,
        },
        tie: Tie::Detached,
        result: None,
        spooled: Spooled::default(),
    }
}

pub(crate) fn runs(ids: &[&str]) -> Vec<Run> {
    ids.iter().map(|id| recorded(id)).collect()
}

/// Describes a run that has ended with a code.
fn ended(id: &str, code: i32) -> Run {
    let mut run = recorded(id);
    let end = ExecEnd {
        peak_memory_bytes: Some(9 << 20),
        ..ExecEnd::bare(Ended::Code(code))
    };
    let took = Duration::from_millis(1500);
    let at = run.started_at + TimeDelta::milliseconds(1500);
    run.result = Some(RunResult::of(&end, at, took));
    run
}

fn with_code(id: &str) -> Run {
    let file = "/workspace/.sandtop-0.py";
    let argv = ["sh", "-c", "…", file, "python3", file, "a b", "c"];
    Run {
        argv: argv.map(str::to_owned).into(),
        code: Some(Code {
            language: "python".to_owned(),
            name: None,
            text: "\nprint(6 * 7)\n".to_owned(),
        }),
        source: Source::Mcp,
        ..ended(id, 0)
    }
}

fn denied(id: &str) -> Run {
    let mut run = recorded(id);
    run.result = Some(RunResult::bare(RunEnd::Denied, run.started_at, start()));
    run
}

pub(crate) fn all() -> Vec<Run> {
    vec![
        recorded("r1"),
        ended("r2", 3),
        with_code("r3"),
        denied("r4"),
    ]
}

fn list(command: &Command) -> Option<Result<Reply, Failure>> {
    matches!(command, Command::Runs { .. }).then(|| Ok(Reply::Runs(all())))
}

fn listed() -> App {
    let mut app = App::with(130, 40, &["alpha"]);
    app.keys("h");
    app.answer(list);
    app
}

fn reads(sent: &[Command]) -> impl Iterator<Item = (&str, StreamId)> {
    sent.iter().filter_map(|command| match command {
        Command::ReadRun { run, stream, .. } => Some((run.as_str(), *stream)),
        _ => None,
    })
}

fn panel(app: &App) -> &HistoryPanel {
    match &app.state.view.overlay {
        Some(Overlay::History(panel)) => Some(panel),
        _ => None,
    }
    .expect("a list")
}

#[test]
fn the_runs_of_the_selected_sandbox_are_listed() {
    let mut app = App::with(130, 40, &["alpha"]);
    app.keys("h");
    let sent = app.commands();
    let id = reference("alpha").id.to_string();
    assert!(
        matches!(&sent[..], [Command::Runs { filter, .. }] if filter.sandbox == Some(id.clone())),
        "{sent:?}"
    );
    let app = listed();
    insta::assert_snapshot!(app.screen());
}

#[test]
fn enter_shows_the_output_as_a_tab_once() {
    let mut app = listed();
    app.keys("j enter");
    assert_eq!(app.state.view.focus, Pane::Output);
    let sent = app.commands();
    let (run, stream) = reads(&sent).next().expect("a read");
    assert_eq!(run, "r2");
    let chunk = OutputChunk {
        stream: StreamKind::Stdout,
        bytes: "kept words\n".into(),
    };
    app.engine(Event::Output { stream, chunk });
    app.engine(Event::Missing {
        stream,
        bytes: 4096,
    });
    assert!(app.screen().contains("kept words"), "{}", app.screen());
    assert!(
        app.screen().contains("4.0 KiB were not kept"),
        "{}",
        app.screen()
    );
    app.keys("1 h");
    app.answer(list);
    app.keys("j enter");
    assert_eq!(app.commands(), [], "it has its tab");
    assert_eq!(app.state.output.runs().len(), 1);
}

#[test]
fn code_runs_again_the_usual_way_and_a_command_by_its_words() {
    let mut app = listed();
    app.keys("j j r");
    let sent = app.commands();
    let program = sent.iter().find_map(|command| match command {
        Command::Prepare { program, .. } => Some(program),
        _ => None,
    });
    let program = program.expect("a program");
    assert_eq!(program.language.name(), "python");
    assert_eq!(&program.code[..], b"\nprint(6 * 7)\n");
    assert_eq!(program.arguments, ["a b", "c"]);
    let mut app = listed();
    app.keys("j r");
    let sent = app.commands();
    let exec = sent.iter().find_map(|command| match command {
        Command::Exec { spec, sandbox, .. } => Some((spec, sandbox)),
        _ => None,
    });
    let (spec, sandbox) = exec.expect("a command");
    assert_eq!(
        (&spec.argv[..], sandbox),
        (
            &["make".to_owned(), "r2".to_owned()][..],
            &reference("alpha")
        )
    );
}

#[test]
fn a_run_of_a_sandbox_that_is_gone_cannot_run_again_and_says_so() {
    let mut app = listed();
    app.list(Vec::new());
    app.keys("j r");
    assert_eq!(app.commands(), []);
    assert!(app.screen().contains("is gone"), "{}", app.screen());
}

#[test]
fn the_code_of_a_run_is_edited_in_a_buffer_of_its_own() {
    let mut app = listed();
    app.keys("j j e");
    let buffer = app.state.editor.current();
    assert_eq!(buffer.name, "run-r3.py");
    assert_eq!(app.state.editor.current_text(), "\nprint(6 * 7)\n");
    assert_eq!(app.state.view.focus, Pane::Editor);
    let mut app = listed();
    app.keys("j e");
    assert!(app.screen().contains("not code"), "{}", app.screen());
    assert!(matches!(app.state.view.overlay, Some(Overlay::History(_))));
}

#[test]
fn only_a_run_that_goes_on_is_cancelled_and_after_a_question() {
    let mut app = listed();
    app.keys("j X");
    assert!(app.screen().contains("over already"), "{}", app.screen());
    app.keys("k X");
    assert_eq!(app.commands(), []);
    app.keys("y");
    let sent = app.commands();
    assert!(
        matches!(&sent[..], [Command::CancelRun { run, .. }] if run.as_str() == "r1"),
        "{sent:?}"
    );
}

fn print(app: &mut App, stream: StreamId, text: &'static str) {
    let chunk = OutputChunk {
        stream: StreamKind::Stdout,
        bytes: text.into(),
    };
    app.engine(Event::Output { stream, chunk });
    app.engine(Event::Ended {
        stream,
        outcome: Ok(ExecEnd::bare(Ended::Code(0))),
        took: Duration::ZERO,
    });
}

#[test]
fn two_marked_runs_are_compared() {
    let mut app = listed();
    app.keys("j space c");
    assert_eq!(app.commands(), [], "two are needed");
    app.keys("j space c");
    let sent = app.commands();
    let mut reads = reads(&sent);
    let (older, newer) = (reads.next(), reads.next());
    let ((first, older), (second, newer)) = older.zip(newer).expect("two reads");
    assert_eq!((first, second), ("r3", "r2"));
    print(&mut app, older, "one\ntwo\n");
    assert!(matches!(app.state.view.overlay, Some(Overlay::History(_))));
    print(&mut app, newer, "one\n2\n");
    insta::assert_snapshot!(app.screen());
    app.keys("esc");
    assert!(matches!(app.state.view.overlay, Some(Overlay::History(_))));
}

#[test]
fn a_third_mark_takes_the_place_of_the_first() {
    let mut app = listed();
    app.keys("space j space j space");
    let panel = panel(&app);
    let marks: Vec<&str> = panel.marks.iter().map(ExecId::as_str).collect();
    assert_eq!(marks, ["r2", "r3"]);
}

#[test]
fn the_list_stays_on_the_same_run_when_newer_ones_come() {
    let mut app = listed();
    app.keys("j");
    let reap_statuses = Vec::new();
    let host = crate::app::testing::host();
    app.engine(Event::ReapStatuses {
        host,
        reap_statuses,
    });
    app.answer(|command| {
        let mut newer = vec![recorded("r0")];
        newer.extend(all());
        let whole = matches!(command, Command::Runs { filter, .. } if !filter.under_way);
        whole.then_some(Ok(Reply::Runs(newer)))
    });
    let panel = panel(&app);
    assert_eq!((panel.runs.len(), panel.at), (5, 2));
}

#[test]
fn the_runs_of_all_sandboxes_are_one_key_away() {
    let mut app = listed();
    app.keys("a");
    let sent = app.requests();
    let wanted = matches!(&sent.first().expect("a request").command, Command::Runs { filter, .. } if filter.sandbox.is_none());
    assert!(wanted);
    app.effects.extend(sent.into_iter().map(Effect::Submit));
    app.answer(list);
    assert!(app.screen().contains("all sandboxes"), "{}", app.screen());
}
