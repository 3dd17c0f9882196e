//! All keys, from the table that the keys themselves come from.

use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::lines::show;
use crate::app::AppState;
use crate::app::geometry::layout::help_area;
use crate::app::overlays::viewer::HELP;
use crate::keymap::Context;
use crate::text::pad;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the keys, those of the pane in use first.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let area = help_area(frame.area());
    let inner = popup(frame, area, "Keys: arrows scroll, Esc closes", theme);
    let mut sections = HELP.to_vec();
    sections.sort_by_key(|(_, context)| *context != state.pane_context());
    let lines: Vec<Line<'static>> = sections
        .iter()
        .flat_map(|(title, context)| section(state, theme, title, *context))
        .collect();
    show(frame, inner, theme, lines, scroll);
}

fn section(
    state: &AppState,
    theme: &Theme,
    title: &'static str,
    context: Context,
) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled(title, theme.style(Role::Accent))];
    for binding in state.settings.keymap.rows(context) {
        lines.push(Line::from(vec![
            Span::styled(
                format!("  {} ", pad(&binding.keys.join(" "), 20)),
                theme.style(Role::Key),
            ),
            Span::styled(binding.action.sentence(), theme.style(Role::Text)),
        ]));
    }
    lines.push(Line::default());
    lines
}
