//! One line of text that a person types: prompts, filters, form fields.

use crate::keymap::{Key, KeyCode};

/// Longest line that is taken.
const LONGEST: usize = 4096;

/// Text with a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineInput {
    text: Vec<char>,
    at: usize,
}

impl LineInput {
    /// Starts with some text and the cursor behind it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().filter(|c| !c.is_control()).collect();
        Self {
            at: text.len(),
            text,
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Returns the text before the cursor.
    #[must_use]
    pub fn before_cursor(&self) -> String {
        self.text.iter().take(self.at).collect()
    }

    /// Puts other text before the cursor.
    pub fn replace_before_cursor(&mut self, text: &str) {
        self.clear_before();
        self.insert(text);
    }

    /// Adds text at the cursor, without line breaks and other controls.
    pub fn insert(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.text.len() < LONGEST {
                self.text.insert(self.at, c);
                self.at += 1;
            }
        }
    }

    /// Takes a key; false if it means nothing here.
    pub fn key(&mut self, key: Key) -> bool {
        match (key.code, key.ctrl) {
            (KeyCode::Char('u'), true) => self.clear_before(),
            (KeyCode::Char('w'), true) => self.delete_word(),
            (KeyCode::Char('a'), true) | (KeyCode::Home, _) => self.at = 0,
            (KeyCode::Char('e'), true) | (KeyCode::End, _) => self.at = self.text.len(),
            (KeyCode::Left, _) => self.at = self.at.saturating_sub(1),
            (KeyCode::Right, _) => self.at = (self.at + 1).min(self.text.len()),
            (KeyCode::Backspace, _) => self.delete_before(),
            (KeyCode::Delete, _) => self.delete_after(),
            _ => return self.typed(key),
        }
        true
    }

    fn typed(&mut self, key: Key) -> bool {
        let Some(c) = key.typed() else { return false };
        self.insert(c.encode_utf8(&mut [0; 4]));
        true
    }

    fn clear_before(&mut self) {
        self.text.drain(..self.at);
        self.at = 0;
    }

    fn delete_before(&mut self) {
        if self.at > 0 {
            self.at -= 1;
            self.text.remove(self.at);
        }
    }

    fn delete_after(&mut self) {
        if self.at < self.text.len() {
            self.text.remove(self.at);
        }
    }

    fn delete_word(&mut self) {
        let is_space = |text: &[char], at: usize| text.get(at).is_some_and(|c| c.is_whitespace());
        while self.at > 0 && is_space(&self.text, self.at - 1) {
            self.delete_before();
        }
        while self.at > 0 && !is_space(&self.text, self.at - 1) {
            self.delete_before();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_and_deleting() {
        let mut line = LineInput::new("ab cd");
        let key = |code, ctrl| Key {
            ctrl,
            ..Key::plain(code)
        };
        assert!(line.key(key(KeyCode::Char('w'), true)));
        assert_eq!(line.text(), "ab ");
        line.key(key(KeyCode::Home, false));
        line.insert("x\ny\u{1b}");
        assert_eq!(
            (line.text().as_str(), line.before_cursor().as_str()),
            ("xyab ", "xy")
        );
        line.key(key(KeyCode::Delete, false));
        line.key(key(KeyCode::Backspace, false));
        assert_eq!(line.text(), "xb ");
        line.key(key(KeyCode::End, false));
        line.key(key(KeyCode::Char('u'), true));
        assert_eq!(line.text(), "");
        assert!(!line.key(key(KeyCode::F(3), false)));
    }
}
