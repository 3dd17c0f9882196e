//! Keys and pasted text: resolved by the keymap, else text for whatever takes text.

use super::{on_action, on_overlay};
use crate::app::flows::{apply_intents, streams};
use crate::app::overlays::overlay::Overlay;
use crate::app::{AppState, Effect, Mode};
use crate::keymap::{Key, Resolution};

/// Takes a key.
pub(crate) fn key(state: &mut AppState, key: Key) -> Vec<Effect> {
    state.status.dismiss();
    let context = state.context();
    match state
        .settings
        .keymap
        .resolve(context, &state.view.chord, key)
    {
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
    let settings = state.settings.clone();
    match (&mut state.view.overlay, state.view.mode) {
        (Some(Overlay::Ask(ask)), _) => {
            ask.line.key(key);
            ask.offers.clear();
            on_overlay::asked_so_far(state);
        }
        (Some(Overlay::Create(form)), _) => {
            form.key(key, &settings.config);
        }
        (Some(Overlay::Run(form)), _) => form.key(key),
        (Some(Overlay::Palette(palette)), _) => {
            palette.line.key(key);
            palette.chosen = 0;
        }
        (None, Mode::Edit) => {
            state.editor.type_key(key);
            let intents = state.editor.take_intents();
            return apply_intents::all(state, intents);
        }
        (None, Mode::Term) => return streams::shell_key(state, key),
        _ => {}
    }
    Vec::new()
}

/// Takes pasted text; where letters are commands it is ignored, so that it cannot act.
pub(crate) fn paste(state: &mut AppState, text: &str) -> Vec<Effect> {
    let settings = state.settings.clone();
    match (&mut state.view.overlay, state.view.mode) {
        (Some(Overlay::Ask(ask)), _) => ask.line.insert(text),
        (Some(Overlay::Create(form)), _) => form.paste(text, &settings.config),
        (Some(Overlay::Run(form)), _) => form.paste(text),
        (Some(Overlay::Palette(palette)), _) => palette.line.insert(text),
        (None, Mode::Edit) => {
            let intents = state.editor.paste(text);
            return apply_intents::all(state, intents);
        }
        (None, Mode::Term) => return streams::shell_paste(state, text),
        _ => {}
    }
    Vec::new()
}
