//! The last row: how the run stands on the left, where the view stands on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OutputPane, Role, sign};
use crate::app::panes::output::took;
use crate::app::panes::output::{Run, Search, Shape, dropped_note};
use crate::text::{display_width, human, truncate};

const GAP: usize = 2;

/// Draws the row; what does not fit is left out, the least important first.
pub(super) fn draw(pane: &OutputPane<'_>, run: &Run, shape: Shape, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width);
    let (place, role) = place(run, shape);
    let style = pane.theme.style(role);
    let place_width = display_width(&place);
    if place_width <= width {
        let x = area.right() - u16::try_from(place_width).unwrap_or(area.width);
        buf.set_stringn(x, area.y, &place, place_width, style);
    }
    let mut room = width.saturating_sub(place_width + GAP);
    let mut x = area.x;
    for (index, (text, short, role)) in parts(pane, run).into_iter().enumerate() {
        let text = if display_width(&text) <= room {
            text
        } else {
            short
        };
        let text = fit(&text, room, index == 0);
        let (end, _) = buf.set_stringn(x, area.y, &text, room, pane.theme.style(role));
        let used = usize::from(end - x) + GAP;
        room = room.saturating_sub(used);
        x = x.saturating_add(u16::try_from(used).unwrap_or(u16::MAX));
    }
}

/// Cuts the first part; others are shown whole or not at all.
fn fit(text: &str, room: usize, is_first: bool) -> String {
    let cut = truncate(text, room);
    if is_first || display_width(text) <= room {
        cut.into_owned()
    } else {
        String::new()
    }
}

/// Returns what is said, each long and short.
fn parts(pane: &OutputPane<'_>, run: &Run) -> Vec<(String, String, Role)> {
    let (_, role) = sign(run.status().health());
    let badge = badge(pane, run);
    let mut parts = vec![(badge.clone(), badge, role)];
    if run.first() > 0 {
        let short = format!("… {} dropped", run.first());
        parts.push((dropped_note(run.first()), short, Role::Warn));
    }
    if let Some(search) = pane.state.search().map(Search::needle) {
        let search = format!("/{search}");
        parts.push((search.clone(), search, Role::Muted));
    }
    parts
}

/// Says how the run stands, how long it took and what it needed.
fn badge(pane: &OutputPane<'_>, run: &Run) -> String {
    let (sign, _) = sign(run.status().health());
    let (peak, refused) = (run.peak_memory(), run.refused_processes());
    let facts = [
        Some(format!("{sign} {}", run.status().words())),
        Some(took(run.took(pane.now))),
        peak.map(|bytes| format!("peak {}", human::bytes(bytes))),
        refused.map(|count| format!("{count} processes refused")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn place(run: &Run, shape: Shape) -> (String, Role) {
    let last = run.bottom(shape).line + 1;
    let end = run.end_line();
    if let Some(selected) = run.selected() {
        let count = selected.end() - selected.start() + 1;
        return (format!("SELECTED {count}: y copies"), Role::Accent);
    }
    match (run.is_following(), run.is_running()) {
        (true, true) => ("FOLLOWING".to_owned(), Role::Ok),
        (true, false) => (format!("END {end}"), Role::Muted),
        (false, true) => (format!("PAUSED {last}/{end}"), Role::Warn),
        (false, false) => (format!("LINE {last}/{end}"), Role::Muted),
    }
}
