//! The dashboard's state and its one pure `update`: no clock, no terminal, no engine.

pub mod capacity;
pub mod engine;
mod flows;
pub mod geometry;
pub mod guards;
pub mod input;
mod intent;
pub mod msg;
pub mod overlays;
pub mod panes;
pub mod pending;
pub mod remembered;
mod state;
pub mod status;
#[cfg(test)]
pub(crate) mod testing;
pub mod transfers;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

pub use geometry::layout::Pane;
pub use intent::{Expect, Intent, PromptKind, Question, Tone};
pub use msg::{Effect, Mouse, MouseKind, Msg, NotSaved};
pub use state::{AppState, Mode, Settings, ViewState};

use crate::domain::RequestId;
use crate::protocol::{Failure, FailureKind};
use flows::{apply_intents, copies, run_program, streams};
use input::{on_action, on_event, on_key, on_mouse};
use overlays::{completion, inspect, snippets};
use panes::{editor, files};

/// Takes in what happened and returns what must be done.
pub fn update(state: &mut AppState, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => on_key::key(state, key),
        Msg::Paste(text) => on_key::paste(state, &text),
        Msg::Mouse(mouse) => on_mouse::mouse(state, mouse),
        Msg::Resize { width, height } => resize(state, width, height),
        Msg::Tick(now) => tick(state, now),
        Msg::Engine(event) => on_event::event(state, event),
        Msg::Busy(id) => busy(state, id),
        Msg::Edited(text) => edited(state, text),
        Msg::SavedLocal(outcome) => saved_local(state, outcome),
        Msg::HostListed { folder, outcome } => completion::listed(state, &folder, outcome),
        Msg::HostChecked { download, found } => host_checked(state, *download, &found),
        Msg::Snippet(news) => snippets::news(state, news),
        Msg::Recovered(buffers) => recovered(state, buffers),
        Msg::Quit => vec![Effect::Quit],
    }
}

fn resize(state: &mut AppState, width: u16, height: u16) -> Vec<Effect> {
    state.view.size = Rect::new(0, 0, width, height);
    streams::fit(state)
}

/// Moves the clock, lets messages go, keeps unsaved work safe and shows the files of what is selected.
fn tick(state: &mut AppState, now: DateTime<Utc>) -> Vec<Effect> {
    state.now = now;
    state.files.tick(now);
    state.status.tick(now);
    state.sandboxes.arrange();
    let mut effects = on_action::follow_selection(state);
    effects.extend(guards::tick(state));
    effects.extend(inspect::ask(state));
    effects.extend(run_program::look(state));
    if state.editor.changed_since_recovery() {
        effects.push(Effect::Recovery(state.editor.recovery()));
    }
    effects
}

fn busy(state: &mut AppState, id: RequestId) -> Vec<Effect> {
    let Some(pending) = state.pending.take(id) else {
        return Vec::new();
    };
    if let pending::ReplyTo::Look(sandbox, tab) = &pending.reply_to {
        let words = "too much at once; it is tried again";
        let failure = Failure::new(FailureKind::Busy, words);
        return inspect::answered(state, sandbox, *tab, Err(failure));
    }
    let is_work = matches!(pending.reply_to, pending::ReplyTo::Work(_));
    let label = pending.label;
    // What is asked for by itself has no name, and is asked for again.
    if !label.is_empty() {
        let words = format!("Too much at once; {label} was not started. Try again.");
        state.say(Tone::Bad, words);
    }
    if is_work {
        return copies::next(state);
    }
    Vec::new()
}

fn edited(state: &mut AppState, text: Result<String, String>) -> Vec<Effect> {
    match text {
        Ok(text) => {
            let intents = state.editor.replace_current(&text);
            if state.editor.current().is_dirty() {
                state.say(
                    Tone::Plain,
                    "Back from $EDITOR. Save writes it into the sandbox.",
                );
            }
            apply_intents::all(state, intents)
        }
        Err(reason) => {
            state.say(Tone::Bad, format!("The editor could not be used: {reason}"));
            Vec::new()
        }
    }
}

fn saved_local(state: &mut AppState, outcome: Result<String, NotSaved>) -> Vec<Effect> {
    match outcome {
        Ok(path) => state.say(Tone::Good, format!("Saved to {path}.")),
        Err(NotSaved::Exists { path, bytes }) => return ask_to_replace(state, path, bytes),
        Err(NotSaved::Failed(reason)) => state.say(Tone::Bad, reason),
    }
    Vec::new()
}

fn host_checked(
    state: &mut AppState,
    download: files::Download,
    found: &[files::HostKind],
) -> Vec<Effect> {
    let intents = files::host_checked(download, found);
    apply_intents::all(state, intents)
}

fn ask_to_replace(state: &mut AppState, path: String, bytes: Bytes) -> Vec<Effect> {
    let ask = Intent::Confirm {
        question: format!("{path} exists on this machine. Replace it? What it holds is lost."),
        button: "Replace".to_owned(),
        then: vec![Intent::SaveLocal {
            path,
            bytes,
            replace: true,
        }],
    };
    apply_intents::all(state, vec![ask])
}

fn recovered(state: &mut AppState, buffers: Vec<editor::RecoveredBuffer>) -> Vec<Effect> {
    if !buffers.is_empty() {
        state.say(
            Tone::Good,
            match buffers.len() {
                1 => "An unsaved buffer of an earlier session is back in the editor.".to_owned(),
                many => {
                    format!("{many} unsaved buffers of an earlier session are back in the editor.")
                }
            },
        );
        state.editor.restore(buffers);
    }
    Vec::new()
}
