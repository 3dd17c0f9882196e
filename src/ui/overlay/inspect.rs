//! The view of one sandbox: a row of tabs, and below it what the chosen one tells.

mod changes;
mod charts;
mod overview;
mod processes;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};

use super::events;
use super::lines::show;
use crate::app::AppState;
use crate::app::geometry::layout::inspect_area;
use crate::app::overlays::inspect::{InspectState, Lookup, Tab};
use crate::domain::Phase;
use crate::keymap::{Action, Context};
use crate::text::safe_line;
use crate::ui::frame::tab;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the view between header and footer, so that keys and the engine's state stay in sight.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, view: &InspectState) {
    let inner = popup(
        frame,
        inspect_area(frame.area()),
        &title(state, view),
        theme,
    );
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(inner);
    frame.render_widget(tabs(view.tab, theme), head);
    let lines = match view.tab {
        Tab::Overview => overview::lines(view, theme),
        Tab::Processes => processes::lines(view, theme),
        Tab::Charts => return charts::draw(frame, body, state, theme, view),
        Tab::Events => events::of_one(state, theme, view),
        Tab::Changes => changes::lines(view, theme),
    };
    show(frame, body, theme, lines, view.scroll);
}

/// Names the sandbox; what is looked at in a paused one does not change until somebody resumes it.
fn title(state: &AppState, view: &InspectState) -> String {
    let name = safe_line(&view.name);
    let row = state.sandboxes.find(&view.sandbox);
    let is_paused = row.is_some_and(|row| row.sandbox.phase == Phase::Paused);
    let keymap = &state.settings.keymap;
    let key = keymap.keys_of(Context::Sandboxes, Action::PauseResume);
    match key.filter(|_| is_paused) {
        Some(key) => format!("Sandbox {name}, paused: Esc, then {key} resumes it"),
        None => format!("Sandbox {name}"),
    }
}

fn tabs(chosen: Tab, theme: &Theme) -> Line<'static> {
    let word = |known: Tab| {
        let is_chosen = known == chosen;
        let role = if is_chosen { Role::Accent } else { Role::Muted };
        Span::styled(tab(known.title(), is_chosen), theme.style(role))
    };
    let keys = Span::styled("  [ ] switch", theme.style(Role::Muted));
    Tab::ALL.map(word).into_iter().chain([keys]).collect()
}

/// Makes lines of an answer, or says that it is awaited or why there is none.
fn answer<T>(
    asked: &Lookup<T>,
    theme: &Theme,
    lines: impl FnOnce(&T) -> Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    match &asked.answer {
        None => vec![Line::styled("Asking the engine…", theme.style(Role::Muted))],
        Some(Ok(found)) => lines(found),
        Some(Err(failure)) => {
            let hint = failure.hint.iter();
            let hint = hint.map(|hint| Line::styled(safe_line(hint), theme.style(Role::Muted)));
            let reason = Line::styled(safe_line(&failure.message), theme.style(Role::Warn));
            std::iter::once(reason).chain(hint).collect()
        }
    }
}
