//! Lays a line of code out in columns: tabs reach the next stop, hidden characters show as marks.
//!
//! Drawing, clicks and the cursor all use this one layout, so that they agree on any content.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;

use crate::text::{safe_line, split_cluster};

/// How far tabs and indentation reach.
pub(super) const TAB: usize = 4;

/// What is drawn for one cluster of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glyph<'a> {
    /// The number of characters before it.
    pub at: usize,
    /// How many characters it is made of.
    pub chars: usize,
    /// The number of bytes before it.
    pub byte: usize,
    /// The first column it takes.
    pub column: usize,
    /// How many columns it takes; never 0.
    pub width: usize,
    /// What is drawn; holds no control character.
    pub shown: Cow<'a, str>,
    /// Whether `shown` is a mark for something that cannot be drawn as it is.
    pub is_mark: bool,
}

/// The glyphs of a line.
pub struct Glyphs<'a> {
    rest: &'a str,
    at: usize,
    byte: usize,
    column: usize,
}

/// Lays a line out.
#[must_use]
pub fn glyphs(line: &str) -> Glyphs<'_> {
    Glyphs {
        rest: line,
        at: 0,
        byte: 0,
        column: 0,
    }
}

impl<'a> Iterator for Glyphs<'a> {
    type Item = Glyph<'a>;

    fn next(&mut self) -> Option<Glyph<'a>> {
        let (cluster, rest) = split(self.rest)?;
        let (shown, width, is_mark) = show(cluster, self.column);
        let glyph = Glyph {
            at: self.at,
            chars: if cluster.len() == 1 {
                1
            } else {
                cluster.chars().count()
            },
            byte: self.byte,
            column: self.column,
            width,
            shown,
            is_mark,
        };
        self.rest = rest;
        self.at += glyph.chars;
        self.byte += cluster.len();
        self.column += width;
        Some(glyph)
    }
}

/// Splits off the first cluster; an ASCII character before another one is found without a search.
fn split(text: &str) -> Option<(&str, &str)> {
    match text.as_bytes() {
        [first, second, ..] if first.is_ascii() && second.is_ascii() => text.split_at_checked(1),
        _ => split_cluster(text),
    }
}

/// Returns what is drawn for a cluster, how wide it is, and whether it is a mark.
fn show(cluster: &str, column: usize) -> (Cow<'_, str>, usize, bool) {
    match cluster.as_bytes() {
        b"\t" => (Cow::Borrowed("    "), TAB - column % TAB, false),
        [b' '..=b'~'] => (Cow::Borrowed(cluster), 1, false),
        _ => show_odd(cluster),
    }
}

fn show_odd(cluster: &str) -> (Cow<'_, str>, usize, bool) {
    let safe = safe_line(cluster);
    let is_mark = safe != cluster;
    match usize::from(safe.cell_width()) {
        // A mark without the letter it belongs to gets the usual stand-in.
        0 => (Cow::Owned(format!("\u{25cc}{safe}")), 1, true),
        width => (Cow::Owned(safe), width, is_mark),
    }
}

/// Returns the column at which a character is drawn; the end of the line for one beyond it.
#[must_use]
pub fn column_of(line: &str, at: usize) -> usize {
    let mut end = 0;
    for glyph in glyphs(line) {
        if glyph.at + glyph.chars > at {
            return glyph.column;
        }
        end = glyph.column + glyph.width;
    }
    end
}

/// Returns the character drawn at a column, or the number of characters when it is beyond them.
#[must_use]
pub(super) fn char_at(line: &str, column: usize) -> usize {
    let mut end = 0;
    for glyph in glyphs(line) {
        if column < glyph.column + glyph.width {
            return glyph.at;
        }
        end = glyph.at + glyph.chars;
    }
    end
}

/// Returns where the cluster before a character starts; `None` at the start of the line.
#[must_use]
pub(super) fn before(line: &str, at: usize) -> Option<usize> {
    glyphs(line)
        .map(|glyph| glyph.at)
        .take_while(|start| *start < at)
        .last()
}

/// Returns where the cluster at a character ends; `None` at the end of the line.
#[must_use]
pub(super) fn after(line: &str, at: usize) -> Option<usize> {
    glyphs(line)
        .map(|glyph| glyph.at + glyph.chars)
        .find(|end| *end > at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_characters_agree() {
        let line = "a\t漢x👩\u{200d}👧y\u{1b}z";
        let columns: Vec<usize> = (0..=10).map(|at| column_of(line, at)).collect();
        assert_eq!(columns, [0, 1, 4, 6, 7, 7, 7, 9, 10, 14, 15]);
        assert_eq!(char_at(line, 3), 1);
        assert_eq!(char_at(line, 5), 2);
        assert_eq!(char_at(line, 8), 4);
        assert_eq!(char_at(line, 99), 10);
        assert_eq!(before(line, 7), Some(4));
        assert_eq!(after(line, 4), Some(7));
        assert_eq!((before(line, 0), after(line, 10)), (None, None));
    }

    #[test]
    fn what_cannot_be_seen_is_marked() {
        let shown = |line| {
            let all: Vec<_> = glyphs(line).map(|glyph| glyph.shown.into_owned()).collect();
            all.concat()
        };
        assert_eq!(shown("a\u{202e}b\0c\r"), "a<U+202E>b\\x00c\\r");
        assert_eq!(shown("\u{301}x"), "\u{25cc}\u{301}x");
        assert!(glyphs("\u{200d}\u{85}\u{feff}").all(|glyph| glyph.is_mark && glyph.width > 0));
    }
}
