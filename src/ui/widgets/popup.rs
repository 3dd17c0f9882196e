//! A box over the panes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear};

use crate::ui::theme::{Role, Theme};

/// Clears a box, draws its border and returns the area inside.
pub(in crate::ui) fn popup(frame: &mut Frame<'_>, area: Rect, title: &str, theme: &Theme) -> Rect {
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .border_style(theme.style(Role::BorderFocus))
        .title(format!(" {title} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}
