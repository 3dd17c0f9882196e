//! Which columns of the list are wanted.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::choose;
use crate::app::AppState;
use crate::app::geometry::column::Column;
use crate::app::overlays::columns::ColumnChooser;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the columns with a mark before those that are wanted.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, chooser: ColumnChooser) {
    let list_box = chooser.place(frame.area());
    popup(frame, list_box.area, "Columns: Space shows or hides", theme);
    let hidden = state.sandboxes.hidden();
    choose(frame, &list_box, theme, |at| {
        let column = Column::ALL.get(at)?;
        let mark = match column {
            Column::Name => "[always]",
            column if hidden.contains(column) => "[      ]",
            _ => "[  x   ]",
        };
        let text = format!(" {mark} {}", column.title().to_lowercase());
        Some(Line::styled(text, theme.style(Role::Text)))
    });
    let words = "Shown as far as the width allows.";
    let words = Line::styled(words, theme.style(Role::Muted));
    frame.render_widget(words, list_box.note());
}
