//! What the manager tells: replies go to whoever asked, streams to whoever opened them.

use super::on_reply;
use crate::app::engine::LOOK_BACK;
use crate::app::flows::{edit_file, foreign_runs, guards, shell};
use crate::app::intent::ReplyTo;
use crate::app::overlays::Overlay;
use crate::app::overlays::history::{self as runs, HistoryPanel};
use crate::app::overlays::reap::describe_reaped;
use crate::app::pending::Progress;
use crate::app::{AppState, Effect, Tone};
use crate::describe::death_words;
use crate::domain::{
    EngineEvent, EngineEventKind, ExecEnd, HostName, OutputChunk, Sample, SandboxRef, StreamId,
};
use crate::protocol::{Command, Event, Failure, Link};
use crate::text::safe_line;

/// Takes an event.
pub(crate) fn event(state: &mut AppState, event: Event) -> Vec<Effect> {
    match event {
        Event::Replied { request, outcome } => on_reply::reply(state, request, outcome),
        Event::Progress {
            request,
            note,
            done,
            total,
        } => {
            state
                .pending
                .progress(request, Progress { note, done, total });
            Vec::new()
        }
        Event::Sandboxes { host, sandboxes } => {
            state.sandboxes.replace(&host, sandboxes);
            Vec::new()
        }
        Event::Sampled(samples) => sampled(state, samples),
        Event::Engine(event) => on_engine_event(state, event),
        Event::Output { stream, chunk } => output(state, stream, &chunk),
        Event::Ended {
            stream,
            outcome,
            took,
        } => ended(state, stream, outcome, took),
        Event::Notice(failure) => noticed(state, &failure),
        Event::Missing { stream, bytes } => missing(state, stream, bytes),
        Event::ReapStatuses {
            host,
            reap_statuses,
        } => {
            state
                .sandboxes
                .set_reap_statuses(&host, reap_statuses, state.now);
            renew_history(state);
            foreign_runs::ask(state)
        }
        Event::Reaped(found) => {
            for (tone, words) in describe_reaped(&found) {
                state.say(tone, words);
            }
            Vec::new()
        }
        Event::Link { host, link } => linked(state, host, link),
    }
}

fn noticed(state: &mut AppState, failure: &Failure) -> Vec<Effect> {
    state.say(Tone::Bad, failure.message.clone());
    Vec::new()
}

/// Takes how a link stands; an engine that answers is asked what happened meanwhile.
fn linked(state: &mut AppState, host: HostName, link: Link) -> Vec<Effect> {
    let is_up = matches!(link, Link::Up(_));
    let before = state.engine.linked(host, link, state.now);
    let was_up = before
        .as_ref()
        .is_some_and(|known| matches!(known.link, Link::Up(_)));
    if !is_up || was_up {
        return Vec::new();
    }
    if before.is_some() {
        state.say(Tone::Good, "The engine is back.");
    }
    let since = state.now - LOOK_BACK;
    let command = Command::EventsSince { since };
    vec![state.submit(command, "", ReplyTo::PastEvents)]
}

fn is_worker(state: &AppState, sandbox: &SandboxRef) -> bool {
    let row = state.sandboxes.find(sandbox);
    row.is_some_and(|row| row.sandbox.is_worker())
}

fn sampled(state: &mut AppState, samples: Vec<(SandboxRef, Sample)>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (sandbox, sample) in samples {
        effects.extend(guards::sampled(state, &sandbox, &sample));
        state.sandboxes.sampled(&sandbox, sample);
    }
    effects
}

/// Keeps what happened, and mentions what an operator would want to know at once.
fn on_engine_event(state: &mut AppState, event: EngineEvent) -> Vec<Effect> {
    let name = safe_line(&event.name);
    match &event.what {
        EngineEventKind::Oom => {
            state.say(Tone::Bad, format!("{name}: a process ran out of memory."));
        }
        // Only now it is known who did it; what was done here was told here.
        EngineEventKind::Death {
            cause,
            by,
            exit_code,
        } if *by != Some(state.settings.owner.in_full()) && !is_worker(state, &event.sandbox) => {
            let how = death_words(cause, by.as_deref(), *exit_code);
            state.say(Tone::Plain, format!("{name} {how}."));
        }
        _ => {}
    }
    let sandbox = event.sandbox.clone();
    state.sandboxes.on_engine_event(&event);
    state.engine.on_engine_event(event);
    outdate_inspect(state, &sandbox);
    Vec::new()
}

fn output(state: &mut AppState, stream: StreamId, chunk: &OutputChunk) -> Vec<Effect> {
    if let Some(open) = state.shells.find(stream) {
        open.shell.push(&chunk.bytes);
        guards::printed(state, stream, chunk.bytes.len());
    } else if !state.transfers.add(stream, &chunk.bytes)
        && !history(state).is_some_and(|panel| panel.on_output(stream, chunk))
    {
        let now = state.now;
        state.output.push(stream, chunk, now);
        guards::printed(state, stream, chunk.bytes.len());
    }
    Vec::new()
}

fn missing(state: &mut AppState, stream: StreamId, bytes: u64) -> Vec<Effect> {
    if !history(state).is_some_and(|panel| panel.on_missing(stream)) {
        state.output.missing(stream, bytes, state.now);
    }
    Vec::new()
}

/// Takes that a stream has ended, or could not be opened.
pub(crate) fn ended(
    state: &mut AppState,
    stream: StreamId,
    outcome: Result<ExecEnd, Failure>,
    took: std::time::Duration,
) -> Vec<Effect> {
    if state.shells.find(stream).is_some() {
        return shell::shell_ended(state, stream, &outcome);
    }
    if let Some(file) = state.transfers.collected(stream) {
        return edit_file::collected(state, file, outcome.err());
    }
    if let Some(then) = state.transfers.sent(stream) {
        return edit_file::sent(state, then, outcome);
    }
    if !history(state).is_some_and(|panel| panel.on_end(stream)) {
        state.output.end(stream, &outcome, took);
    }
    Vec::new()
}

/// Returns the list of runs, if it is open.
fn history(state: &mut AppState) -> Option<&mut HistoryPanel> {
    match &mut state.view.overlay {
        Some(Overlay::History(panel)) => Some(panel),
        _ => None,
    }
}

/// Asks for the list of runs that is open anew, because time has passed.
fn renew_history(state: &mut AppState) {
    let host = state.settings.host.clone();
    let request = history(state).map(|panel| runs::request(panel.of.clone(), &host, ""));
    state.want(request);
}

/// Asks anew when something happened to the sandbox on screen.
fn outdate_inspect(state: &mut AppState, sandbox: &SandboxRef) {
    let now = state.now;
    if let Some(Overlay::Inspect(view)) = &mut state.view.overlay
        && view.sandbox == *sandbox
    {
        let intents = view.on_event(now);
        state.want(intents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{App, reference, start};

    fn death(by: &str) -> Event {
        Event::Engine(EngineEvent {
            at: start(),
            sandbox: reference("py"),
            name: "py".to_owned(),
            what: EngineEventKind::Death {
                cause: "removed".to_owned(),
                by: Some(by.to_owned()),
                exit_code: None,
            },
        })
    }

    #[test]
    fn an_end_by_other_hands_is_told_with_whose_and_our_own_is_not() {
        let mut app = App::with(120, 30, &["py"]);
        let own = app.state.settings.owner.in_full();
        app.engine(death(&own));
        assert!(!app.screen().contains("was removed"), "{}", app.screen());
        app.engine(Event::Engine(EngineEvent {
            at: start(),
            sandbox: reference("py"),
            name: "py".to_owned(),
            what: EngineEventKind::Died {
                exit_code: Some(137),
            },
        }));
        assert!(!app.screen().contains("137"), "{}", app.screen());
        app.engine(death("uid 0@desk:4 (cli)"));
        let words = "py was removed by uid 0@desk:4 (cli).";
        assert!(app.screen().contains(words), "{}", app.screen());
    }
}
