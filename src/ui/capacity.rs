//! The capacity of the host, in the lower border of the list.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::theme::{Role, Theme};
use crate::app::{AppState, capacity};
use crate::domain::Capacity;
use crate::text::{display_width, human};

/// Writes it over the last row of the pane, as long as it fits.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &AppState, theme: &Theme) {
    let Some(capacity) = capacity::of(state) else {
        return;
    };
    let room = usize::from(area.width).saturating_sub(4);
    let texts = [long(&capacity), short(&capacity)];
    let Some(text) = texts.into_iter().find(|text| display_width(text) <= room) else {
        return;
    };
    let width = u16::try_from(display_width(&text)).unwrap_or(0);
    let place = Rect {
        x: area.right().saturating_sub(width + 2),
        y: area.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    let role = if capacity.room == 0 {
        Role::Warn
    } else {
        Role::Muted
    };
    frame.render_widget(Line::styled(text, theme.style(role)), place);
}

fn long(capacity: &Capacity) -> String {
    let (used, committed, total) = (capacity.used, capacity.committed, capacity.total);
    format!(
        " mem {} used, {} reserved of {}; cpu {:.1}, {:.1} of {};{}",
        human::bytes(used.memory_bytes),
        human::bytes(committed.memory_bytes),
        human::bytes(total.memory_bytes),
        used.cpus,
        committed.cpus,
        total.cpus,
        short(capacity)
    )
}

fn short(capacity: &Capacity) -> String {
    format!(" room for {} ", human::count(capacity.room))
}
