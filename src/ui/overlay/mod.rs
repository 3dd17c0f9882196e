//! What lies over the panes.

mod cache;
mod columns;
mod create;
mod dialogs;
mod events;
mod findings;
mod help;
mod history;
mod inspect;
mod lines;
mod log;
mod reap;
mod run_form;
mod snippets;

use ratatui::Frame;

use super::theme::Theme;
use crate::app::AppState;
use crate::app::overlays::overlay::Overlay;

/// Draws the overlay that has the keys.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme) {
    match &state.view.overlay {
        Some(Overlay::Help { scroll }) => help::draw(frame, state, theme, *scroll),
        Some(Overlay::Palette(palette)) => dialogs::palette(frame, state, theme, palette),
        Some(Overlay::Confirm(confirm)) => dialogs::confirm(frame, theme, confirm),
        Some(Overlay::Ask(ask)) => dialogs::ask(frame, theme, ask),
        Some(Overlay::Create(form)) => create::draw(frame, theme, form),
        Some(Overlay::Inspect(view)) => inspect::draw(frame, state, theme, view),
        Some(Overlay::Columns { at }) => columns::draw(frame, state, theme, *at),
        Some(Overlay::Findings { scroll }) => findings::draw(frame, state, theme, *scroll),
        Some(Overlay::Run(form)) => run_form::draw(frame, state, theme, form),
        Some(Overlay::Snippets(panel)) => snippets::draw(frame, theme, panel),
        Some(Overlay::Cache(panel)) => cache::draw(frame, state, theme, panel),
        Some(Overlay::History(panel)) => history::draw(frame, state, theme, panel),
        Some(Overlay::Comparison(both)) => history::compare(frame, state, theme, both),
        Some(Overlay::Reap(preview)) => reap::draw(frame, theme, preview),
        Some(Overlay::Events { scroll }) => events::draw(frame, state, theme, *scroll),
        Some(Overlay::Log { scroll }) => log::draw(frame, state, theme, *scroll),
        None => {}
    }
}
