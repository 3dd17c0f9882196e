//! Replies: success, failure and "too busy" take one way to whoever asked.

use std::time::Duration;

use super::on_event;
use crate::app::flows::{copies, edit_file, foreign_runs, run_program, shell};
use crate::app::intent::{InspectPart, ReplyTo, RunsOf};
use crate::app::overlays::Overlay;
use crate::app::overlays::history::HistoryPanel;
use crate::app::overlays::packages::{self, PackagesPanel, describe_removal};
use crate::app::overlays::reap::{ReapPreview, describe_reaped};
use crate::app::pending::Pending;
use crate::app::{AppState, Effect, Tone};
use crate::domain::{EngineEvent, Image, Reaped, RequestId, Run, SandboxRef, StreamId};
use crate::protocol::{Command, Failure, FailureKind, Leftover, Reply};

/// Takes a reply.
pub(crate) fn reply(
    state: &mut AppState,
    request: RequestId,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    match state.pending.take(request) {
        Some(pending) => route(state, pending, outcome),
        None => Vec::new(),
    }
}

/// Takes that a request could not be handed over; what has no name is asked for again by itself.
pub(crate) fn busy(state: &mut AppState, request: RequestId) -> Vec<Effect> {
    let Some(pending) = state.pending.take(request) else {
        return Vec::new();
    };
    let words = match pending.label.as_str() {
        "" => "Too much at once; it is tried again.".to_owned(),
        label => format!("Too much at once; {label} was not started. Try again."),
    };
    let failure = Failure::new(FailureKind::Busy, words);
    route(state, pending, Err(failure))
}

fn route(state: &mut AppState, pending: Pending, outcome: Result<Reply, Failure>) -> Vec<Effect> {
    let label = pending.label;
    match pending.reply_to {
        ReplyTo::Files(asked) => {
            let intents = state.files.on_reply(&asked, outcome);
            state.want(intents);
            Vec::new()
        }
        ReplyTo::FileWork(work) => copies::on_reply(state, &label, work, outcome),
        ReplyTo::BeforeSave(save) => edit_file::before_save(state, *save, outcome),
        ReplyTo::BeforeLoad(sandbox, path) => edit_file::before_load(state, sandbox, path, outcome),
        ReplyTo::Stream(stream) => opened(state, stream, outcome),
        ReplyTo::Input(stream) => input_taken(state, stream),
        ReplyTo::Acted => acted(state, &outcome, &label),
        ReplyTo::Inspect { sandbox, part } => inspected(state, &sandbox, part, outcome),
        reply_to => match outcome {
            Ok(reply) => succeeded(state, reply_to, reply, &label),
            Err(failure) => failed(state, &reply_to, &failure, &label),
        },
    }
}

/// Says how a change went; after the last one under way the list is read again, so that nothing older is believed.
fn acted(state: &mut AppState, outcome: &Result<Reply, Failure>, label: &str) -> Vec<Effect> {
    match outcome {
        Ok(_) => state.say(Tone::Good, format!("Done: {label}.")),
        Err(failure) => state.complain(failure),
    }
    if state.pending.any(|other| *other == ReplyTo::Acted) {
        return Vec::new();
    }
    vec![state.submit(Command::Refresh, "", ReplyTo::Quiet)]
}

/// Takes the success of what only complains when it fails.
fn succeeded(state: &mut AppState, reply_to: ReplyTo, reply: Reply, label: &str) -> Vec<Effect> {
    match (reply_to, reply) {
        (ReplyTo::Prepared(run), Reply::Prepared(prepared)) => {
            return run_program::start(state, *run, *prepared);
        }
        (ReplyTo::Prepared(run), Reply::Denied(denied)) => {
            run_program::deny(state, *run, *denied);
        }
        (ReplyTo::ForeignRuns, Reply::Runs(runs)) => return foreign_runs::answered(state, &runs),
        (ReplyTo::NewSandbox, Reply::Created(sandbox)) => {
            let name = &sandbox.name;
            let words = format!("{name} is running. F3 and i write code for it, x opens a shell.");
            state.say(Tone::Good, words);
            state.sandboxes.select(sandbox.reference);
        }
        (ReplyTo::Analysis(buffer), Reply::Analysis(analysis)) => {
            state.editor.on_analysis(buffer, *analysis);
        }
        (ReplyTo::AfterSave(sandbox, path), Reply::Entry(entry)) => {
            edit_file::after_save(state, sandbox, path, &entry);
        }
        (ReplyTo::Packages, Reply::PackageSets(all)) => {
            state.open(Overlay::Packages(Box::new(PackagesPanel { all, at: 0 })));
        }
        (ReplyTo::Packages, Reply::PackagesRemoved(cleared)) => {
            state.editor.invalidate_analysis();
            let (tone, words) = describe_removal(&cleared);
            state.say(tone, words);
            state.want([packages::request(&state.settings.host)]);
        }
        (ReplyTo::Reap | ReplyTo::ReapPreview, Reply::Reaped(found, leftovers)) => {
            reaped(state, found, leftovers);
        }
        (ReplyTo::Runs { of, opens }, Reply::Runs(runs)) => show_runs(state, of, opens, runs),
        (ReplyTo::PastEvents, Reply::Events(past)) => remember(state, past),
        (ReplyTo::Images, Reply::Images(images)) => offer_images(state, images),
        (ReplyTo::Told, _) => state.say(Tone::Good, format!("Done: {label}.")),
        _ => {}
    }
    Vec::new()
}

/// Says what failed; some are asked for again anyway, and what is wrong with the engine is told elsewhere.
fn failed(state: &mut AppState, reply_to: &ReplyTo, failure: &Failure, label: &str) -> Vec<Effect> {
    let is_silent = matches!(
        reply_to,
        ReplyTo::Images | ReplyTo::PastEvents | ReplyTo::Analysis(_) | ReplyTo::ForeignRuns
    );
    let is_retried = failure.kind == FailureKind::Busy && label.is_empty();
    if !is_silent && !is_retried {
        state.complain(failure);
    }
    Vec::new()
}

/// Takes that a stream was opened; one that could not be ends at once.
fn opened(state: &mut AppState, stream: StreamId, outcome: Result<Reply, Failure>) -> Vec<Effect> {
    match outcome {
        Err(failure) => on_event::ended(state, stream, Err(failure), Duration::ZERO),
        Ok(_) if state.transfers.is_sending(stream) => edit_file::send_next(state, stream),
        Ok(_) => Vec::new(),
    }
}

fn input_taken(state: &mut AppState, stream: StreamId) -> Vec<Effect> {
    if state.transfers.is_sending(stream) {
        return edit_file::send_next(state, stream);
    }
    shell::shell_taken(state, stream)
}

/// Gives an answer to the view of a sandbox; one for a view that was left is ignored.
fn inspected(
    state: &mut AppState,
    sandbox: &SandboxRef,
    part: InspectPart,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    if let Some(Overlay::Inspect(view)) = &mut state.view.overlay
        && view.sandbox == *sandbox
    {
        view.on_reply(part, outcome);
    }
    Vec::new()
}

/// Shows the preview, or after the deed says what was done.
fn reaped(state: &mut AppState, found: Vec<Reaped>, leftovers: Vec<Leftover>) {
    if found.iter().any(|one| one.done.is_some()) {
        for (tone, words) in describe_reaped(&found) {
            state.say(tone, words);
        }
        return;
    }
    let preview = ReapPreview::new(found, leftovers);
    state.open(Overlay::Reap(Box::new(preview)));
}

/// Shows runs in the list that is open, or in a new one.
fn show_runs(state: &mut AppState, of: RunsOf, opens: bool, runs: Vec<Run>) {
    match &mut state.view.overlay {
        Some(Overlay::History(panel)) if panel.of == of => panel.renew(runs),
        Some(Overlay::History(_)) | None if opens => {
            let panel = HistoryPanel::new(of, runs);
            state.open(Overlay::History(Box::new(panel)));
        }
        _ => {}
    }
}

fn remember(state: &mut AppState, past: Vec<EngineEvent>) {
    state.engine.on_past_events(past);
    state.sandboxes.on_past_events(state.engine.reported());
}

fn offer_images(state: &mut AppState, images: Vec<Image>) {
    state.engine.images = images;
    if let Some(Overlay::Create(form)) = &mut state.view.overlay {
        form.set_images(&state.engine.images);
    }
}
