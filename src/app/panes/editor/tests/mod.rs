//! Plays with the editor as a person would, without a screen.

mod files;
mod hard;
mod typing;

use chrono::{DateTime, Utc};

use super::*;
use crate::app::{Expect, Prompt};
use crate::domain::{HostName, SandboxId, SandboxPath, SandboxRef};
use crate::keymap::{Key, KeyCode};
use crate::protocol::{Failure, FailureKind};

fn sandbox() -> SandboxRef {
    SandboxRef::new(HostName::new("local"), SandboxId::new("abc"))
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text.as_bytes()).expect("a valid path")
}

fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).expect("a valid time")
}

fn empty() -> EditorState {
    let mut editor = EditorState::new();
    editor.on_action(Action::NewBuffer);
    editor
}

fn opened(name: &str, bytes: &[u8]) -> EditorState {
    let mut editor = EditorState::new();
    editor.loaded(sandbox(), path(name), Some(time(1)), Ok(bytes.to_vec()));
    editor
}

fn press(editor: &mut EditorState, code: KeyCode) {
    editor.type_key(Key::plain(code));
}

fn with(code: KeyCode, modifier: &str) -> Key {
    Key {
        code,
        ctrl: modifier == "ctrl",
        alt: modifier == "alt",
        shift: modifier == "shift",
    }
}

fn write(editor: &mut EditorState, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => press(editor, KeyCode::Enter),
            '\t' => press(editor, KeyCode::Tab),
            c => press(editor, KeyCode::Char(c)),
        }
    }
}
