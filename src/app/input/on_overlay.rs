//! What a person does in an overlay: given to it, and what it wants is noted.

use ratatui::layout::Position;

use crate::app::AppState;
use crate::app::overlays::{Cx, Layer, Reaction, Wheel};
use crate::keymap::{Action, Key};

/// Lets the overlay do something; it is out of the state meanwhile, so that it can look at the rest.
fn with_layer(state: &mut AppState, run: impl FnOnce(&mut dyn Layer, &Cx<'_>) -> Reaction) {
    let Some(mut overlay) = state.view.overlay.take() else {
        return;
    };
    let reaction = run(overlay.layer_mut(), &state.cx());
    if !reaction.closes {
        state.view.overlay = Some(overlay);
    }
    state.want(reaction.intents);
}

/// Gives an action to the overlay.
pub(crate) fn action(state: &mut AppState, action: Action) {
    with_layer(state, |layer, cx| layer.on_action(action, cx));
}

/// Gives a key that means no action to the overlay.
pub(crate) fn key(state: &mut AppState, key: Key) {
    with_layer(state, |layer, cx| Reaction::stay_and(layer.on_key(key, cx)));
}

/// Gives pasted text to the overlay.
pub(crate) fn paste(state: &mut AppState, text: &str) {
    with_layer(state, |layer, cx| {
        Reaction::stay_and(layer.on_paste(text, cx))
    });
}

/// Lets the overlay ask for what it shows.
pub(crate) fn tick(state: &mut AppState) {
    with_layer(state, |layer, cx| Reaction::stay_and(layer.on_tick(cx)));
}

/// Gives a click to the overlay.
pub(crate) fn press(state: &mut AppState, at: Position) {
    with_layer(state, |layer, cx| layer.on_press(at, cx));
}

/// Turns the wheel over the overlay.
pub(crate) fn wheel(state: &mut AppState, lines: isize) {
    let down = if lines > 0 { Action::Down } else { Action::Up };
    let wheel = state.view.overlay.as_ref().map(|open| open.layer().wheel());
    let steps = match wheel {
        Some(Wheel::Row) => 1,
        Some(Wheel::Lines) => lines.unsigned_abs(),
        Some(Wheel::Ignored) | None => 0,
    };
    for _ in 0..steps {
        action(state, down);
    }
}
