//! The list of snippets and first programs.

use ratatui::Frame;
use ratatui::text::Line;

use super::lines::choose;
use crate::app::overlays::snippets::{SnippetEntry, SnippetPanel};
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the list.
pub(super) fn draw(frame: &mut Frame<'_>, theme: &Theme, panel: &SnippetPanel) {
    let list_box = panel.place(frame.area());
    let title = "Snippets: Enter opens, r renames, d deletes, Esc closes";
    popup(frame, list_box.area, title, theme);
    choose(frame, &list_box, theme, |at| {
        let (words, role) = match panel.entries.get(at)? {
            SnippetEntry::Own(name) => (format!(" {}", safe_line(name)), Role::Text),
            SnippetEntry::Starter(language) => {
                let words = format!(" first program in {}", safe_line(language.name()));
                (words, Role::Muted)
            }
        };
        Some(Line::styled(words, theme.style(role)))
    });
}
