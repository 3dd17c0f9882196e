//! The mouse over what lies over the panes: buttons, tabs, fields and rows.

use ratatui::layout::{Margin, Position, Rect};

use super::WHEEL;
use crate::app::inspect::Tab;
use crate::app::layout::{
    confirm_area, form_area, history_area, inspect_area, list_area, palette_area,
};
use crate::app::overlay::{Confirm, Overlay};
use crate::app::sandboxes::Column;
use crate::app::{AppState, Effect, Mouse, MouseKind, inspect, on_overlay};
use crate::keymap::Action;
use crate::text::display_width;

/// Takes what the mouse did.
pub(super) fn mouse(state: &mut AppState, mouse: Mouse) -> Vec<Effect> {
    match mouse.kind {
        MouseKind::Press => press(state, Position::new(mouse.column, mouse.row)),
        MouseKind::WheelDown => wheel(state, WHEEL),
        MouseKind::WheelUp => wheel(state, -WHEEL),
        MouseKind::Drag | MouseKind::Release => Vec::new(),
    }
}

/// Scrolls what is read, and moves what is chosen.
fn wheel(state: &mut AppState, lines: isize) -> Vec<Effect> {
    let action = if lines > 0 { Action::Down } else { Action::Up };
    match &state.view.overlay {
        Some(
            Overlay::Confirm(_)
            | Overlay::Ask(_)
            | Overlay::Create(_)
            | Overlay::Run(_)
            | Overlay::Comparison(_),
        )
        | None => Vec::new(),
        Some(
            Overlay::Palette(_)
            | Overlay::Columns { .. }
            | Overlay::Cache(_)
            | Overlay::Snippets(_)
            | Overlay::History(_)
            | Overlay::Reap(_),
        ) => on_overlay::run(state, action),
        Some(
            Overlay::Help { .. }
            | Overlay::Log { .. }
            | Overlay::Events { .. }
            | Overlay::Findings { .. }
            | Overlay::Inspect(_),
        ) => {
            let steps = (0..lines.unsigned_abs()).map(|_| on_overlay::run(state, action));
            steps.flatten().collect()
        }
    }
}

fn press(state: &mut AppState, at: Position) -> Vec<Effect> {
    let screen = state.view.size;
    match &state.view.overlay {
        Some(Overlay::Confirm(confirm)) => {
            let action = button(confirm, confirm_area(screen), at);
            action.map_or_else(Vec::new, |action| on_overlay::run(state, action))
        }
        Some(Overlay::Inspect(_)) => press_tab(state, inspect_area(screen), at),
        Some(Overlay::Palette(_)) => press_palette(state, palette_area(screen), at),
        Some(Overlay::Columns { .. }) => {
            let area = list_area(screen, Column::ALL.len() + 1, 44);
            press_row(state, area, at, Column::ALL.len())
        }
        Some(Overlay::Reap(preview)) => {
            let rows = preview.rows.len();
            let area = list_area(screen, rows.max(1) + preview.leftovers.len() + 2, 92);
            press_row(state, area, at, rows)
        }
        Some(Overlay::History(panel)) => {
            let rows = panel.runs.len();
            press_run(state, history_area(screen, rows), at, rows)
        }
        Some(Overlay::Create(form)) => {
            let area = inner(form_area(screen, form.fields.len()));
            press_field(state, area, at)
        }
        Some(
            Overlay::Help { .. }
            | Overlay::Log { .. }
            | Overlay::Events { .. }
            | Overlay::Findings { .. }
            | Overlay::Run(_)
            | Overlay::Comparison(_)
            | Overlay::Cache(_)
            | Overlay::Snippets(_)
            | Overlay::Ask(_),
        )
        | None => Vec::new(),
    }
}

fn inner(area: Rect) -> Rect {
    area.inner(Margin::new(1, 1))
}

/// Finds the button at a place: `[ Cancel ]  [ Remove ]` in the last row.
fn button(confirm: &Confirm, area: Rect, at: Position) -> Option<Action> {
    let inner = inner(area);
    if !inner.contains(at) || at.y + 1 != inner.bottom() {
        return None;
    }
    let column = usize::from(at.x - inner.x);
    let cancel = "[ Cancel ]".len();
    let from = cancel + 2;
    let to = from + display_width(&confirm.button) + 4;
    match column {
        column if column < cancel => Some(Action::Refuse),
        column if (from..to).contains(&column) => Some(Action::Accept),
        _ => None,
    }
}

fn press_tab(state: &mut AppState, area: Rect, at: Position) -> Vec<Effect> {
    let inner = inner(area);
    if at.y != inner.y || !inner.contains(at) {
        return Vec::new();
    }
    let column = usize::from(at.x - inner.x);
    let mut from = 0;
    let tab = Tab::ALL.into_iter().find(|tab| {
        let range = from..from + tab.title().len() + 2;
        from = range.end;
        range.contains(&column)
    });
    let Some(tab) = tab else { return Vec::new() };
    if let Some(Overlay::Inspect(view)) = &mut state.view.overlay {
        view.show(tab);
    }
    inspect::ask(state)
}

/// Does the action in a row of the palette; the first row holds what was typed.
fn press_palette(state: &mut AppState, area: Rect, at: Position) -> Vec<Effect> {
    let inner = inner(area);
    if !inner.contains(at) || at.y == inner.y {
        return Vec::new();
    }
    let height = usize::from(inner.height.saturating_sub(1)).max(1);
    let read_only = state.settings.read_only;
    let Some(Overlay::Palette(palette)) = &mut state.view.overlay else {
        return Vec::new();
    };
    let found = palette.found(|action| !(read_only && action.mutates()));
    let row = palette.first(height) + usize::from(at.y - inner.y - 1);
    if row >= found.len() {
        return Vec::new();
    }
    palette.chosen = row;
    on_overlay::run(state, Action::Accept)
}

/// Chooses a run; the first row is the head.
fn press_run(state: &mut AppState, area: Rect, at: Position, count: usize) -> Vec<Effect> {
    let inner = inner(area);
    let lines = usize::from(inner.height).saturating_sub(2).max(1);
    let Some(Overlay::History(panel)) = &mut state.view.overlay else {
        return Vec::new();
    };
    if !inner.contains(at) || at.y == inner.y {
        return Vec::new();
    }
    let row = panel.at.saturating_sub(lines - 1) + usize::from(at.y - inner.y - 1);
    if row < count {
        panel.at = row;
    }
    Vec::new()
}

/// Chooses a row of a list and turns its mark.
fn press_row(state: &mut AppState, area: Rect, at: Position, count: usize) -> Vec<Effect> {
    let inner = inner(area);
    if !inner.contains(at) {
        return Vec::new();
    }
    let line = usize::from(at.y - inner.y);
    let lines = usize::from(inner.height).saturating_sub(2).max(1);
    let row = match &mut state.view.overlay {
        Some(Overlay::Columns { at }) => at,
        Some(Overlay::Reap(preview)) => &mut preview.at,
        _ => return Vec::new(),
    };
    let first = if count > lines {
        row.saturating_sub(lines - 1)
    } else {
        0
    };
    if first + line >= count {
        return Vec::new();
    }
    *row = first + line;
    on_overlay::run(state, Action::Mark)
}

fn press_field(state: &mut AppState, inner: Rect, at: Position) -> Vec<Effect> {
    if let Some(Overlay::Create(form)) = &mut state.view.overlay
        && inner.contains(at)
    {
        form.go_to(usize::from(at.y - inner.y));
    }
    Vec::new()
}
