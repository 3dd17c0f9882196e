//! Which columns of the list are wanted.

use ratatui::Frame;
use ratatui::text::Line;

use crate::app::AppState;
use crate::app::layout::list_area;
use crate::app::sandboxes::Column;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the columns with a mark before those that are wanted.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, at: usize) {
    let area = list_area(frame.area(), Column::ALL.len() + 1, 44);
    let inner = popup(frame, area, "Columns: Space shows or hides", theme);
    let hidden = state.sandboxes.hidden();
    for ((index, column), row) in Column::ALL.iter().enumerate().zip(inner.rows()) {
        let mark = match column {
            Column::Name => "[always]",
            column if hidden.contains(column) => "[      ]",
            _ => "[  x   ]",
        };
        let text = format!(" {mark} {}", column.title().to_lowercase());
        frame.render_widget(Line::styled(text, theme.style(Role::Text)), row);
        if index == at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(row, chosen);
        }
    }
    let last = inner.rows().next_back().unwrap_or(inner);
    let words = "Shown as far as the width allows.";
    frame.render_widget(Line::styled(words, theme.style(Role::Muted)), last);
}
