//! Quotes of the shell: single, double, back and numbered ones.

use super::lexer::{Inner, Lexer, Open, Quoting};
use super::word::{UNKNOWN, Word, plain};

impl Lexer<'_> {
    /// Returns what stands for a quoted character.
    fn quoted(&self, c: char) -> char {
        if self.expands { plain(c) } else { c }
    }

    pub(super) fn escaped(&mut self, word: &mut Word) {
        self.bump();
        word.quoted = true;
        match self.bump() {
            Some('\n') => {}
            None => self.open = Some(Open::Backslash),
            Some(c) => word.text.push(self.quoted(c)),
        }
    }

    pub(super) fn single_quoted(&mut self, word: &mut Word) {
        self.bump();
        word.quoted = true;
        while let Some(c) = self.bump() {
            if c == '\'' {
                return;
            }
            word.text.push(self.quoted(c));
        }
        self.open = Some(Open::Single);
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) {
        self.bump();
        word.quoted = true;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.bump();
                    return;
                }
                '\\' => {
                    self.bump();
                    match self.bump() {
                        Some('\n') | None => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', self.quoted(c)]),
                    }
                }
                '$' if self.expands => self.dollar(word, Quoting::Double),
                '`' if self.expands => self.backquoted(word),
                _ => {
                    word.text.push(self.quoted(c));
                    self.bump();
                }
            }
        }
        self.open = Some(Open::Double);
    }

    pub(super) fn backquoted(&mut self, word: &mut Word) {
        self.bump();
        let at = self.at;
        let mut source = String::new();
        while let Some(c) = self.bump() {
            match c {
                '`' => break,
                '\\' => source.extend(self.bump()),
                c => source.push(c),
            }
        }
        self.inner.push(Inner { at, source });
        word.text.push(UNKNOWN);
    }

    /// Reads `$'…'` with its escapes by letter and number.
    pub(super) fn ansi_quoted(&mut self, word: &mut Word) {
        self.bump();
        word.quoted = true;
        while let Some(c) = self.bump() {
            match c {
                '\'' => return,
                '\\' => {
                    let c = self.ansi_escape();
                    word.text.extend(c.map(plain));
                }
                c => word.text.push(plain(c)),
            }
        }
    }

    pub(super) fn ansi_escape(&mut self) -> Option<char> {
        let c = self.bump()?;
        let (radix, most) = match c {
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'x' => (16, 2),
            'u' => (16, 4),
            '0'..='7' => (8, 3),
            other => return Some(other),
        };
        if radix == 8 {
            self.at -= 1;
        }
        let digits: String = self
            .rest()
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .collect();
        self.at += digits.len();
        u32::from_str_radix(&digits, radix)
            .ok()
            .and_then(char::from_u32)
    }
}
