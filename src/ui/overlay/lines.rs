//! Lines that are scrolled, with a word on how many there are.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use crate::describe::Mood;
use crate::text::pad;
use crate::ui::theme::{Role, Theme};

/// Columns of a key before its value.
const KEY: usize = 18;

/// Draws the lines from `scroll` on; where not all fit, the last row says which are seen.
pub(super) fn show(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: &Theme,
    lines: Vec<Line<'static>>,
    scroll: usize,
) {
    let count = lines.len();
    if count <= usize::from(area.height) {
        return draw(frame, area, lines.into_iter());
    }
    let [body, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(area);
    let height = usize::from(body.height);
    let first = scroll.min(count.saturating_sub(height));
    draw(frame, body, lines.into_iter().skip(first));
    let words = format!("{}-{} of {count}", first + 1, (first + height).min(count));
    let words = Line::styled(words, theme.style(Role::Muted));
    frame.render_widget(words.right_aligned(), foot);
}

fn draw(frame: &mut Frame<'_>, area: Rect, lines: impl Iterator<Item = Line<'static>>) {
    for (line, row) in lines.zip(area.rows()) {
        frame.render_widget(line, row);
    }
}

/// Makes a line of a key and its value, which must be safe.
pub(super) fn row(theme: &Theme, key: &str, value: String, role: Role) -> Line<'static> {
    Line::from(vec![
        Span::styled(pad(key, KEY), theme.style(Role::Muted)),
        Span::styled(value, theme.style(role)),
    ])
}

/// Returns the role that a mood has on screen.
pub(super) fn role_of(mood: Mood) -> Role {
    match mood {
        Mood::Plain => Role::Text,
        Mood::Good => Role::Ok,
        Mood::Warn => Role::Warn,
        Mood::Bad => Role::Error,
    }
}
