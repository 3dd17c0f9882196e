//! What a terminal sends for the mouse, in the encoding that the program asked for.

use vt100::{MouseProtocolEncoding as Encoding, MouseProtocolMode as Mode};

use super::ShellState;
use crate::app::msg::MouseButton;
use crate::keymap::{Key, KeyCode};

/// How far the wheel moves where a program that fills the screen knows no mouse.
const WHEEL_LINES: usize = 3;

/// The largest number that fits into a byte above the control characters.
const MOST_IN_BYTE: u16 = 223;

/// The largest number that fits into two bytes of UTF-8 above the control characters.
const MOST_IN_UTF8: u16 = 2_015;

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAct {
    /// A button goes down.
    Press(MouseButton),
    /// A button goes up.
    Release(MouseButton),
    /// The mouse moves with a button down.
    Drag(MouseButton),
    /// The mouse moves.
    Move,
    /// The wheel turns away from the hand.
    WheelUp,
    /// The wheel turns towards the hand.
    WheelDown,
}

/// The mouse over a shell, with cells counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellMouse {
    /// What it does.
    pub act: MouseAct,
    /// Column of the shell's screen.
    pub column: u16,
    /// Row of the shell's screen.
    pub row: u16,
    /// With Ctrl.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift.
    pub shift: bool,
}

impl ShellState {
    /// Returns what to send for the mouse, or nothing where the program does not want to know.
    ///
    /// In a program that fills the screen and knows no mouse, the wheel moves the cursor, as other terminals do it.
    #[must_use]
    pub fn mouse_bytes(&self, mouse: ShellMouse) -> Option<Vec<u8>> {
        let (rows, columns) = self.screen().size();
        let is_inside = mouse.row < rows.get() && mouse.column < columns.get();
        if self.ended.is_some() || self.is_scrolled() || !is_inside {
            return None;
        }
        match self.screen().mouse_protocol_mode() {
            Mode::None => self.wheel_as_keys(mouse.act),
            mode if wants(mode, mouse.act) => self.report(mouse, mode),
            _ => None,
        }
    }

    fn wheel_as_keys(&self, act: MouseAct) -> Option<Vec<u8>> {
        if !self.screen().alternate_screen() {
            return None;
        }
        let code = match act {
            MouseAct::WheelUp => KeyCode::Up,
            MouseAct::WheelDown => KeyCode::Down,
            _ => return None,
        };
        Some(self.key_bytes(Key::plain(code))?.repeat(WHEEL_LINES))
    }

    fn report(&self, mouse: ShellMouse, mode: Mode) -> Option<Vec<u8>> {
        // The oldest mode knows no modifiers.
        let held = if mode == Mode::Press { 0 } else { held(mouse) };
        let (column, row) = (mouse.column + 1, mouse.row + 1);
        let is_release = matches!(mouse.act, MouseAct::Release(_));
        if self.screen().mouse_protocol_encoding() == Encoding::Sgr {
            let last = if is_release { 'm' } else { 'M' };
            let code = code(mouse.act) + held;
            return Some(format!("\x1b[<{code};{column};{row}{last}").into_bytes());
        }
        // The older encodings do not tell which button went up.
        let code = if is_release { 3 } else { code(mouse.act) } + held;
        let mut bytes = b"\x1b[M".to_vec();
        for number in [code, column, row] {
            bytes.extend(self.old_number(number)?);
        }
        Some(bytes)
    }

    fn old_number(&self, number: u16) -> Option<Vec<u8>> {
        let shifted = number + 32;
        if self.screen().mouse_protocol_encoding() == Encoding::Utf8 {
            let c = char::from_u32(shifted.into()).filter(|_| number <= MOST_IN_UTF8)?;
            return Some(c.to_string().into_bytes());
        }
        let byte = u8::try_from(shifted)
            .ok()
            .filter(|_| number <= MOST_IN_BYTE)?;
        Some(vec![byte])
    }
}

/// Tells whether a program in this mode wants to know.
fn wants(mode: Mode, act: MouseAct) -> bool {
    match act {
        MouseAct::Press(_) => mode != Mode::None,
        MouseAct::Release(_) | MouseAct::WheelUp | MouseAct::WheelDown => {
            !matches!(mode, Mode::None | Mode::Press)
        }
        MouseAct::Drag(_) => matches!(mode, Mode::ButtonMotion | Mode::AnyMotion),
        MouseAct::Move => mode == Mode::AnyMotion,
    }
}

fn code(act: MouseAct) -> u16 {
    match act {
        MouseAct::Press(button) | MouseAct::Release(button) => number(button),
        MouseAct::Drag(button) => number(button) + 32,
        MouseAct::Move => 35,
        MouseAct::WheelUp => 64,
        MouseAct::WheelDown => 65,
    }
}

fn number(button: MouseButton) -> u16 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
    }
}

fn held(mouse: ShellMouse) -> u16 {
    4 * u16::from(mouse.shift) + 8 * u16::from(mouse.alt) + 16 * u16::from(mouse.ctrl)
}

#[cfg(test)]
mod tests {
    use super::super::tests::shell;
    use super::*;

    const LEFT: MouseAct = MouseAct::Press(MouseButton::Left);
    const UP: MouseAct = MouseAct::Release(MouseButton::Right);
    const DRAG: MouseAct = MouseAct::Drag(MouseButton::Left);

    fn at(act: MouseAct, column: u16, row: u16) -> ShellMouse {
        ShellMouse {
            act,
            column,
            row,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    fn sent(modes: &str, act: MouseAct) -> Option<String> {
        let shell = shell(300, 50, modes.as_bytes());
        shell
            .mouse_bytes(at(act, 4, 9))
            .and_then(|bytes| String::from_utf8(bytes).ok())
    }

    #[test]
    fn nothing_is_sent_unasked() {
        for act in [LEFT, UP, DRAG, MouseAct::Move, MouseAct::WheelUp] {
            assert_eq!(sent("", act), None);
            assert_eq!(sent("\x1b[?1000h\x1b[?1000l", act), None);
        }
    }

    #[test]
    fn reports_in_the_encoding_asked_for() {
        let table = [
            ("\x1b[?1000;1006h", LEFT, Some("\x1b[<0;5;10M")),
            ("\x1b[?1000;1006h", UP, Some("\x1b[<2;5;10m")),
            (
                "\x1b[?1000;1006h",
                MouseAct::WheelDown,
                Some("\x1b[<65;5;10M"),
            ),
            ("\x1b[?1000;1006h", DRAG, None),
            ("\x1b[?1002;1006h", DRAG, Some("\x1b[<32;5;10M")),
            ("\x1b[?1002;1006h", MouseAct::Move, None),
            ("\x1b[?1003;1006h", MouseAct::Move, Some("\x1b[<35;5;10M")),
            ("\x1b[?1000h", LEFT, Some("\x1b[M %*")),
            ("\x1b[?1000h", UP, Some("\x1b[M#%*")),
            ("\x1b[?9h", LEFT, Some("\x1b[M %*")),
            ("\x1b[?9h", UP, None),
            ("\x1b[?9h", MouseAct::WheelUp, None),
            ("\x1b[?1000;1005h", LEFT, Some("\x1b[M %*")),
        ];
        for (modes, act, expected) in table {
            assert_eq!(sent(modes, act).as_deref(), expected, "{modes:?} {act:?}");
        }
    }

    #[test]
    fn far_columns_need_a_newer_encoding() {
        let far = at(LEFT, 250, 0);
        assert_eq!(shell(300, 2, b"\x1b[?1000h").mouse_bytes(far), None);
        let utf8 = shell(300, 2, b"\x1b[?1000;1005h").mouse_bytes(far);
        assert_eq!(utf8, Some("\x1b[M \u{11b}!".as_bytes().to_vec()));
    }

    #[test]
    fn modifiers_are_told() {
        let mut mouse = at(LEFT, 0, 0);
        (mouse.ctrl, mouse.shift) = (true, true);
        let bytes = shell(9, 2, b"\x1b[?1000;1006h").mouse_bytes(mouse);
        assert_eq!(bytes, Some(b"\x1b[<20;1;1M".to_vec()));
    }

    #[test]
    fn clicks_beside_the_screen_or_into_the_past_are_ours() {
        let mut shell = shell(9, 2, b"1\r\n2\r\n3\x1b[?1000;1006h");
        assert_eq!(shell.mouse_bytes(at(LEFT, 9, 0)), None);
        assert_eq!(shell.mouse_bytes(at(LEFT, 0, 2)), None);
        assert!(shell.mouse_bytes(at(LEFT, 8, 1)).is_some());
        shell.scroll(1);
        assert_eq!(shell.mouse_bytes(at(LEFT, 8, 1)), None);
    }

    #[test]
    fn the_wheel_moves_the_cursor_of_programs_without_mouse() {
        let up = Some("\x1b[A\x1b[A\x1b[A".to_owned());
        assert_eq!(sent("\x1b[?1049h", MouseAct::WheelUp), up);
        assert_eq!(sent("\x1b[?1049h", LEFT), None);
    }
}
