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
use crate::app::overlays::Overlay;
use crate::app::overlays::viewer::{Text, Viewer};

/// Draws the overlay that has the keys.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme) {
    match &state.view.overlay {
        Some(Overlay::Viewer(viewer)) => read(frame, state, theme, *viewer),
        Some(Overlay::Palette(palette)) => dialogs::palette(frame, state, theme, palette),
        Some(Overlay::Confirm(confirm)) => dialogs::confirm(frame, theme, confirm),
        Some(Overlay::Prompt(prompt)) => dialogs::ask(frame, theme, prompt),
        Some(Overlay::Create(form)) => create::draw(frame, theme, form),
        Some(Overlay::Inspect(view)) => inspect::draw(frame, state, theme, view),
        Some(Overlay::Columns(columns)) => columns::draw(frame, state, theme, *columns),
        Some(Overlay::Run(form)) => run_form::draw(frame, state, theme, form),
        Some(Overlay::Snippets(panel)) => snippets::draw(frame, theme, panel),
        Some(Overlay::Packages(panel)) => cache::draw(frame, state, theme, panel),
        Some(Overlay::History(panel)) => history::draw(frame, state, theme, panel),
        Some(Overlay::Reap(preview)) => reap::draw(frame, theme, preview),
        None => {}
    }
}

fn read(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, viewer: Viewer) {
    match viewer.text {
        Text::Help => help::draw(frame, state, theme, viewer.scroll),
        Text::Log => log::draw(frame, state, theme, viewer.scroll),
        Text::Events => events::draw(frame, state, theme, viewer.scroll),
        Text::Findings => findings::draw(frame, state, theme, viewer.scroll),
    }
}
