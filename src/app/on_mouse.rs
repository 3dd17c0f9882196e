//! The mouse: clicks choose panes and rows, the wheel scrolls what is under it.

use ratatui::layout::{Position, Rect};

use super::layout::{Areas, files_areas};
use super::overlay::Overlay;
use super::shell::{MouseAct, MouseButton, ShellMouse};
use super::{AppState, Effect, Mode, Mouse, MouseKind, Pane, Wish, fulfil, streams};

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
    if let Some(effects) = in_shell(state, &areas, mouse) {
        return effects;
    }
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
    let inside = inner.contains(Position::new(mouse.column, mouse.row));
    match mouse.kind {
        _ if mouse.button != MouseButton::Left => {}
        MouseKind::Press if is_preview(inner, pane, mouse) => {
            state.view.mode = Mode::Nav;
            state.view.focus = pane;
        }
        MouseKind::Press => {
            let wishes = press(state, pane, column, row, inside);
            return fulfil::all(state, wishes);
        }
        MouseKind::Drag if pane == Pane::Editor && inside => state.editor.drag(column, row),
        MouseKind::Drag if pane == Pane::Output && inside => state.output.drag(row.into()),
        MouseKind::WheelDown | MouseKind::WheelUp if is_preview(inner, pane, mouse) => {
            state.files.scroll_preview(turn(mouse.kind));
        }
        MouseKind::WheelDown | MouseKind::WheelUp => return wheel(state, pane, turn(mouse.kind)),
        MouseKind::Drag | MouseKind::Release => {}
    }
    Vec::new()
}

/// Gives the mouse to the program in the shell that has the keys, if it wants it.
fn in_shell(state: &mut AppState, areas: &Areas, mouse: Mouse) -> Option<Vec<Effect>> {
    let inner = areas.inner(Pane::Output)?;
    let (column, row) = (mouse.column, mouse.row);
    let is_inside = inner.contains(Position::new(column, row));
    // A button that was pressed inside may be moved and let go anywhere.
    let is_held = matches!(mouse.kind, MouseKind::Drag | MouseKind::Release);
    if state.view.mode != Mode::Term || !(is_inside || is_held) {
        return None;
    }
    let last = |start: u16, length: u16| (start + length).saturating_sub(1);
    let bytes = state.shells.current()?.shell.mouse_bytes(ShellMouse {
        act: act(mouse),
        column: column.clamp(inner.x, last(inner.x, inner.width)) - inner.x,
        row: row.clamp(inner.y, last(inner.y, inner.height)) - inner.y,
        ctrl: mouse.ctrl,
        alt: mouse.alt,
        shift: mouse.shift,
    })?;
    Some(streams::shell_input(state, &bytes))
}

fn act(mouse: Mouse) -> MouseAct {
    match mouse.kind {
        MouseKind::Press => MouseAct::Press(mouse.button),
        MouseKind::Drag => MouseAct::Drag(mouse.button),
        MouseKind::Release => MouseAct::Release(mouse.button),
        MouseKind::WheelDown => MouseAct::WheelDown,
        MouseKind::WheelUp => MouseAct::WheelUp,
    }
}

/// Tells whether the mouse is over the preview of a file.
fn is_preview(inner: Rect, pane: Pane, mouse: Mouse) -> bool {
    let at = Position::new(mouse.column, mouse.row);
    let preview = files_areas(inner).preview;
    pane == Pane::Files && preview.is_some_and(|preview| preview.contains(at))
}

/// Returns the lines that a turn of the wheel moves down.
fn turn(kind: MouseKind) -> isize {
    if kind == MouseKind::WheelDown {
        WHEEL
    } else {
        -WHEEL
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Msg;
    use crate::app::testing::App;
    use crate::domain::{OutputChunk, StreamId, StreamKind};
    use crate::protocol::{Command, Event};

    fn mouse(kind: MouseKind, column: u16, row: u16) -> Msg {
        Msg::Mouse(Mouse {
            kind,
            column,
            row,
            button: MouseButton::Left,
            ctrl: false,
            alt: false,
            shift: false,
        })
    }

    /// An app with a shell that has the keys and wrote this, and where its screen is.
    fn with_shell(bytes: &'static [u8]) -> (App, Rect) {
        let mut app = App::with(160, 48, &["alpha"]);
        app.keys("x");
        let stream = app.state.shells.current().map(|open| open.shell.stream);
        let chunk = OutputChunk {
            stream: StreamKind::Stdout,
            bytes: bytes.into(),
        };
        let stream = stream.unwrap_or(StreamId(0));
        app.engine(Event::Output { stream, chunk });
        app.effects.clear();
        let inner = app
            .state
            .areas()
            .and_then(|areas| areas.inner(Pane::Output));
        (app, inner.expect("an output pane"))
    }

    fn sent(app: &mut App) -> Vec<String> {
        let sent = app
            .commands()
            .into_iter()
            .filter_map(|command| match command {
                Command::Input { bytes, .. } => Some(String::from_utf8_lossy(&bytes).into_owned()),
                _ => None,
            });
        sent.collect()
    }

    #[test]
    fn a_program_that_asks_for_the_mouse_gets_it() {
        let (mut app, inner) = with_shell(b"\x1b[?1002h\x1b[?1006h");
        app.tell(mouse(MouseKind::Press, inner.x + 4, inner.y + 2));
        app.tell(mouse(MouseKind::Drag, inner.x + 5, inner.y + 2));
        app.tell(mouse(MouseKind::Release, 0, inner.y + 2));
        app.tell(mouse(MouseKind::WheelUp, inner.x, inner.y));
        assert_eq!(
            sent(&mut app),
            [
                "\x1b[<0;5;3M",
                "\x1b[<32;6;3M",
                "\x1b[<0;1;3m",
                "\x1b[<64;1;1M"
            ]
        );
        app.keys("ctrl-q");
        app.tell(mouse(MouseKind::WheelUp, inner.x, inner.y));
        assert_eq!(sent(&mut app), Vec::<String>::new());
    }

    #[test]
    fn without_the_wish_of_a_program_the_wheel_scrolls_and_clicks_go_elsewhere() {
        let many: &[u8] = include_bytes!("on_mouse.rs");
        let (mut app, inner) = with_shell(many);
        app.tell(mouse(MouseKind::WheelUp, inner.x, inner.y));
        let back = app
            .state
            .shells
            .current()
            .map(|open| open.shell.lines_back());
        assert_eq!(back, Some(3));
        app.tell(mouse(MouseKind::Press, 3, 3));
        assert_eq!(
            (app.state.view.focus, app.state.view.mode),
            (Pane::Sandboxes, Mode::Nav)
        );
        assert_eq!(sent(&mut app), Vec::<String>::new());
    }
}
