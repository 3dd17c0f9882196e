//! The mouse: clicks choose panes and rows, the wheel scrolls what is under it.

use super::overlay::Overlay;
use super::{AppState, Effect, Mode, Mouse, MouseKind, Pane, Wish, fulfil};

/// Lines a turn of the wheel moves.
const WHEEL: isize = 3;

/// Takes what the mouse did.
pub(super) fn mouse(state: &mut AppState, mouse: Mouse) -> Vec<Effect> {
    if state.view.overlay.is_some() {
        return over_overlay(state, mouse);
    }
    let Some(areas) = state.areas() else {
        return Vec::new();
    };
    let Some(pane) = areas.at(mouse.column, mouse.row) else {
        return Vec::new();
    };
    let Some(inner) = areas.inner(pane) else {
        return Vec::new();
    };
    let (column, row) = (
        mouse.column.saturating_sub(inner.x),
        mouse.row.saturating_sub(inner.y),
    );
    let inside = inner.contains(ratatui::layout::Position::new(mouse.column, mouse.row));
    match mouse.kind {
        MouseKind::Press => {
            let wishes = press(state, pane, column, row, inside);
            return fulfil::all(state, wishes);
        }
        MouseKind::Drag if pane == Pane::Editor && inside => state.editor.drag(column, row),
        MouseKind::Drag if pane == Pane::Output && inside => state.output.drag(row.into()),
        MouseKind::WheelDown => return wheel(state, pane, WHEEL),
        MouseKind::WheelUp => return wheel(state, pane, -WHEEL),
        MouseKind::Drag | MouseKind::Release => {}
    }
    Vec::new()
}

fn over_overlay(state: &mut AppState, mouse: Mouse) -> Vec<Effect> {
    let lines = match mouse.kind {
        MouseKind::WheelDown => WHEEL,
        MouseKind::WheelUp => -WHEEL,
        _ => return Vec::new(),
    };
    let scroll = match &mut state.view.overlay {
        Some(Overlay::Help { scroll } | Overlay::Log { scroll } | Overlay::Events { scroll }) => {
            scroll
        }
        Some(Overlay::Inspect(view)) => &mut view.scroll,
        _ => return Vec::new(),
    };
    *scroll = scroll.saturating_add_signed(lines);
    Vec::new()
}

fn press(state: &mut AppState, pane: Pane, column: u16, row: u16, inside: bool) -> Vec<Wish> {
    if state.view.focus != pane {
        state.view.mode = Mode::Nav;
        state.view.focus = pane;
    }
    if !inside {
        return Vec::new();
    }
    match pane {
        // The first line holds the headings.
        Pane::Sandboxes if row > 0 => {
            let height = state.page(pane).saturating_sub(1);
            state.sandboxes.click(usize::from(row) - 1, height);
        }
        Pane::Editor => {
            state.editor.click(column, row);
            state.view.mode = Mode::Edit;
        }
        Pane::Files => return state.files.click(usize::from(row)),
        Pane::Output if state.shells.current().is_some_and(|open| !open.over) => {
            state.view.mode = Mode::Term;
        }
        Pane::Output => state.output.press(row.into()),
        Pane::Sandboxes => {}
    }
    Vec::new()
}

fn wheel(state: &mut AppState, pane: Pane, lines: isize) -> Vec<Effect> {
    let lines_seen = state.page(pane);
    match pane {
        Pane::Sandboxes => state.sandboxes.scroll(lines),
        Pane::Editor => state.editor.scroll(lines),
        Pane::Output => match state.shells.current_mut() {
            Some(open) => open.shell.scroll(i32::try_from(-lines).unwrap_or(0)),
            None => state.output.scroll(lines, lines_seen),
        },
        Pane::Files => {
            let wishes = state.files.scroll(lines);
            return fulfil::all(state, wishes);
        }
    }
    Vec::new()
}
