//! What lies over the panes.

mod create;
mod details;
mod dialogs;
mod help;

use ratatui::Frame;

use super::theme::Theme;
use crate::app::AppState;
use crate::app::overlay::Overlay;

/// Draws the overlay that has the keys.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme) {
    match &state.view.overlay {
        Some(Overlay::Help { scroll }) => help::draw(frame, state, theme, *scroll),
        Some(Overlay::Palette(palette)) => dialogs::palette(frame, state, theme, palette),
        Some(Overlay::Confirm(confirm)) => dialogs::confirm(frame, theme, confirm),
        Some(Overlay::Ask(ask)) => dialogs::ask(frame, theme, ask),
        Some(Overlay::Create(form)) => create::draw(frame, theme, form),
        Some(Overlay::Inspect { details, scroll }) => {
            details::draw(frame, state, theme, details.as_deref(), *scroll);
        }
        Some(Overlay::Log { scroll }) => details::log(frame, state, theme, *scroll),
        None => {}
    }
}
