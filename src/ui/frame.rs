//! The border of a pane: its number and name, what it shows, and whether it has the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType};

use super::theme::{Role, Theme};
use crate::text::safe_line;

/// Draws the border and returns the area inside.
pub(super) fn draw<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    name: &'a str,
    about: impl Into<Line<'a>>,
    theme: &Theme,
    focused: bool,
) -> Rect {
    let role = if focused {
        Role::BorderFocus
    } else {
        Role::Border
    };
    let mut title = vec![
        Span::raw(" "),
        Span::styled(
            name,
            theme.style(if focused { Role::Accent } else { Role::Muted }),
        ),
        Span::raw(" "),
    ];
    let about: Line<'a> = about.into();
    if about.width() > 0 {
        title.extend(about.spans);
        title.push(Span::raw(" "));
    }
    let kind = if focused {
        BorderType::Thick
    } else {
        BorderType::Plain
    };
    let block = Block::bordered()
        .border_type(kind)
        .border_style(theme.style(role))
        .title(Line::from(title));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Writes a tab.
pub(super) fn tab(name: &str, chosen: bool) -> String {
    let name = safe_line(name);
    if chosen {
        format!("[{name}]")
    } else {
        format!(" {name} ")
    }
}
