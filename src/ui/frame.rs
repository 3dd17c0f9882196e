//! The border of a pane: its number and name, what it shows, and whether it has the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType};

use super::theme::{Role, Theme};
use crate::text::safe_line;

const ASCII: border::Set<'_> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

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
        .border_style(theme.style(role))
        .title(Line::from(title));
    let block = if theme.ascii {
        block.border_set(ASCII)
    } else {
        block.border_type(kind)
    };
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
