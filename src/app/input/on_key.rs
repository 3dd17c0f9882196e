//! Keys and pasted text: resolved by the keymap, else text for whatever takes text.

use super::{on_action, on_overlay};
use crate::app::flows::shell;
use crate::app::{AppState, Effect, Mode};
use crate::keymap::{Key, Resolution};

/// Takes a key.
pub(crate) fn key(state: &mut AppState, key: Key) -> Vec<Effect> {
    state.status.dismiss();
    let context = state.context();
    let keymap = &state.settings.keymap;
    match keymap.resolve(context, &state.view.chord, key) {
        Resolution::Run(action) => {
            state.view.chord.clear();
            on_action::run(state, action)
        }
        Resolution::Pending => {
            state.view.chord.push(key);
            Vec::new()
        }
        Resolution::Unbound => {
            state.view.chord.clear();
            typed(state, key)
        }
    }
}

/// Gives a key that means nothing to whatever takes text.
fn typed(state: &mut AppState, key: Key) -> Vec<Effect> {
    if state.view.overlay.is_some() {
        on_overlay::key(state, key);
        return Vec::new();
    }
    match state.view.mode {
        Mode::Edit => {
            state.editor.type_key(key);
            let intents = state.editor.take_intents();
            state.want(intents);
            Vec::new()
        }
        Mode::Term => shell::shell_key(state, key),
        Mode::Nav => Vec::new(),
    }
}

/// Takes pasted text; where letters are commands it is ignored, so that it cannot act.
pub(crate) fn paste(state: &mut AppState, text: &str) -> Vec<Effect> {
    if state.view.overlay.is_some() {
        on_overlay::paste(state, text);
        return Vec::new();
    }
    match state.view.mode {
        Mode::Edit => {
            let intents = state.editor.paste(text);
            state.want(intents);
            Vec::new()
        }
        Mode::Term => shell::shell_paste(state, text),
        Mode::Nav => Vec::new(),
    }
}
