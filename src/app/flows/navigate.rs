//! Going from pane to pane, and what the panes learn by it.

use super::fit::fit;
use crate::app::{AppState, Effect, Mode, Pane};
use crate::domain::Phase;

/// Goes to a pane; letters are commands again. Files may have changed meanwhile, so they are listed anew.
pub(crate) fn focus(state: &mut AppState, pane: Pane) -> Vec<Effect> {
    state.view.focus = pane;
    state.view.mode = Mode::Nav;
    if pane == Pane::Files {
        follow_selection(state);
        let intents = state.files.changed();
        state.want(intents);
    }
    fit(state)
}

/// Gives the pane in use the whole screen, or takes it back.
pub(crate) fn zoom(state: &mut AppState) -> Vec<Effect> {
    state.view.zoom = !state.view.zoom;
    fit(state)
}

/// Shows the files of the sandbox that is selected now, paused or not.
pub(crate) fn follow_selection(state: &mut AppState) {
    let work_dir = state.settings.config.sandbox.work_dir.clone();
    let selected = state
        .sandboxes
        .selected()
        .filter(|row| row.sandbox.phase.is_live());
    let runs = selected.is_some_and(|row| row.sandbox.phase == Phase::Running);
    let shown = selected.map(|row| {
        (
            row.sandbox.reference.clone(),
            row.sandbox.name.clone(),
            work_dir,
        )
    });
    if state.files.place().map(|place| &place.sandbox)
        != shown.as_ref().map(|(reference, ..)| reference)
    {
        let intents = state.files.show(shown);
        return state.want(intents);
    }
    if runs {
        let intents = state.files.resumed();
        state.want(intents);
    }
}
