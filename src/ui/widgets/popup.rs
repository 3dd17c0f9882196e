//! A box over the panes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear};

use crate::app::layout;
use crate::ui::theme::{Role, Theme};

/// Clears a box in the middle of the screen, draws its border and returns the area inside.
pub(in crate::ui) fn popup(
    frame: &mut Frame<'_>,
    width: u16,
    height: u16,
    title: &str,
    theme: &Theme,
) -> Rect {
    let area = layout::popup(frame.area(), width, height);
    popup_in(frame, area, title, theme)
}

/// Clears a box, draws its border and returns the area inside.
pub(in crate::ui) fn popup_in(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    theme: &Theme,
) -> Rect {
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .border_style(theme.style(Role::BorderFocus))
        .title(format!(" {title} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}
