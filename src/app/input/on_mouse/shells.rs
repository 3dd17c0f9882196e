//! The mouse in a shell: it belongs to the program there, if that has asked for it.

use ratatui::layout::Position;

use crate::app::flows::shell::shell_input;
use crate::app::geometry::layout::Areas;
use crate::app::panes::shell::{MouseAct, ShellMouse};
use crate::app::{AppState, Effect, Mode, Mouse, MouseKind, Pane};

/// Gives the mouse to the program in the shell that has the keys, if it wants it.
pub(super) fn in_shell(state: &mut AppState, areas: &Areas, mouse: Mouse) -> Option<Vec<Effect>> {
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
    Some(shell_input(state, &bytes))
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

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::app::Msg;
    use crate::app::msg::MouseButton;
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
        let many: &[u8] = include_bytes!("../on_mouse.rs");
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
