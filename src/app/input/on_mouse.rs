//! The mouse: clicks choose panes, rows, columns to sort by, tabs and keys; the wheel scrolls what is under it.

mod shells;
#[cfg(test)]
mod tests;

use ratatui::layout::{Position, Rect};

use super::{hints, on_action, on_overlay};
use crate::app::flows::navigate::focus;
use crate::app::geometry::layout::files_areas;
use crate::app::msg::MouseButton;
use crate::app::panes::tabs;
use crate::app::{AppState, Effect, Mode, Mouse, MouseKind, Pane};
use crate::keymap::Action;

/// Lines a turn of the wheel moves.
const WHEEL: isize = 3;

/// A cell of a pane, counted from the first inside its border.
#[derive(Clone, Copy)]
struct Spot {
    pane: Pane,
    inner: Rect,
    column: u16,
    row: u16,
}

/// Takes what the mouse did.
pub(crate) fn mouse(state: &mut AppState, mouse: Mouse) -> Vec<Effect> {
    let Some(areas) = state.areas() else {
        return Vec::new();
    };
    let position = Position::new(mouse.column, mouse.row);
    let is_over = state.view.overlay.is_some();
    if !is_over && let Some(effects) = shells::in_shell(state, &areas, mouse) {
        return effects;
    }
    let is_wheel = matches!(mouse.kind, MouseKind::WheelDown | MouseKind::WheelUp);
    if mouse.button != MouseButton::Left && !is_wheel {
        return Vec::new();
    }
    if mouse.kind == MouseKind::Press && areas.footer.contains(position) {
        return press_hint(state, usize::from(mouse.column - areas.footer.x));
    }
    if is_over {
        return over(state, mouse);
    }
    let Some(pane) = areas.at(mouse.column, mouse.row) else {
        return Vec::new();
    };
    let Some(inner) = areas.inner(pane) else {
        return Vec::new();
    };
    if !inner.contains(position) {
        return on_border(state, pane, inner, mouse);
    }
    let spot = Spot {
        pane,
        inner,
        column: mouse.column - inner.x,
        row: mouse.row - inner.y,
    };
    in_pane(state, spot, mouse.kind)
}

/// The mouse over what lies over the panes.
fn over(state: &mut AppState, mouse: Mouse) -> Vec<Effect> {
    match mouse.kind {
        MouseKind::Press => on_overlay::press(state, Position::new(mouse.column, mouse.row)),
        MouseKind::WheelDown => on_overlay::wheel(state, WHEEL),
        MouseKind::WheelUp => on_overlay::wheel(state, -WHEEL),
        MouseKind::Drag | MouseKind::Release => {}
    }
    Vec::new()
}

/// Does what the hint under a column says.
fn press_hint(state: &mut AppState, column: usize) -> Vec<Effect> {
    let is_hidden = state.status.current().is_some()
        || state.pending.shown().next().is_some()
        || !state.view.chord.is_empty();
    let badge = state.mode().word().len() + 3;
    let Some(column) = column.checked_sub(badge).filter(|_| !is_hidden) else {
        return Vec::new();
    };
    let room = usize::from(state.view.size.width).saturating_sub(badge);
    let placed = hints::place(state, room);
    let hint = placed.into_iter().find(|hint| hint.holds(column));
    hint.map_or_else(Vec::new, |hint| on_action::run(state, hint.action))
}

/// The border holds tabs; elsewhere it only chooses the pane.
fn on_border(state: &mut AppState, pane: Pane, inner: Rect, mouse: Mouse) -> Vec<Effect> {
    if mouse.kind != MouseKind::Press {
        return Vec::new();
    }
    let effects = go_to(state, pane);
    if mouse.row + 1 == inner.y {
        let column = usize::from(mouse.column.saturating_sub(inner.x));
        press_tab(state, pane, column, inner.width + 2);
    }
    effects
}

fn press_tab(state: &mut AppState, pane: Pane, column: usize, width: u16) {
    match pane {
        Pane::Editor => {
            if let Some(tab) = tabs::buffer(&state.editor, column, width) {
                state.editor.show_tab(tab);
            }
        }
        Pane::Output if state.shells.current().is_some() => {
            if let Some(tab) = tabs::shell(&state.shells, column, width) {
                state.shells.show_at(tab);
            }
        }
        Pane::Output => {
            if let Some(stream) = tabs::run(&state.output, column, width, state.now) {
                state.output.select(stream);
            }
        }
        Pane::Sandboxes | Pane::Files => {}
    }
}

/// Gives a pane the keys, unless it has them.
fn go_to(state: &mut AppState, pane: Pane) -> Vec<Effect> {
    if state.view.focus == pane {
        return Vec::new();
    }
    focus(state, pane)
}

fn in_pane(state: &mut AppState, spot: Spot, kind: MouseKind) -> Vec<Effect> {
    match kind {
        MouseKind::Press => press(state, spot),
        MouseKind::Drag => drag(state, spot),
        MouseKind::WheelDown => wheel(state, spot, WHEEL),
        MouseKind::WheelUp => wheel(state, spot, -WHEEL),
        MouseKind::Release => Vec::new(),
    }
}

fn press(state: &mut AppState, spot: Spot) -> Vec<Effect> {
    let had_keys = state.view.focus == spot.pane;
    let mut effects = go_to(state, spot.pane);
    match spot.pane {
        Pane::Sandboxes => press_list(state, spot),
        Pane::Editor => {
            state.editor.click(spot.column, spot.row);
            state.view.mode = Mode::Edit;
        }
        Pane::Files => effects.extend(press_files(state, spot, had_keys)),
        Pane::Output => press_output(state, spot.row),
    }
    effects
}

/// The first row holds the headings, which sort; the others are sandboxes.
fn press_list(state: &mut AppState, spot: Spot) {
    let width = usize::from(spot.inner.width);
    let height = usize::from(spot.inner.height).saturating_sub(1);
    if let Some(row) = usize::from(spot.row).checked_sub(1) {
        state.sandboxes.click(row, height);
    } else {
        let column = usize::from(spot.column);
        state.sandboxes.click_heading(column, width);
    }
}

/// A click chooses a file; one more on the same opens it.
fn press_files(state: &mut AppState, spot: Spot, had_keys: bool) -> Vec<Effect> {
    let areas = files_areas(spot.inner);
    let place = Position::new(spot.inner.x + spot.column, spot.inner.y + spot.row);
    if !areas.list.contains(place) {
        return Vec::new();
    }
    let before = state.files.cursor().selected();
    let mut intents = state.files.click(usize::from(spot.row));
    let is_same = state.files.cursor().selected() == before
        && state
            .files
            .cursor()
            .row_at(usize::from(spot.row), state.files.listing().len())
            == Some(before);
    if had_keys && is_same {
        let page = usize::from(areas.list.height);
        intents.extend(state.files.on_action(Action::Open, page));
    }
    state.want(intents);
    Vec::new()
}

fn press_output(state: &mut AppState, row: u16) {
    if state.shells.current().is_some_and(|open| !open.over) {
        state.view.mode = Mode::Term;
    } else {
        state.output.press(row.into());
    }
}

fn drag(state: &mut AppState, spot: Spot) -> Vec<Effect> {
    match spot.pane {
        Pane::Editor => state.editor.drag(spot.column, spot.row),
        Pane::Output => state.output.drag(spot.row.into()),
        Pane::Sandboxes | Pane::Files => {}
    }
    Vec::new()
}

fn wheel(state: &mut AppState, spot: Spot, lines: isize) -> Vec<Effect> {
    match spot.pane {
        Pane::Sandboxes => state.sandboxes.scroll(lines),
        Pane::Editor => state.editor.scroll(lines),
        Pane::Output => match state.shells.current_mut() {
            Some(open) => open.shell.scroll(i32::try_from(-lines).unwrap_or(0)),
            None => state.output.scroll(lines, state.page(Pane::Output)),
        },
        Pane::Files => return wheel_files(state, spot, lines),
    }
    Vec::new()
}

fn wheel_files(state: &mut AppState, spot: Spot, lines: isize) -> Vec<Effect> {
    let place = Position::new(spot.inner.x + spot.column, spot.inner.y + spot.row);
    let preview = files_areas(spot.inner).preview;
    if preview.is_some_and(|preview| preview.contains(place)) {
        state.files.scroll_preview(lines);
        return Vec::new();
    }
    let intents = state.files.scroll(lines);
    state.want(intents);
    Vec::new()
}
