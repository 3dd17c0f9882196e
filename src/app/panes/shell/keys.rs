//! What a terminal sends for keys, as xterm does it.

use super::ShellState;
use crate::keymap::{Key, KeyCode};

const ESCAPE: u8 = 0x1b;

impl ShellState {
    /// Returns what to send for a key, or nothing if the shell has ended or no terminal sends anything for it.
    #[must_use]
    pub fn key_bytes(&self, key: Key) -> Option<Vec<u8>> {
        if self.ended.is_some() {
            return None;
        }
        match key.code {
            KeyCode::Char(c) => Some(with_alt(key, typed(c, key.ctrl))),
            KeyCode::Enter => Some(with_alt(key, vec![b'\r'])),
            KeyCode::Esc => Some(with_alt(key, vec![ESCAPE])),
            KeyCode::Tab if key.shift => Some(b"\x1b[Z".to_vec()),
            KeyCode::Tab => Some(with_alt(key, vec![b'\t'])),
            KeyCode::BackTab => Some(b"\x1b[Z".to_vec()),
            KeyCode::Backspace => Some(with_alt(key, vec![backspace(key)])),
            KeyCode::Up => Some(self.cursor_key(key, 'A')),
            KeyCode::Down => Some(self.cursor_key(key, 'B')),
            KeyCode::Right => Some(self.cursor_key(key, 'C')),
            KeyCode::Left => Some(self.cursor_key(key, 'D')),
            KeyCode::Home => Some(self.cursor_key(key, 'H')),
            KeyCode::End => Some(self.cursor_key(key, 'F')),
            KeyCode::Insert => Some(numbered(key, 2)),
            KeyCode::Delete => Some(numbered(key, 3)),
            KeyCode::PageUp => Some(numbered(key, 5)),
            KeyCode::PageDown => Some(numbered(key, 6)),
            KeyCode::F(number) => function_key(key, number),
        }
    }

    fn cursor_key(&self, key: Key, letter: char) -> Vec<u8> {
        match modifiers(key) {
            None if self.screen().application_cursor() => format!("\x1bO{letter}"),
            None => format!("\x1b[{letter}"),
            Some(held) => format!("\x1b[1;{held}{letter}"),
        }
        .into_bytes()
    }
}

/// Returns xterm's number for the modifiers held.
fn modifiers(key: Key) -> Option<u8> {
    let held = u8::from(key.shift) + 2 * u8::from(key.alt) + 4 * u8::from(key.ctrl);
    (held > 0).then_some(held + 1)
}

fn with_alt(key: Key, bytes: Vec<u8>) -> Vec<u8> {
    if key.alt {
        [vec![ESCAPE], bytes].concat()
    } else {
        bytes
    }
}

fn backspace(key: Key) -> u8 {
    if key.ctrl { 0x08 } else { 0x7f }
}

fn typed(c: char, ctrl: bool) -> Vec<u8> {
    match control(c).filter(|_| ctrl) {
        Some(byte) => vec![byte],
        None => c.to_string().into_bytes(),
    }
}

/// Returns the control character that Ctrl makes of a character; the digits are those of the VT220.
fn control(c: char) -> Option<u8> {
    match c {
        'a'..='z' | 'A'..='Z' | '[' | '\\' | ']' | '^' | '_' => {
            u8::try_from(c).ok().map(|b| b & 0x1f)
        }
        ' ' | '@' | '2' => Some(0x00),
        '3' => Some(0x1b),
        '4' => Some(0x1c),
        '5' => Some(0x1d),
        '6' => Some(0x1e),
        '7' | '/' => Some(0x1f),
        '8' | '?' => Some(0x7f),
        _ => None,
    }
}

fn numbered(key: Key, number: u8) -> Vec<u8> {
    match modifiers(key) {
        None => format!("\x1b[{number}~"),
        Some(held) => format!("\x1b[{number};{held}~"),
    }
    .into_bytes()
}

fn function_key(key: Key, number: u8) -> Option<Vec<u8>> {
    match number {
        1..=4 => Some(keypad_key(key, char::from(b'P' + number - 1))),
        5 => Some(numbered(key, 15)),
        6..=10 => Some(numbered(key, number + 11)),
        11..=14 => Some(numbered(key, number + 12)),
        15 | 16 => Some(numbered(key, number + 13)),
        17..=20 => Some(numbered(key, number + 14)),
        _ => None,
    }
}

/// Encodes F1 to F4, which were keys of the number pad once.
fn keypad_key(key: Key, letter: char) -> Vec<u8> {
    match modifiers(key) {
        None => format!("\x1bO{letter}"),
        Some(held) => format!("\x1b[1;{held}{letter}"),
    }
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::tests::shell;
    use super::*;

    fn sent(shell: &ShellState, key: &str) -> Option<String> {
        let bytes = shell.key_bytes(key.parse().ok()?)?;
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn keys_are_sent_as_xterm_does() {
        let shell = shell(10, 2, b"");
        let table = [
            ("a", "a"),
            ("A", "A"),
            ("é", "é"),
            ("space", " "),
            ("ctrl-c", "\x03"),
            ("ctrl-C", "\x03"),
            ("ctrl-space", "\0"),
            ("ctrl-[", "\x1b"),
            ("ctrl-_", "\x1f"),
            ("ctrl-é", "é"),
            ("alt-x", "\x1bx"),
            ("ctrl-alt-x", "\x1b\x18"),
            ("enter", "\r"),
            ("alt-enter", "\x1b\r"),
            ("esc", "\x1b"),
            ("tab", "\t"),
            ("shift-tab", "\x1b[Z"),
            ("backspace", "\x7f"),
            ("ctrl-backspace", "\x08"),
            ("alt-backspace", "\x1b\x7f"),
            ("up", "\x1b[A"),
            ("ctrl-right", "\x1b[1;5C"),
            ("shift-alt-left", "\x1b[1;4D"),
            ("home", "\x1b[H"),
            ("shift-end", "\x1b[1;2F"),
            ("insert", "\x1b[2~"),
            ("delete", "\x1b[3~"),
            ("ctrl-delete", "\x1b[3;5~"),
            ("pageup", "\x1b[5~"),
            ("pagedown", "\x1b[6~"),
            ("f1", "\x1bOP"),
            ("f4", "\x1bOS"),
            ("shift-f1", "\x1b[1;2P"),
        ];
        for (key, expected) in table {
            assert_eq!(sent(&shell, key).as_deref(), Some(expected), "{key}");
        }
    }

    #[test]
    fn function_keys_skip_the_numbers_that_xterm_skips() {
        let shell = shell(10, 2, b"");
        let numbers = [
            15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34,
        ];
        for (key, number) in (5..).zip(numbers) {
            let expected = format!("\x1b[{number}~");
            assert_eq!(sent(&shell, &format!("f{key}")), Some(expected), "F{key}");
        }
        assert_eq!(sent(&shell, "f21"), None);
    }

    #[test]
    fn arrows_obey_the_cursor_mode() {
        let mut shell = shell(10, 2, b"\x1b[?1h");
        assert_eq!(sent(&shell, "up").as_deref(), Some("\x1bOA"));
        assert_eq!(sent(&shell, "home").as_deref(), Some("\x1bOH"));
        assert_eq!(sent(&shell, "ctrl-up").as_deref(), Some("\x1b[1;5A"));
        shell.push(b"\x1b[?1l");
        assert_eq!(sent(&shell, "up").as_deref(), Some("\x1b[A"));
    }

    #[test]
    fn nothing_is_sent_to_a_shell_that_has_ended() {
        let mut shell = shell(10, 2, b"");
        shell.end("ended");
        assert_eq!(sent(&shell, "a"), None);
    }
}
