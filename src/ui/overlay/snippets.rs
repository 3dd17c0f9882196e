//! The list of snippets and first programs.

use ratatui::Frame;
use ratatui::text::Line;

use crate::app::layout::list_area;
use crate::app::snippets::{Entry, SnippetPanel};
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, panel: &SnippetPanel) {
    let area = list_area(frame.area(), panel.entries.len(), 68);
    let title = "Snippets: Enter opens, r renames, d deletes, Esc closes";
    let inner = popup(frame, area, title, theme);
    let lines = usize::from(inner.height).max(1);
    let first = panel.at.saturating_sub(lines - 1);
    let shown = panel.entries.iter().enumerate().skip(first);
    for ((at, entry), place) in shown.zip(inner.rows()) {
        let (words, role) = match entry {
            Entry::Own(name) => (format!(" {}", safe_line(name)), Role::Text),
            Entry::Starter(language) => {
                let words = format!(" first program in {}", safe_line(language.name()));
                (words, Role::Muted)
            }
        };
        frame.render_widget(Line::styled(words, theme.style(role)), place);
        if at == panel.at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(place, chosen);
        }
    }
}
