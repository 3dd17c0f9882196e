//! The dashboard's state and its one pure `update`: no clock, no terminal, no engine.

pub mod capacity;
pub mod engine;
mod flows;
pub mod geometry;
pub mod guards;
pub mod input;
pub mod intent;
pub mod msg;
pub mod overlays;
pub mod panes;
pub mod pending;
pub mod remembered;
pub mod settings;
mod state;
pub mod status;
#[cfg(test)]
pub(crate) mod testing;
pub mod transfers;

use std::path::Path;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

pub use geometry::layout::Pane;
pub use intent::{Expect, Intent, Prompt, PromptKind, ReplyTo, RunOptions, Tone};
pub use msg::{Effect, Mouse, MouseKind, Msg, NotSaved};
pub use settings::Settings;
pub use state::{AppState, Mode, ViewState};

use flows::{apply_intents, fit, guards as guarding, navigate, run_program};
use input::{on_action, on_event, on_key, on_mouse, on_overlay, on_reply};
use msg::{Download, HostKind, RecoveredBuffer, SnippetNews, SnippetOp};
use overlays::Overlay;
use overlays::snippets::{self, SnippetPanel};
use panes::files;

/// Takes in what happened and returns what must be done.
pub fn update(state: &mut AppState, msg: Msg) -> Vec<Effect> {
    let mut effects = route(state, msg);
    while let Some(intent) = state.intents.pop_front() {
        effects.extend(match intent {
            Intent::Perform(action) => on_action::run(state, action),
            other => apply_intents::apply(state, other),
        });
    }
    effects
}

fn route(state: &mut AppState, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => on_key::key(state, key),
        Msg::Paste(text) => on_key::paste(state, &text),
        Msg::Mouse(mouse) => on_mouse::mouse(state, mouse),
        Msg::Resize { width, height } => resize(state, width, height),
        Msg::Tick(now) => tick(state, now),
        Msg::Engine(event) => on_event::event(state, event),
        Msg::Busy(id) => on_reply::busy(state, id),
        Msg::Edited(text) => edited(state, text),
        Msg::SavedLocal(outcome) => saved_local(state, outcome),
        Msg::HostListed { folder, outcome } => host_listed(state, &folder, outcome),
        Msg::HostChecked { download, found } => host_checked(state, *download, &found),
        Msg::Snippet(news) => snippet_news(state, news),
        Msg::Recovered(buffers) => recovered(state, buffers),
        Msg::Quit => vec![Effect::Quit],
    }
}

fn resize(state: &mut AppState, width: u16, height: u16) -> Vec<Effect> {
    state.view.size = Rect::new(0, 0, width, height);
    fit::fit(state)
}

/// Moves the clock, lets messages go, keeps unsaved work safe and shows the files of what is selected.
fn tick(state: &mut AppState, now: DateTime<Utc>) -> Vec<Effect> {
    state.now = now;
    state.files.tick(now);
    state.status.tick(now);
    state.sandboxes.arrange();
    navigate::follow_selection(state);
    on_overlay::tick(state);
    let mut effects = guarding::tick(state);
    effects.extend(run_program::analyse(state));
    if state.editor.changed_since_recovery() {
        effects.push(Effect::Recovery(state.editor.recovery()));
    }
    effects
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
            state.want(intents);
        }
        Err(reason) => {
            state.say(Tone::Bad, format!("The editor could not be used: {reason}"));
        }
    }
    Vec::new()
}

fn saved_local(state: &mut AppState, outcome: Result<String, NotSaved>) -> Vec<Effect> {
    match outcome {
        Ok(path) => state.say(Tone::Good, format!("Saved to {path}.")),
        Err(NotSaved::Exists { path, bytes }) => return ask_to_replace(state, path, bytes),
        Err(NotSaved::Failed(reason)) => state.say(Tone::Bad, reason),
    }
    Vec::new()
}

fn host_checked(state: &mut AppState, download: Download, found: &[HostKind]) -> Vec<Effect> {
    state.want(files::host_checked(download, found));
    Vec::new()
}

/// Takes the names in a folder: for a pattern that waits for them, or for the prompt.
fn host_listed(
    state: &mut AppState,
    folder: &Path,
    outcome: Result<Vec<String>, String>,
) -> Vec<Effect> {
    if let Some(intents) = state.files.host_listed(folder, &outcome) {
        state.want(intents);
    } else if let Some(Overlay::Prompt(prompt)) = &mut state.view.overlay {
        prompt.host_listed(state.files.host(), folder, outcome);
    }
    Vec::new()
}

fn ask_to_replace(state: &mut AppState, path: String, bytes: Bytes) -> Vec<Effect> {
    let question = format!("{path} exists on this machine. Replace it? What it holds is lost.");
    let save = Effect::SaveLocal {
        path,
        bytes,
        replace: true,
    };
    state.confirm(question, "Replace", vec![Intent::Effect(save)]);
    Vec::new()
}

/// Takes what came of work on the library of snippets.
fn snippet_news(state: &mut AppState, news: SnippetNews) -> Vec<Effect> {
    match news {
        SnippetNews::Listed(names) | SnippetNews::Changed(names) => {
            let panel = SnippetPanel::new(names, &state.settings.config.languages);
            state.open(Overlay::Snippets(Box::new(panel)));
        }
        SnippetNews::Opened { name, text } => state.want([Intent::EditText { name, text }]),
        SnippetNews::Exists { name, text } => {
            let question = format!("{name} is in the library already. Replace it?");
            let replace = true;
            let keep = SnippetOp::Keep {
                name,
                text,
                replace,
            };
            state.want([snippets::confirm(question, "Replace", keep)]);
        }
        SnippetNews::Kept(name) => state.say(Tone::Good, format!("{name} is in the library.")),
        SnippetNews::Failed(why) => state.say(Tone::Bad, why),
    }
    Vec::new()
}

fn recovered(state: &mut AppState, buffers: Vec<RecoveredBuffer>) -> Vec<Effect> {
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
