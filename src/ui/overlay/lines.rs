//! Lines that are scrolled, with a word on how many there are.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Span};

use crate::app::geometry::list_box::ListBox;
use crate::describe::Mood;
use crate::text::{pad, truncate};
use crate::ui::theme::{Role, Theme};

/// Columns of a key before its value.
pub(super) const KEY: usize = 18;

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
        frame.render_widget(fit(line, row.width), row);
    }
}

/// Cuts a line that is too long, and shows that something is missing.
pub(super) fn fit(line: Line<'static>, width: u16) -> Line<'static> {
    let mut left = usize::from(width);
    if line.width() <= left {
        return line;
    }
    let mut spans = Vec::new();
    for span in line.spans {
        let wide = span.width();
        if wide >= left {
            // What follows is missing, too.
            let text = truncate(&format!("{} ", span.content), left).into_owned();
            spans.push(Span::styled(text, span.style));
            break;
        }
        left -= wide;
        spans.push(span);
    }
    Line { spans, ..line }
}

/// Draws the rows of a list that are in sight, the chosen one as such; where not all are, the border says so.
pub(super) fn choose(
    frame: &mut Frame<'_>,
    list_box: &ListBox,
    theme: &Theme,
    line: impl Fn(usize) -> Option<Line<'static>>,
) {
    for (at, place) in list_box.rows() {
        if let Some(line) = line(at) {
            frame.render_widget(fit(line, place.width), place);
        }
        if at == list_box.at {
            let chosen = theme.style(Role::Selection);
            frame.buffer_mut().set_style(place, chosen);
        }
    }
    if list_box.count > usize::from(list_box.body.height) {
        let border = list_box.area.rows().next_back().unwrap_or(list_box.area);
        let words = format!(" {} of {} ", list_box.at + 1, list_box.count);
        let words = Line::from(Span::styled(words, theme.style(Role::Muted)));
        frame.render_widget(words.right_aligned(), border.inner(Margin::new(1, 0)));
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
