//! A box over the panes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear};

use crate::ui::theme::{Role, Theme};

/// Clears a box in the middle of the screen, draws its border and returns the area inside.
pub(in crate::ui) fn popup(
    frame: &mut Frame<'_>,
    width: u16,
    height: u16,
    title: &str,
    theme: &Theme,
) -> Rect {
    let screen = frame.area();
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let area = Rect {
        x: (screen.width - width) / 2,
        y: (screen.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .border_style(theme.style(Role::BorderFocus))
        .title(format!(" {title} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}
