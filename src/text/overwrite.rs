//! A line as cells, for programs that go back and write over what they wrote: progress bars, spinners.
//!
//! Every step costs no more than the bytes that caused it, whatever comes.

use unicode_width::UnicodeWidthChar;

use super::draft::{Draft, LONGEST};
use super::style::TextStyle;

const TAB: usize = 8;

/// The bytes of marks that a character may carry.
const MOST_MARKS: usize = 32;

/// Fills the columns of a wide character after its first.
const FILLER: char = '\0';

struct Cell {
    c: char,
    marks: String,
    style: TextStyle,
}

impl Cell {
    fn new(c: char, style: TextStyle) -> Self {
        Self {
            c,
            marks: String::new(),
            style,
        }
    }
}

/// One cell for each column, and the place where the next character goes, which is never beyond the end.
#[derive(Default)]
pub(super) struct Cells {
    row: Vec<Cell>,
    column: usize,
    /// Bytes left out since the start of the line was last visited.
    over: u64,
    /// The most bytes left out at once.
    cut: u64,
}

impl Cells {
    /// Lays out a text, with the place at `column` or else at its end.
    pub(super) fn new<'a>(
        pieces: impl Iterator<Item = (&'a str, TextStyle)>,
        cut: u64,
        column: usize,
    ) -> Self {
        let mut new = Self::default();
        for (text, style) in pieces {
            new.write(text, style);
        }
        new.cut = new.cut.saturating_add(cut);
        new.column = new.column.min(column);
        new.over = 0;
        new
    }

    pub(super) fn is_empty(&self) -> bool {
        self.row.is_empty() && self.cut == 0
    }

    pub(super) fn write(&mut self, text: &str, style: TextStyle) {
        text.chars().for_each(|c| self.put(c, style));
    }

    pub(super) fn tab(&mut self, style: TextStyle) {
        let next = (self.column / TAB + 1) * TAB;
        while self.row.len() < next.min(LONGEST) {
            self.row.push(Cell::new(' ', style));
        }
        self.column = next.min(LONGEST);
    }

    pub(super) fn go_to_start(&mut self) {
        self.column = 0;
        self.over = 0;
    }

    pub(super) fn go_back(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    pub(super) fn erase_rest(&mut self) {
        self.split_at(self.column);
        self.row.truncate(self.column);
        (self.over, self.cut) = (0, 0);
    }

    /// Returns the text again.
    pub(super) fn draft(&self) -> Draft {
        let (mut draft, mut text) = (Draft::default(), String::new());
        for cell in self.row.iter().filter(|cell| cell.c != FILLER) {
            text.clear();
            text.push(cell.c);
            text.push_str(&cell.marks);
            draft.append(&text, cell.style);
        }
        draft.cut_off(usize::try_from(self.cut).unwrap_or(usize::MAX));
        draft
    }

    fn put(&mut self, c: char, style: TextStyle) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            self.put_mark(c);
        } else if self.column + width > LONGEST {
            self.leave_out(c);
        } else {
            self.put_wide(c, width, style);
        }
    }

    fn put_wide(&mut self, c: char, width: usize, style: TextStyle) {
        let end = self.column + width;
        self.split_at(self.column);
        self.split_at(end);
        for column in self.column..end {
            let shown = if column == self.column { c } else { FILLER };
            self.set(column, Cell::new(shown, style));
        }
        self.column = end;
    }

    fn set(&mut self, column: usize, cell: Cell) {
        match self.row.get_mut(column) {
            Some(old) => *old = cell,
            None => self.row.push(cell),
        }
    }

    /// Adds a mark to the character before the place.
    fn put_mark(&mut self, c: char) {
        let before = self.row.get_mut(..self.column).unwrap_or_default();
        let owner = before.iter_mut().rev().find(|cell| cell.c != FILLER);
        match owner {
            Some(cell) if cell.marks.len() < MOST_MARKS => cell.marks.push(c),
            _ => self.leave_out(c),
        }
    }

    /// Makes blanks of a wide character that a cut before this column would halve.
    fn split_at(&mut self, column: usize) {
        if self.row.get(column).is_none_or(|cell| cell.c != FILLER) {
            return;
        }
        let (left, right) = self.row.split_at_mut_checked(column).unwrap_or_default();
        let fillers = right.iter_mut().take_while(|cell| cell.c == FILLER);
        fillers.for_each(|cell| cell.c = ' ');
        for cell in left.iter_mut().rev() {
            let is_filler = cell.c == FILLER;
            *cell = Cell::new(' ', cell.style);
            if !is_filler {
                break;
            }
        }
    }

    fn leave_out(&mut self, c: char) {
        self.over += u64::try_from(c.len_utf8()).unwrap_or(0);
        self.cut = self.cut.max(self.over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cells: &Cells) -> String {
        cells.draft().line().text.into()
    }

    fn over(first: &str, second: &str) -> String {
        let style = TextStyle::default();
        let mut cells = Cells::new(std::iter::once((first, style)), 0, 0);
        cells.write(second, style);
        shown(&cells)
    }

    #[test]
    fn overwrites_by_columns() {
        let cases = [
            ("100%", "5%", "5%0%"),
            ("abc", "xyz!", "xyz!"),
            ("漢字", "a", "a 字"),
            ("漢字", "abc", "abc "),
            ("abc", "漢", "漢c"),
            ("漢字", "🙂", "🙂字"),
            ("e\u{301}f", "x", "xf"),
            ("ef", "e\u{301}", "e\u{301}f"),
            ("a漢", "漢", "漢 "),
        ];
        for (first, second, expected) in cases {
            assert_eq!(over(first, second), expected, "{first} then {second}");
        }
    }

    #[test]
    fn stays_within_bounds() {
        let style = TextStyle::default();
        let mut cells = Cells::default();
        cells.write(&"漢\u{301}".repeat(3 * LONGEST), style);
        cells.write(&"\u{301}".repeat(3 * LONGEST), style);
        (0..2000).for_each(|_| cells.tab(style));
        assert!(cells.row.len() <= LONGEST && cells.column <= LONGEST);
        let line = cells.draft().line();
        assert!(line.text.len() < LONGEST + 40 && line.cut > 0);
    }

    #[test]
    fn erases_the_rest() {
        let style = TextStyle::default();
        let mut cells = Cells::new(std::iter::once(("漢字", style)), 7, 3);
        cells.erase_rest();
        assert_eq!((shown(&cells).as_str(), cells.cut), ("漢 ", 0));
        cells.go_to_start();
        cells.erase_rest();
        assert!(cells.is_empty());
    }
}
