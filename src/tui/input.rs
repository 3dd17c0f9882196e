//! What the terminal sends, in our words.

use crossterm::event::{
    Event, KeyCode as Code, KeyEvent, KeyEventKind, KeyModifiers, MouseButton as Button,
    MouseEvent, MouseEventKind,
};

use crate::app::msg::MouseButton;
use crate::app::{Mouse, MouseKind, Msg};
use crate::keymap::{Key, KeyCode};

/// Turns a terminal event into a message; some mean nothing to us.
pub(super) fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(key).map(Msg::Key),
        Event::Mouse(mouse) => self::mouse(mouse).map(Msg::Mouse),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resize { width, height }),
        _ => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let code = match event.code {
        Code::Char(c) => KeyCode::Char(c),
        Code::F(n) => KeyCode::F(n),
        Code::Enter => KeyCode::Enter,
        Code::Esc => KeyCode::Esc,
        Code::Tab => KeyCode::Tab,
        Code::BackTab => KeyCode::BackTab,
        Code::Backspace => KeyCode::Backspace,
        Code::Delete => KeyCode::Delete,
        Code::Insert => KeyCode::Insert,
        Code::Up => KeyCode::Up,
        Code::Down => KeyCode::Down,
        Code::Left => KeyCode::Left,
        Code::Right => KeyCode::Right,
        Code::Home => KeyCode::Home,
        Code::End => KeyCode::End,
        Code::PageUp => KeyCode::PageUp,
        Code::PageDown => KeyCode::PageDown,
        _ => return None,
    };
    let has = |modifier| event.modifiers.contains(modifier);
    // A capital letter says itself that Shift was held, so does the key that goes back, and with the others here most
    // terminals do not tell it.
    let shift = has(KeyModifiers::SHIFT)
        && !matches!(
            code,
            KeyCode::Char(_)
                | KeyCode::BackTab
                | KeyCode::Enter
                | KeyCode::Backspace
                | KeyCode::Esc
        );
    Some(Key {
        code,
        ctrl: has(KeyModifiers::CONTROL),
        alt: has(KeyModifiers::ALT),
        shift,
    })
}

fn mouse(event: MouseEvent) -> Option<Mouse> {
    let (kind, button) = match event.kind {
        MouseEventKind::Down(button) => (MouseKind::Press, button),
        MouseEventKind::Drag(button) => (MouseKind::Drag, button),
        MouseEventKind::Up(button) => (MouseKind::Release, button),
        MouseEventKind::ScrollDown => (MouseKind::WheelDown, Button::Left),
        MouseEventKind::ScrollUp => (MouseKind::WheelUp, Button::Left),
        _ => return None,
    };
    let has = |modifier| event.modifiers.contains(modifier);
    Some(Mouse {
        kind,
        column: event.column,
        row: event.row,
        button: match button {
            Button::Left => MouseButton::Left,
            Button::Middle => MouseButton::Middle,
            Button::Right => MouseButton::Right,
        },
        ctrl: has(KeyModifiers::CONTROL),
        alt: has(KeyModifiers::ALT),
        shift: has(KeyModifiers::SHIFT),
    })
}
