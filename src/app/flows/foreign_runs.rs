//! Runs whose record is read: those that other processes have under way appear by themselves, without taking the keys.

use super::guards;
use super::navigate::focus;
use crate::app::intent::ReplyTo;
use crate::app::panes::output::{Hold, RunInfo};
use crate::app::{AppState, Effect, Mode, Pane};
use crate::domain::Run;
use crate::protocol::{Command, RunFilter, Upto};

/// Runs under way that are asked for; more would not be shown.
const ASKED: u32 = 64;

/// Tabs that appear by themselves at most.
const MOST: usize = 8;

/// Why a run's record is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Somebody chose it.
    Chosen,
    /// It appeared by itself.
    ByItself,
}

/// Asks what is under way, unless that was asked already.
pub(crate) fn ask(state: &mut AppState) -> Vec<Effect> {
    if state
        .pending
        .any(|reply_to| *reply_to == ReplyTo::ForeignRuns)
    {
        return Vec::new();
    }
    let command = Command::Runs {
        host: state.settings.host.clone(),
        filter: RunFilter {
            sandbox: None,
            under_way: true,
            limit: ASKED,
        },
    };
    vec![state.submit(command, "", ReplyTo::ForeignRuns)]
}

/// Shows what others have under way; oldest first, as their tabs stand.
pub(crate) fn answered(state: &mut AppState, runs: &[Run]) -> Vec<Effect> {
    state.output.forget_dismissed(runs);
    guards::recorded(state, runs);
    let owner = state.settings.owner.clone();
    let mut effects = Vec::new();
    for run in runs.iter().rev() {
        let is_ours = run.owner == owner;
        let is_known = state.output.of_exec(&run.id).is_some() || state.output.dismissed(&run.id);
        if !is_ours && !is_known && state.output.make_room(MOST) {
            effects.extend(watch(state, run, Manner::ByItself));
        }
    }
    effects
}

/// Shows what a run printed, in the tab that it has or in a new one.
pub(crate) fn show(state: &mut AppState, run: &Run) -> Vec<Effect> {
    let mut effects = match state.output.of_exec(&run.id) {
        Some(stream) => {
            state.output.select(stream);
            Vec::new()
        }
        None => watch(state, run, Manner::Chosen),
    };
    if state.view.mode != Mode::Term {
        state.shells.hide();
    }
    effects.extend(focus(state, Pane::Output));
    effects
}

/// Opens a tab for what a run prints and printed, until it ends.
fn watch(state: &mut AppState, run: &Run, manner: Manner) -> Vec<Effect> {
    let stream = state.pending.stream();
    let info = RunInfo {
        stream,
        exec: run.id.clone(),
        hold: Hold::Other(run.source),
        sandbox: run.sandbox.clone(),
        sandbox_name: run.name.clone(),
        title: run.title(),
        started: run.started_at,
    };
    match manner {
        Manner::Chosen => state.output.open(info),
        Manner::ByItself => state.output.open_beside(info),
    }
    let command = Command::ReadRun {
        host: run.sandbox.host.clone(),
        run: run.id.clone(),
        stream,
        upto: Upto::End,
    };
    vec![state.submit(command, "", ReplyTo::Stream(stream))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::overlays::history::tests::{recorded, runs};
    use crate::app::testing::{App, host};
    use crate::domain::{Ended, ExecEnd, OutputChunk, StreamKind};
    use crate::protocol::{Event, Reply};

    /// Tells how sandboxes stand, and answers what that leads to.
    fn look(app: &mut App, under_way: &[Run]) {
        let reap_statuses = Vec::new();
        let host = host();
        app.engine(Event::ReapStatuses {
            host,
            reap_statuses,
        });
        let answer = |command: &Command| {
            let wanted = matches!(command, Command::Runs { filter, .. } if filter.under_way);
            wanted.then(|| Ok(Reply::Runs(under_way.to_vec())))
        };
        app.answer(answer);
    }

    fn read(app: &mut App) -> Vec<(String, crate::domain::StreamId)> {
        let reads = app
            .commands()
            .into_iter()
            .filter_map(|command| match command {
                Command::ReadRun { run, stream, .. } => Some((run.to_string(), stream)),
                _ => None,
            });
        reads.collect()
    }

    #[test]
    fn what_others_run_appears_without_taking_the_keys_and_ends_truly() {
        let mut app = App::with(120, 40, &["alpha"]);
        look(&mut app, &runs(&["x1"]));
        let opened = read(&mut app);
        assert_eq!(opened.len(), 1, "{opened:?}");
        assert_eq!(
            (app.state.view.focus, app.state.view.mode),
            (Pane::Sandboxes, Mode::Nav)
        );
        assert!(app.screen().contains("cli: make x1"), "{}", app.screen());
        let stream = opened.first().expect("a tab").1;
        let chunk = OutputChunk {
            stream: StreamKind::Stdout,
            bytes: "from afar\n".into(),
        };
        app.engine(Event::Output { stream, chunk });
        assert!(app.screen().contains("from afar"), "{}", app.screen());
        look(&mut app, &runs(&["x1"]));
        assert_eq!(read(&mut app), [], "it is shown already");
        app.engine(Event::Ended {
            stream,
            outcome: Ok(ExecEnd::bare(Ended::Code(4))),
            took: std::time::Duration::from_secs(2),
        });
        assert!(app.screen().contains("exit 4"), "{}", app.screen());
    }

    #[test]
    fn a_look_that_was_not_taken_is_silent_and_tried_again() {
        let mut app = App::with(120, 40, &["alpha"]);
        let look = |app: &mut App| {
            let reap_statuses = Vec::new();
            let host = host();
            app.engine(Event::ReapStatuses {
                host,
                reap_statuses,
            });
            let sent = app.requests();
            sent.first().map(|request| request.id)
        };
        let refused = look(&mut app).expect("a look");
        assert_eq!(look(&mut app), None, "one at a time");
        app.tell(crate::app::Msg::Busy(refused));
        assert_eq!(app.state.status.log().count(), 0);
        assert!(look(&mut app).is_some());
    }

    #[test]
    fn one_s_own_runs_are_not_shown_twice() {
        let mut app = App::with(120, 40, &["alpha"]);
        let mut own = recorded("x1");
        own.owner = app.state.settings.owner.clone();
        look(&mut app, &[own]);
        assert_eq!(read(&mut app), []);
    }

    #[test]
    fn closing_the_tab_stops_reading_but_not_the_run() {
        let mut app = App::with(120, 40, &["alpha"]);
        look(&mut app, &runs(&["x1"]));
        let stream = read(&mut app).first().expect("a tab").1;
        app.keys("3 D");
        assert_eq!(app.commands(), [Command::Cancel(stream)]);
        assert!(app.state.output.runs().is_empty());
        look(&mut app, &runs(&["x1"]));
        assert_eq!(read(&mut app), [], "closed is closed");
        look(&mut app, &[]);
        look(&mut app, &runs(&["x1"]));
        assert_eq!(read(&mut app).len(), 1, "an id that is free again");
    }

    #[test]
    fn cancelling_asks_and_reaches_the_run_itself() {
        let mut app = App::with(120, 40, &["alpha"]);
        look(&mut app, &runs(&["x1"]));
        app.commands();
        app.keys("3 X");
        assert!(app.screen().contains("another process"), "{}", app.screen());
        app.keys("y");
        let sent = app.commands();
        assert!(
            matches!(&sent[..], [Command::CancelRun { run, .. }] if run.as_str() == "x1"),
            "{sent:?}"
        );
        app.keys("q");
        assert!(
            app.state.view.overlay.is_none(),
            "nothing is lost by quitting"
        );
    }

    #[test]
    fn there_are_never_more_than_eight() {
        let mut app = App::with(120, 40, &["alpha"]);
        let names: Vec<String> = (0..20).map(|n| format!("x{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        look(&mut app, &runs(&names));
        let opened = read(&mut app);
        assert_eq!(opened.len(), MOST);
        app.engine(Event::Ended {
            stream: opened.get(3).expect("a tab").1,
            outcome: Ok(ExecEnd::bare(Ended::Code(0))),
            took: std::time::Duration::ZERO,
        });
        look(&mut app, &runs(&["y1", "y2"]));
        assert_eq!(read(&mut app).len(), 1, "one has made room");
        assert_eq!(app.state.output.runs().len(), MOST);
    }
}
