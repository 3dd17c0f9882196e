//! What the manager tells: replies go to whoever asked, streams to whoever opened them.

use super::overlay::{Confirm, Overlay};
use super::pending::{Pending, Purpose as For};
use super::transfers::{Collected, Save, Sent};
use super::{AppState, Effect, Mode, Tone, Wish, fulfil, streams};
use crate::domain::{ExecEnd, Happening, OutputChunk, RequestId, StreamId, What};
use crate::protocol::{Command, Event, Failure, FailureKind, FileOp, Link, Reply};
use crate::text::human;

/// Takes an event.
pub(super) fn event(state: &mut AppState, event: Event) -> Vec<Effect> {
    match event {
        Event::Replied { request, outcome } => replied(state, request, outcome),
        Event::Progress {
            request,
            note,
            done,
            total,
        } => progress(state, request, &note, done, total),
        Event::Sandboxes { host, sandboxes } => {
            state.sandboxes.replace(&host, sandboxes);
            Vec::new()
        }
        Event::Sampled { sandbox, sample } => {
            state.sandboxes.sampled(&sandbox, sample);
            Vec::new()
        }
        Event::Happened(happening) => happened(state, &happening),
        Event::Output { stream, chunk } => output(state, stream, &chunk),
        Event::Ended {
            stream,
            outcome,
            took,
        } => ended(state, stream, outcome, took),
        Event::Link { host, link } => linked(state, host, link),
    }
}

fn progress(
    state: &mut AppState,
    request: RequestId,
    note: &str,
    done: u64,
    total: Option<u64>,
) -> Vec<Effect> {
    let text = match total {
        Some(total) if total > 0 => format!(
            "{note} {}% of {}",
            done.saturating_mul(100) / total,
            human::bytes(total)
        ),
        _ if done > 0 => format!("{note} {}", human::bytes(done)),
        _ => note.to_owned(),
    };
    state.pending.progress(request, text);
    Vec::new()
}

fn linked(state: &mut AppState, host: crate::domain::HostName, link: Link) -> Vec<Effect> {
    let was_down = matches!(state.links.get(&host), Some(Link::Down { .. }));
    if was_down && matches!(link, Link::Up(_)) {
        state.say(Tone::Good, "The engine is back.");
    }
    state.links.insert(host, link);
    Vec::new()
}

/// Mentions what an operator would want to know at once.
fn happened(state: &mut AppState, happening: &Happening) -> Vec<Effect> {
    let name = &happening.name;
    match &happening.what {
        What::Oom => state.say(Tone::Bad, format!("{name}: a process ran out of memory.")),
        What::Died {
            exit_code: Some(code),
        } if *code != 0 && *code != 143 => {
            state.say(Tone::Plain, format!("{name} ended with code {code}."));
        }
        _ => {}
    }
    Vec::new()
}

fn replied(
    state: &mut AppState,
    request: RequestId,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    let Some(pending) = state.pending.take(request) else {
        return Vec::new();
    };
    match outcome {
        Ok(reply) => succeeded(state, pending, reply),
        Err(failure) => failed(state, pending, failure),
    }
}

fn succeeded(state: &mut AppState, pending: Pending, reply: Reply) -> Vec<Effect> {
    match (pending.purpose, reply) {
        (For::Create, Reply::Created(sandbox)) => {
            state.say(
                Tone::Good,
                format!(
                    "{} is running. F3 writes code for it, x opens a shell.",
                    sandbox.name
                ),
            );
            state.sandboxes.select(sandbox.reference);
            Vec::new()
        }
        (For::Told, _) => {
            state.say(Tone::Good, format!("Done: {}.", pending.label));
            Vec::new()
        }
        (For::Folder(sandbox, path), Reply::Entries(entries)) => {
            let wishes = state.files.listed(&sandbox, &path, Ok(entries));
            fulfil::all(state, wishes)
        }
        (For::FilesChanged, _) => {
            let wishes = state.files.changed();
            fulfil::all(state, wishes)
        }
        (For::Details, Reply::Details(details)) => show_details(state, details),
        (For::BeforeLoad(sandbox, path), Reply::Entry(entry)) => {
            streams::load_content(state, sandbox, path, Some(entry.modified_at))
        }
        (For::BeforeSave(save), Reply::Entry(entry)) => {
            check_conflict(state, *save, entry.modified_at)
        }
        (For::AfterSave(sandbox, path), Reply::Entry(entry)) => {
            let wishes = state.editor.saved(sandbox, path, Ok(entry.modified_at));
            fulfil::all(state, wishes);
            let wishes = state.files.changed();
            fulfil::all(state, wishes)
        }
        (For::Stream(stream) | For::Input(stream), _) if state.transfers.is_sending(stream) => {
            streams::send_next(state, stream)
        }
        (For::Input(stream), _) => streams::shell_taken(state, stream),
        _ => Vec::new(),
    }
}

fn show_details(state: &mut AppState, found: Box<crate::domain::Details>) -> Vec<Effect> {
    if let Some(Overlay::Inspect { details, .. }) = &mut state.view.overlay {
        *details = Some(found);
    }
    Vec::new()
}

/// Asks before a change by somebody else is overwritten.
fn check_conflict(
    state: &mut AppState,
    save: Save,
    changed: chrono::DateTime<chrono::Utc>,
) -> Vec<Effect> {
    if save.known.is_none_or(|known| known == changed) {
        return streams::write(state, save);
    }
    let question = format!(
        "{} was changed by somebody else since you opened it. Overwrite it?",
        save.path
    );
    let again = Wish::SaveFile {
        sandbox: Some(save.sandbox),
        path: save.path,
        text: save.text,
        known: None,
    };
    state.view.overlay = Some(Overlay::Confirm(Confirm {
        question,
        button: "Overwrite".to_owned(),
        then: vec![again],
        chosen: false,
    }));
    Vec::new()
}

fn failed(state: &mut AppState, pending: Pending, failure: Failure) -> Vec<Effect> {
    match pending.purpose {
        For::Folder(sandbox, path) => {
            let wishes = state.files.listed(&sandbox, &path, Err(failure));
            return fulfil::all(state, wishes);
        }
        // A file that is gone cannot be in conflict.
        For::BeforeSave(save) if failure.kind == FailureKind::NotFound => {
            return streams::write(state, *save);
        }
        For::Stream(stream) => return stream_failed(state, stream, failure),
        For::Input(stream) => return streams::shell_taken(state, stream),
        For::Details => state.view.overlay = None,
        _ => {}
    }
    complain(state, &failure);
    Vec::new()
}

fn complain(state: &mut AppState, failure: &Failure) {
    let hint = failure
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    state.say(Tone::Bad, format!("{}{hint}", failure.message));
}

/// A stream that could not be opened ends at once.
fn stream_failed(state: &mut AppState, stream: StreamId, failure: Failure) -> Vec<Effect> {
    ended(state, stream, Err(failure), std::time::Duration::ZERO)
}

fn output(state: &mut AppState, stream: StreamId, chunk: &OutputChunk) -> Vec<Effect> {
    if let Some(open) = state.shells.find(stream) {
        open.shell.push(&chunk.bytes);
    } else if !state.transfers.add(stream, &chunk.bytes) {
        let now = state.now;
        state.output.push(stream, chunk, now);
    }
    Vec::new()
}

fn ended(
    state: &mut AppState,
    stream: StreamId,
    outcome: Result<ExecEnd, Failure>,
    took: std::time::Duration,
) -> Vec<Effect> {
    if state.shells.find(stream).is_some() {
        return shell_ended(state, stream, &outcome);
    }
    if let Some((what, bytes, full)) = state.transfers.collected(stream) {
        return collected(state, what, bytes, full, outcome.err());
    }
    if let Some(then) = state.transfers.sent(stream) {
        return sent(state, then, outcome);
    }
    state.output.end(stream, &outcome, took);
    Vec::new()
}

fn shell_ended(
    state: &mut AppState,
    stream: StreamId,
    outcome: &Result<ExecEnd, Failure>,
) -> Vec<Effect> {
    let words = match outcome {
        Ok(end) => format!("the shell has ended ({})", end.ended.word()),
        Err(failure) => failure.message.clone(),
    };
    let shown = state
        .shells
        .current()
        .is_some_and(|open| open.shell.stream == stream);
    if let Some(open) = state.shells.find(stream) {
        open.shell.end(words);
        open.over = true;
    }
    if shown && state.view.mode == Mode::Term {
        state.view.mode = Mode::Nav;
        state.say(
            Tone::Plain,
            "The shell has ended. D closes it, [ and ] go to other runs.",
        );
    }
    Vec::new()
}

fn collected(
    state: &mut AppState,
    what: Collected,
    bytes: Vec<u8>,
    full: bool,
    failure: Option<Failure>,
) -> Vec<Effect> {
    match what {
        Collected::Preview(sandbox, path) => {
            let outcome = failure.map_or(Ok((bytes, full)), Err);
            let wishes = state.files.previewed(&sandbox, &path, outcome);
            let mut effects = fulfil::all(state, wishes);
            if let Some((sandbox, path)) = state.transfers.next_preview.take() {
                effects.extend(streams::preview(state, sandbox, path));
            }
            effects
        }
        Collected::Edit(sandbox, path, known) => {
            let wishes = state
                .editor
                .loaded(sandbox, path, known, failure.map_or(Ok(bytes), Err));
            let mut effects = fulfil::all(state, wishes);
            effects.extend(super::on_action::focus(state, super::Pane::Editor));
            effects
        }
    }
}

fn sent(state: &mut AppState, then: Sent, outcome: Result<ExecEnd, Failure>) -> Vec<Effect> {
    let done = outcome.is_ok_and(|end| end.ended == crate::domain::Ended::Code(0));
    match then {
        Sent::Run {
            sandbox,
            path,
            language,
        } if done => streams::run_sent(state, &sandbox, &path, language),
        Sent::Saved(sandbox, path) if done => {
            state.say(Tone::Good, format!("Saved {path}."));
            let command = Command::File {
                sandbox: sandbox.clone(),
                op: FileOp::Stat(path.clone()),
            };
            vec![super::on_action::submit(
                state,
                command,
                "",
                For::AfterSave(sandbox, path),
            )]
        }
        Sent::Run { sandbox, .. } => {
            state.say(
                Tone::Bad,
                format!("The code could not be sent to {}.", sandbox.id),
            );
            Vec::new()
        }
        Sent::Saved(_, path) => {
            state.say(
                Tone::Bad,
                format!("{path} could not be saved; the buffer is kept."),
            );
            Vec::new()
        }
    }
}
