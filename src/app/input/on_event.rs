//! What the manager tells: replies go to whoever asked, streams to whoever opened them.

use super::on_action::submit;
use crate::app::engine::LOOK_BACK;
use crate::app::flows::{apply_intents, copies, foreign_runs, streams};
use crate::app::overlays::overlay::{Confirm, Overlay};
use crate::app::overlays::{compare, history, inspect, reap};
use crate::app::pending::{Pending, Progress, ReplyTo};
use crate::app::transfers::{Collected, Save, Sent};
use crate::app::{AppState, Effect, Expect, Intent, Mode, Tone, guards};
use crate::domain::{
    ExecEnd, FileEntry, FileKind, Happening, HostName, Image, OutputChunk, RequestId, StreamId,
    What, is_worker,
};
use crate::protocol::{Command, Event, Failure, FailureKind, FileOp, Link, Reply};
use crate::text::safe_line;

/// Takes an event.
pub(crate) fn event(state: &mut AppState, event: Event) -> Vec<Effect> {
    match event {
        Event::Replied { request, outcome } => replied(state, request, outcome),
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
        Event::Sampled { sandbox, sample } => {
            let effects = guards::sampled(state, &sandbox, &sample);
            state.sandboxes.sampled(&sandbox, sample);
            effects
        }
        Event::Happened(happening) => happened(state, happening),
        Event::Output { stream, chunk } => output(state, stream, &chunk),
        Event::Ended {
            stream,
            outcome,
            took,
        } => ended(state, stream, outcome, took),
        Event::Notice(failure) => noticed(state, &failure),
        Event::Missing { stream, bytes } => missing(state, stream, bytes),
        Event::Standings { host, standings } => {
            state.sandboxes.stand(&host, standings, state.now);
            let mut effects = foreign_runs::ask(state);
            effects.extend(history::renew(state));
            effects
        }
        Event::Reaped(found) => {
            reap::told(state, &found);
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
    let command = Command::History { since };
    vec![submit(state, command, "", ReplyTo::History)]
}

fn offer_images(state: &mut AppState, images: Vec<Image>) -> Vec<Effect> {
    state.engine.images = images;
    if let Some(Overlay::Create(form)) = &mut state.view.overlay {
        form.set_images(&state.engine.images);
    }
    Vec::new()
}

fn remembered(state: &mut AppState, past: Vec<Happening>) -> Vec<Effect> {
    state.engine.remembered(past);
    // Newest first is how they are shown; commands are counted from the oldest on.
    let all: Vec<&Happening> = state.engine.events(None).collect();
    state.sandboxes.remembered(all.into_iter().rev());
    Vec::new()
}

/// Keeps what happened, and mentions what an operator would want to know at once.
fn happened(state: &mut AppState, happening: Happening) -> Vec<Effect> {
    let name = safe_line(&happening.name);
    match &happening.what {
        What::Oom => state.say(Tone::Bad, format!("{name}: a process ran out of memory.")),
        What::Died {
            exit_code: Some(code),
        } if *code != 0 && *code != 143 && !is_worker(&name) => {
            state.say(Tone::Plain, format!("{name} ended with code {code}."));
        }
        _ => {}
    }
    let sandbox = happening.sandbox.clone();
    state.sandboxes.happened(&happening);
    state.engine.happened(happening);
    inspect::happened(state, &sandbox)
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
    match (pending.reply_to, reply) {
        (ReplyTo::Create, Reply::Created(sandbox)) => {
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
        (ReplyTo::Prepared { title, input }, Reply::Prepared(prepared)) => {
            crate::app::flows::run_program::start(state, (title, input), *prepared)
        }
        (ReplyTo::Outlook(buffer), Reply::Outlook(outlook)) => {
            state.editor.looked_at(buffer, *outlook);
            Vec::new()
        }
        (ReplyTo::Stock, Reply::Stock(all)) => crate::app::overlays::cache::answered(state, all),
        (ReplyTo::Stock, Reply::Cleared(cleared)) => {
            crate::app::overlays::cache::cleared(state, &cleared)
        }
        (ReplyTo::Reap, Reply::Reaped(found, leftovers)) => reap::answered(state, found, leftovers),
        (ReplyTo::Runs { of, opens }, Reply::Runs(runs)) => {
            history::answered(state, of, opens, runs)
        }
        (ReplyTo::Live, Reply::Runs(runs)) => foreign_runs::answered(state, &runs),
        (ReplyTo::Told, _) => {
            state.say(Tone::Good, format!("Done: {}.", pending.label));
            Vec::new()
        }
        (ReplyTo::Folder(sandbox, path), Reply::Entries(entries)) => {
            let intents = state.files.listed(&sandbox, &path, Ok(entries));
            apply_intents::all(state, intents)
        }
        (ReplyTo::FileChanges(sandbox), Reply::Changes(changes)) => {
            let intents = state.files.changes_listed(&sandbox, Ok(*changes));
            apply_intents::all(state, intents)
        }
        (ReplyTo::Work(work), reply) => copies::done(state, &pending.label, work, &reply),
        (ReplyTo::Look(sandbox, tab), reply) => inspect::answered(state, &sandbox, tab, Ok(reply)),
        (ReplyTo::History, Reply::Happenings(past)) => remembered(state, past),
        (ReplyTo::Images, Reply::Images(images)) => offer_images(state, images),
        (ReplyTo::BeforeLoad(sandbox, path), Reply::Entry(entry)) => {
            streams::load_content(state, sandbox, path, Some(entry.modified_at))
        }
        (ReplyTo::BeforeSave(save), Reply::Entry(entry)) => check_conflict(state, *save, &entry),
        (ReplyTo::AfterSave(sandbox, path), Reply::Entry(entry)) => {
            let intents = state.editor.saved(sandbox, path, Ok(entry.modified_at));
            apply_intents::all(state, intents);
            let intents = state.files.changed();
            apply_intents::all(state, intents)
        }
        (ReplyTo::Stream(stream) | ReplyTo::Input(stream), _)
            if state.transfers.is_sending(stream) =>
        {
            streams::send_next(state, stream)
        }
        (ReplyTo::Input(stream), _) => streams::shell_taken(state, stream),
        _ => Vec::new(),
    }
}

/// Asks before something is overwritten that the person does not know of.
fn check_conflict(state: &mut AppState, save: Save, found: &FileEntry) -> Vec<Effect> {
    let path = safe_line(save.path.as_bytes());
    if found.kind == FileKind::Directory {
        state.say(Tone::Bad, format!("{path} is a folder; nothing was saved."));
        return Vec::new();
    }
    let question = match save.expect {
        Expect::Unchanged(known) if known == found.modified_at => {
            return streams::write(state, save);
        }
        Expect::Anything => return streams::write(state, save),
        Expect::Nothing => format!("{path} exists already. Replace it? What it holds is lost."),
        Expect::Unchanged(_) => {
            format!("{path} was changed by somebody else since you opened it. Overwrite it?")
        }
    };
    let again = Intent::SaveFile {
        sandbox: Some(save.sandbox),
        path: save.path,
        text: save.text,
        expect: Expect::Anything,
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
    match pending.reply_to {
        ReplyTo::Folder(sandbox, path) => {
            let intents = state.files.listed(&sandbox, &path, Err(failure));
            return apply_intents::all(state, intents);
        }
        ReplyTo::FileChanges(sandbox) => {
            let intents = state.files.changes_listed(&sandbox, Err(failure));
            return apply_intents::all(state, intents);
        }
        ReplyTo::Work(work) => return copies::failed(state, &pending.label, work, &failure),
        // A file that is gone cannot be in conflict.
        ReplyTo::BeforeSave(save) if failure.kind == FailureKind::NotFound => {
            return streams::write(state, *save);
        }
        ReplyTo::Stream(stream) => return stream_failed(state, stream, failure),
        ReplyTo::Input(stream) => return streams::shell_taken(state, stream),
        // The form works without; what is wrong with the engine is told elsewhere.
        ReplyTo::Images | ReplyTo::History | ReplyTo::Outlook(_) | ReplyTo::Live => {
            return Vec::new();
        }
        ReplyTo::Look(sandbox, tab) => {
            return inspect::answered(state, &sandbox, tab, Err(failure));
        }
        _ => {}
    }
    complain(state, &failure);
    Vec::new()
}

pub(crate) fn complain(state: &mut AppState, failure: &Failure) {
    let hint = failure
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    // Words of a package manager come in lines; the first says what failed, the last mostly why.
    let mut lines = failure.message.lines();
    let first = lines.next().unwrap_or_default();
    let last = lines.next_back().map(|line| format!(": {line}"));
    let last = last.unwrap_or_default();
    state.say(Tone::Bad, format!("{first}{last}{hint}"));
}

/// A stream that could not be opened ends at once.
fn stream_failed(state: &mut AppState, stream: StreamId, failure: Failure) -> Vec<Effect> {
    ended(state, stream, Err(failure), std::time::Duration::ZERO)
}

fn output(state: &mut AppState, stream: StreamId, chunk: &OutputChunk) -> Vec<Effect> {
    if let Some(open) = state.shells.find(stream) {
        open.shell.push(&chunk.bytes);
        guards::printed(state, stream, chunk.bytes.len());
    } else if !state.transfers.add(stream, &chunk.bytes) && !compare::add(state, stream, chunk) {
        let now = state.now;
        state.output.push(stream, chunk, now);
        guards::printed(state, stream, chunk.bytes.len());
    }
    Vec::new()
}

fn missing(state: &mut AppState, stream: StreamId, bytes: u64) -> Vec<Effect> {
    if !compare::missing(state, stream) {
        state.output.missing(stream, bytes, state.now);
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
    if !compare::ended(state, stream) {
        state.output.end(stream, &outcome, took);
    }
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
            let intents = state.files.previewed(&sandbox, &path, outcome);
            let mut effects = apply_intents::all(state, intents);
            if let Some((sandbox, path)) = state.transfers.next_preview.take() {
                effects.extend(streams::preview(state, sandbox, path));
            }
            effects
        }
        Collected::Edit(sandbox, path, known) => {
            let is_read = failure.is_none();
            let intents = state
                .editor
                .loaded(sandbox, path, known, failure.map_or(Ok(bytes), Err));
            let mut effects = apply_intents::all(state, intents);
            effects.extend(super::on_action::focus(state, crate::app::Pane::Editor));
            if std::mem::take(&mut state.transfers.then_external) && is_read {
                effects.extend(super::on_action::edit_externally(state));
            }
            effects
        }
    }
}

fn sent(state: &mut AppState, then: Sent, outcome: Result<ExecEnd, Failure>) -> Vec<Effect> {
    let done = outcome.is_ok_and(|end| end.ended == crate::domain::Ended::Code(0));
    match then {
        Sent::Saved(sandbox, path) if done => {
            state.say(Tone::Good, format!("Saved {path}."));
            let command = Command::File {
                sandbox: sandbox.clone(),
                op: FileOp::Stat(path.clone()),
            };
            vec![submit(
                state,
                command,
                "",
                ReplyTo::AfterSave(sandbox, path),
            )]
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
