//! What is said while no engine answers: where it was looked for, what went wrong, what to do, and when it is tried again.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::theme::{Role, Theme};
use crate::app::AppState;
use crate::app::engine::KnownLink;
use crate::app::geometry::layout::SHORT_BANNER;
use crate::protocol::Link;
use crate::text::{human, safe_line};

/// Draws the banner into the rows that the layout has left for it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme) {
    if let Some(known) = state.engine.down() {
        let mut lines = lines(known, state, theme);
        if area.height <= SHORT_BANNER && lines.len() > 2 {
            // The header says it, too.
            lines.remove(1);
        }
        let words = Paragraph::new(lines).wrap(Wrap { trim: true });
        frame.render_widget(words, area);
    }
}

fn lines(known: &KnownLink, state: &AppState, theme: &Theme) -> Vec<Line<'static>> {
    let Link::Down { since, why, .. } = &known.link else {
        return Vec::new();
    };
    let lost = u64::try_from((state.now - *since).num_seconds()).unwrap_or(0);
    let lost = human::age(lost);
    let lost = match &known.endpoint {
        Some(endpoint) => format!("Lost the engine at {} {lost} ago. ", safe_line(endpoint)),
        None => format!("No engine has answered for {lost}. "),
    };
    let next = match known.retry_in(state.now) {
        None | Some(0) => "Trying again…".to_owned(),
        Some(seconds) => format!("Next try in {seconds} s."),
    };
    let mut all = vec![Line::from(vec![
        Span::styled(lost, theme.style(Role::Error)),
        Span::styled(next, theme.style(Role::Warn)),
    ])];
    let told = |word: &str, text: &str, role: Role| {
        Line::from(vec![
            Span::styled(word.to_owned(), theme.style(Role::Muted)),
            Span::styled(safe_line(text), theme.style(role)),
        ])
    };
    all.push(told("Tried: ", &why.message, Role::Text));
    let hint = why.hint.iter();
    all.extend(hint.map(|hint| told("Do: ", hint, Role::Accent)));
    all
}
