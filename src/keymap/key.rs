//! A key press, independent of the terminal library: read from keymaps, written for them and for people.

use std::fmt;
use std::str::FromStr;

/// The most function keys that a terminal can tell apart.
const MOST_F: u8 = 24;

/// The named keys: as written in keymaps, as shown to people.
const NAMES: [(KeyCode, &str, &str); 17] = [
    (KeyCode::Enter, "enter", "Enter"),
    (KeyCode::Esc, "esc", "Esc"),
    (KeyCode::Tab, "tab", "Tab"),
    (KeyCode::BackTab, "backtab", "Shift+Tab"),
    (KeyCode::Backspace, "backspace", "Backspace"),
    (KeyCode::Delete, "delete", "Del"),
    (KeyCode::Insert, "insert", "Ins"),
    (KeyCode::Up, "up", "Up"),
    (KeyCode::Down, "down", "Down"),
    (KeyCode::Left, "left", "Left"),
    (KeyCode::Right, "right", "Right"),
    (KeyCode::Home, "home", "Home"),
    (KeyCode::End, "end", "End"),
    (KeyCode::PageUp, "pageup", "PgUp"),
    (KeyCode::PageDown, "pagedown", "PgDn"),
    // A space between keys separates them, so the key itself needs a name.
    (KeyCode::Char(' '), "space", "Space"),
    // Typed by hand more often than looked up.
    (KeyCode::Esc, "escape", "Esc"),
];

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyCode {
    /// A character.
    Char(char),
    /// F1 to F24.
    F(u8),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab, as terminals send it.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

impl KeyCode {
    /// Returns its name in keymaps and for people, if it has one.
    fn names(self) -> Option<(&'static str, &'static str)> {
        let row = NAMES.iter().find(|(code, ..)| *code == self);
        row.map(|(_, written, shown)| (*written, *shown))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return (!c.is_control() && !c.is_whitespace()).then_some(Self::Char(c));
        }
        let name = text.to_ascii_lowercase();
        if let Some((code, ..)) = NAMES.iter().find(|(_, written, _)| *written == name) {
            return Some(*code);
        }
        let number = name
            .strip_prefix('f')
            .filter(|rest| !rest.starts_with('+'))?;
        let number: u8 = number.parse().ok()?;
        (1..=MOST_F).contains(&number).then_some(Self::F(number))
    }
}

/// A key with its modifiers. Shift is kept only where it is not in the character itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// With Ctrl.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift.
    pub shift: bool,
}

/// A text that names no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoKey;

impl Key {
    /// Describes a key without modifiers.
    #[must_use]
    pub fn plain(code: KeyCode) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    /// Returns the same key in the one form that is compared: Shift goes into the character or Tab.
    #[must_use]
    pub fn normal(mut self) -> Self {
        self.code = match self.code {
            KeyCode::Char(c) if self.shift => KeyCode::Char(c.to_ascii_uppercase()),
            KeyCode::Tab if self.shift => KeyCode::BackTab,
            code => code,
        };
        self.shift &= !matches!(self.code, KeyCode::Char(_) | KeyCode::BackTab);
        self
    }

    /// Returns the character it types, if it types one.
    #[must_use]
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }

    /// Returns it as people write it, in ASCII: `Ctrl+R`, `PgUp`, `x`.
    #[must_use]
    pub fn pretty(self) -> String {
        let mut shift = self.shift;
        let name = match self.code {
            KeyCode::F(number) => format!("F{number}"),
            // Keyboards show capitals, so Ctrl goes with one; a capital that counts is told by Shift.
            KeyCode::Char(c) if self.ctrl && c.is_ascii_alphabetic() => {
                shift |= c.is_ascii_uppercase();
                c.to_ascii_uppercase().to_string()
            }
            code => self.named(code.names().map(|(_, shown)| shown)),
        };
        let modifiers = [(self.ctrl, "Ctrl+"), (self.alt, "Alt+"), (shift, "Shift+")];
        prefixed(modifiers, &name)
    }

    fn named(self, name: Option<&str>) -> String {
        match (name, self.code) {
            (Some(name), _) => name.to_owned(),
            (None, KeyCode::Char(c)) => c.to_string(),
            (None, code) => format!("{code:?}"),
        }
    }

    /// Takes one modifier off the start of a text.
    fn take_modifier<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let (word, rest) = text.split_once('-').filter(|(_, rest)| !rest.is_empty())?;
        let modifier = match word.to_ascii_lowercase().as_str() {
            "ctrl" => &mut self.ctrl,
            "alt" => &mut self.alt,
            "shift" => &mut self.shift,
            _ => return None,
        };
        let is_new = !std::mem::replace(modifier, true);
        is_new.then_some(rest)
    }
}

fn prefixed(modifiers: [(bool, &str); 3], name: &str) -> String {
    let held = modifiers.iter().filter(|(is_held, _)| *is_held);
    held.map(|(_, word)| *word).chain([name]).collect()
}

impl fmt::Display for Key {
    /// Writes it as keymaps spell it: `ctrl-r`, `pageup`, `x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.code {
            KeyCode::F(number) => format!("f{number}"),
            code => self.named(code.names().map(|(written, _)| written)),
        };
        let modifiers = [
            (self.ctrl, "ctrl-"),
            (self.alt, "alt-"),
            (self.shift, "shift-"),
        ];
        f.write_str(&prefixed(modifiers, &name))
    }
}

impl FromStr for Key {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut key = Self::plain(KeyCode::Esc);
        let mut rest = text;
        while let Some(after) = key.take_modifier(rest) {
            rest = after;
        }
        key.code = KeyCode::parse(rest).ok_or(NoKey)?;
        Ok(key.normal())
    }
}

/// Reads keys that are pressed one after the other, such as `g g`.
pub(super) fn parse_chord(text: &str) -> Result<Vec<Key>, NoKey> {
    let keys: Vec<Key> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    if keys.is_empty() {
        Err(NoKey)
    } else {
        Ok(keys)
    }
}

/// Writes keys that are pressed one after the other as keymaps spell them.
pub(super) fn write_chord(keys: &[Key]) -> String {
    let words: Vec<String> = keys.iter().map(Key::to_string).collect();
    words.join(" ")
}

/// Writes keys that are pressed one after the other as people do.
#[must_use]
pub fn pretty_chord(keys: &[Key]) -> String {
    let words: Vec<String> = keys.iter().map(|key| key.pretty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.parse().expect("a key")
    }

    #[test]
    fn reads_and_writes_keys() {
        let cases = [
            ("x", "x", "x"),
            ("G", "G", "G"),
            ("shift-g", "G", "G"),
            ("ctrl-r", "ctrl-r", "Ctrl+R"),
            ("Ctrl-r", "ctrl-r", "Ctrl+R"),
            ("ctrl-R", "ctrl-R", "Ctrl+Shift+R"),
            ("alt-1", "alt-1", "Alt+1"),
            ("alt-x", "alt-x", "Alt+x"),
            (
                "shift-alt-ctrl-up",
                "ctrl-alt-shift-up",
                "Ctrl+Alt+Shift+Up",
            ),
            ("F9", "f9", "F9"),
            ("shift-f12", "shift-f12", "Shift+F12"),
            ("space", "space", "Space"),
            ("shift-tab", "backtab", "Shift+Tab"),
            ("shift-pageup", "shift-pageup", "Shift+PgUp"),
            ("escape", "esc", "Esc"),
            ("-", "-", "-"),
            ("ctrl--", "ctrl--", "Ctrl+-"),
            ("ß", "ß", "ß"),
        ];
        for (text, written, shown) in cases {
            assert_eq!(key(text).to_string(), written);
            assert_eq!(key(text).pretty(), shown);
        }
    }

    #[test]
    fn refuses_what_is_no_key() {
        let cases = [
            "",
            "ctrl-",
            "ctrl-ctrl-x",
            "super-x",
            "f0",
            "f25",
            "xy",
            "\u{1b}",
            "\u{a0}",
            "f+1",
        ];
        for text in cases {
            assert_eq!(text.parse::<Key>(), Err(NoKey), "{text:?}");
        }
    }

    #[test]
    fn reads_chords() {
        let chord = parse_chord(" g  ctrl-x ");
        assert_eq!(chord, Ok(vec![key("g"), key("ctrl-x")]));
        assert_eq!(parse_chord("  "), Err(NoKey));
        assert_eq!(parse_chord("g nokey"), Err(NoKey));
        assert_eq!(write_chord(&[key("g"), key("G")]), "g G");
        assert_eq!(pretty_chord(&[key("g"), key("ctrl-x")]), "g Ctrl+X");
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let chars: Vec<char> = "aZ09-+ß漢 é*#\"\\~".chars().collect();
        let named = NAMES.iter().map(|(code, ..)| *code);
        let codes: Vec<KeyCode> = (chars.into_iter().map(KeyCode::Char))
            .chain((1..=MOST_F).map(KeyCode::F))
            .chain(named)
            .collect();
        for (i, code) in codes.iter().cycle().take(codes.len() * 8).enumerate() {
            let (code, c) = (*code, i / codes.len());
            let (ctrl, alt, shift) = (c & 1 > 0, c & 2 > 0, c & 4 > 0);
            let random = Key {
                code,
                ctrl,
                alt,
                shift,
            }
            .normal();
            assert_eq!(random.to_string().parse(), Ok(random), "{random:?}");
            assert_eq!(random.normal(), random);
            assert!(!random.pretty().is_empty());
        }
    }
}
