//! What was done, newest first.

use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::lines::show;
use crate::app::layout::log_area;
use crate::app::{AppState, Tone};
use crate::text::safe_line;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the log.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let title = "What was done, newest first: Esc closes";
    let inner = popup(frame, log_area(frame.area()), title, theme);
    let mut lines: Vec<Line<'static>> = state
        .status
        .log()
        .map(|toast| {
            let role = if toast.tone == Tone::Bad {
                Role::Error
            } else {
                Role::Text
            };
            Line::from(vec![
                Span::styled(
                    format!("{}  ", toast.at.format("%H:%M:%S")),
                    theme.style(Role::Muted),
                ),
                Span::styled(safe_line(&toast.text), theme.style(role)),
            ])
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled("Nothing yet.", theme.style(Role::Muted)));
    }
    show(frame, inner, theme, lines, scroll);
}
