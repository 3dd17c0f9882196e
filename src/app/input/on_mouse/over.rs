//! The mouse over what lies over the panes: buttons, tabs, fields and rows.

use ratatui::layout::{Margin, Position, Rect};

use super::WHEEL;
use crate::app::geometry::layout::{confirm_area, inspect_area};
use crate::app::geometry::list_box;
use crate::app::input::on_overlay;
use crate::app::overlays::inspect;
use crate::app::overlays::inspect::Tab;
use crate::app::overlays::overlay::{Confirm, Overlay};
use crate::app::{AppState, Effect, Mouse, MouseKind};
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
        Some(
            Overlay::Palette(_)
            | Overlay::Columns { .. }
            | Overlay::Reap(_)
            | Overlay::History(_)
            | Overlay::Snippets(_)
            | Overlay::Cache(_)
            | Overlay::Run(_),
        ) => press_row(state, at),
        Some(Overlay::Create(_)) => {
            press_form(state, at);
            Vec::new()
        }
        Some(
            Overlay::Help { .. }
            | Overlay::Log { .. }
            | Overlay::Events { .. }
            | Overlay::Findings { .. }
            | Overlay::Comparison(_)
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

/// Chooses a row; what that does is what it does by keys in such a list.
fn press_row(state: &mut AppState, at: Position) -> Vec<Effect> {
    let Some(list_box) = list_box::of(state) else {
        return Vec::new();
    };
    let (Some(row), Some(overlay)) = (list_box.row_at(at), &mut state.view.overlay) else {
        return Vec::new();
    };
    list_box::choose(overlay, row);
    let action = match overlay {
        Overlay::Palette(_) => Action::Accept,
        Overlay::Columns { .. } | Overlay::Reap(_) => Action::Mark,
        // As with files, one more click on the same opens it.
        Overlay::History(_) | Overlay::Snippets(_) if row == list_box.at => Action::Open,
        _ => return Vec::new(),
    };
    on_overlay::run(state, action)
}

/// Goes to a field, or picks what is offered for the one that has the keys.
fn press_form(state: &mut AppState, at: Position) {
    let screen = state.view.size;
    let Some(Overlay::Create(form)) = &mut state.view.overlay else {
        return;
    };
    if let Some(field) = form.field_box(screen).row_at(at) {
        form.go_to(field);
    } else if let Some(choice) = form.choice_box(screen).row_at(at) {
        form.pick_at(choice);
        form.refresh(&state.settings.config);
    }
}
