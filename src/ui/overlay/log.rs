//! What was done, newest first.

use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::lines::show;
use crate::app::geometry::layout::{LOG_TIME, log_area, log_width};
use crate::app::{AppState, Tone};
use crate::text::pad;
use crate::ui::theme::{Role, Theme};
use crate::ui::widgets::popup;

/// Draws the log.
pub(super) fn draw(frame: &mut Frame<'_>, state: &AppState, theme: &Theme, scroll: usize) {
    let title = "What was done, newest first: Esc closes";
    let inner = popup(frame, log_area(frame.area()), title, theme);
    let mut lines: Vec<Line<'static>> = state
        .status
        .log_lines(log_width(frame.area()))
        .map(|(toast, is_first, text)| {
            let role = match toast.tone {
                Tone::Bad => Role::Error,
                _ => Role::Text,
            };
            let time = toast.at.format("%H:%M:%S").to_string();
            let time = pad(if is_first { &time } else { "" }, LOG_TIME);
            Line::from(vec![
                Span::styled(time, theme.style(Role::Muted)),
                Span::styled(text, theme.style(role)),
            ])
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled("Nothing yet.", theme.style(Role::Muted)));
    }
    show(frame, inner, theme, lines, scroll);
}
