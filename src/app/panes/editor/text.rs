//! The text of a buffer: rows, a cursor, a selection, steps to undo, and a highlighter that is kept up to date.
//!
//! The text area edits only the rows that an edit touches: it rebuilds the map of all rows it has for each key, which takes
//! milliseconds for a large text. Its own movements go by its idea of columns, which differs from ours for joined emoji
//! and marks, so that only words are left to it.

use ratatui_textarea::{CursorMove, DataCursor, TextArea};

use super::highlight::{Grammars, Highlight};
use super::history::{Change, History, Kind};
use crate::app::panes::output::Search;

/// A row and the number of characters before the place in it.
pub type Position = (usize, usize);

/// What happens to the selection when the cursor moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It is given up.
    Move,
    /// It reaches to the new place.
    Select,
}

/// A text being edited.
#[derive(Debug)]
pub struct Text {
    /// Never empty.
    lines: Vec<String>,
    /// The bytes of all rows, without line ends.
    bytes: usize,
    cursor: Position,
    /// Where the selection begins; it ends at the cursor.
    anchor: Option<Position>,
    search: Option<Search>,
    history: History,
    /// Colours by line.
    pub highlight: Highlight,
}

impl Text {
    /// Starts with lines.
    #[must_use]
    pub fn new(mut lines: Vec<String>) -> Self {
        if lines.is_empty() {
            lines.push(String::new());
        }
        Self {
            highlight: Highlight::new(lines.len()),
            bytes: bytes_of(&lines),
            lines,
            cursor: (0, 0),
            anchor: None,
            search: None,
            history: History::new(),
        }
    }

    /// Returns the lines; at least one.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns a line, or an empty one when there is none.
    #[must_use]
    pub fn line(&self, row: usize) -> &str {
        self.lines().get(row).map_or("", String::as_str)
    }

    /// Returns the lines as one string.
    #[must_use]
    pub fn joined(&self) -> String {
        self.lines().join("\n")
    }

    /// Returns the number of bytes in it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes + self.lines.len().saturating_sub(1)
    }

    /// Tells whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// Returns where the cursor is.
    #[must_use]
    pub fn cursor(&self) -> Position {
        self.cursor
    }

    /// Returns the number of the current state; the same number is the same text.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.history.state()
    }

    /// Returns the start and end of what is selected, if something is.
    #[must_use]
    pub fn selection(&self) -> Option<(Position, Position)> {
        let anchor = self.anchor?;
        let range = (anchor.min(self.cursor), anchor.max(self.cursor));
        (range.0 != range.1).then_some(range)
    }

    /// Returns what is selected.
    #[must_use]
    pub fn selected(&self) -> Option<String> {
        let ((top, from), (bottom, to)) = self.selection()?;
        if top == bottom {
            return Some(slice(self.line(top), from, to).to_owned());
        }
        let mut all = slice(self.line(top), from, usize::MAX).to_owned();
        for row in top + 1..bottom {
            all.push('\n');
            all.push_str(self.line(row));
        }
        all.push('\n');
        all.push_str(slice(self.line(bottom), 0, to));
        Some(all)
    }

    /// Moves the cursor; a place outside the text becomes the nearest one in it.
    pub fn go(&mut self, place: Position, reach: Reach) {
        self.history.close();
        self.anchor = match reach {
            Reach::Move => None,
            Reach::Select => self.anchor.or(Some(self.cursor)),
        };
        self.cursor = self.nearest(place);
    }

    /// Selects from one place to another, where the cursor is then.
    pub fn select(&mut self, from: Position, to: Position) {
        self.go(from, Reach::Move);
        self.go(to, Reach::Select);
    }

    /// Gives the selection up.
    pub fn deselect(&mut self) {
        self.anchor = None;
    }

    /// Moves to the next or last word; the text area knows words.
    pub fn go_by_word(&mut self, step: CursorMove, reach: Reach) {
        let row = self.cursor.0;
        let (first, last) = (row.saturating_sub(1), (row + 1).min(self.last_row()));
        let mut area = self.area(first, last);
        area.move_cursor(step);
        let DataCursor(row, at) = area.cursor();
        self.go((first + row, at), reach);
    }

    /// Types a character in place of the selection.
    pub fn type_char(&mut self, c: char) {
        let cut = self.cut();
        if cut.is_some() {
            self.history.close();
        }
        let typed = self.edit(|area| area.insert_str(c.encode_utf8(&mut [0; 4])));
        let is_word = c.is_alphanumeric() || c == '_';
        self.record(cut.into_iter().chain(typed), Kind::Typing);
        if !is_word {
            self.history.close();
        }
    }

    /// Puts text in place of the selection, as one step.
    pub fn insert(&mut self, text: &str) {
        let cut = self.cut();
        let put = (!text.is_empty()).then(|| self.insert_rows(text));
        self.record(cut.into_iter().chain(put), Kind::Whole);
    }

    /// Takes the selection away and tells whether there was one.
    pub fn erase_selection(&mut self) -> bool {
        let cut = self.cut();
        let is_cut = cut.is_some();
        self.record(cut, Kind::Whole);
        is_cut
    }

    /// Takes the character before the cursor away.
    pub fn erase_back(&mut self) {
        let erased = self.edit(TextArea::delete_char);
        self.record(erased, Kind::Erasing);
    }

    /// Takes the word before the cursor away.
    pub fn erase_word_back(&mut self) {
        let erased = self.edit(TextArea::delete_word);
        self.record(erased, Kind::Whole);
    }

    /// Takes the text between two places away.
    pub fn erase(&mut self, from: Position, to: Position) {
        self.select(from, to);
        self.erase_selection();
    }

    /// Puts other lines in place of the rows `first..=last`, as one step.
    pub fn replace_rows(&mut self, first: usize, last: usize, lines: &[String]) {
        let last = last.min(self.last_row());
        let first = first.min(last);
        let rows = lines.to_vec();
        let end = rows.last().map_or(0, |line| line.chars().count());
        let cursor = (first + rows.len().saturating_sub(1), end);
        let change = self.put(first, last - first + 1, rows, cursor);
        self.record([change], Kind::Whole);
    }

    /// Undoes a step and tells whether there was one.
    pub fn undo(&mut self) -> bool {
        let mut history = std::mem::replace(&mut self.history, History::new());
        let is_undone = history.undo(|change| self.swap(change, change.cursors.0));
        self.history = history;
        is_undone
    }

    /// Does an undone step again and tells whether there was one.
    pub fn redo(&mut self) -> bool {
        let mut history = std::mem::replace(&mut self.history, History::new());
        let is_redone = history.redo(|change| self.swap(change, change.cursors.1));
        self.history = history;
        is_redone
    }

    /// Sets what is searched for.
    pub fn search_for(&mut self, search: Option<Search>) {
        self.search = search;
    }

    /// Tells whether something is searched for.
    #[must_use]
    pub fn is_searched(&self) -> bool {
        self.search.is_some()
    }

    /// Returns the byte ranges of a line that match what is searched for.
    #[must_use]
    pub fn matches(&self, line: &str) -> Vec<(usize, usize)> {
        let found = self.search.as_ref().map(|search| search.ranges(line));
        let found = found.unwrap_or_default().into_iter();
        found.map(|range| (range.start, range.end)).collect()
    }

    /// Tells whether rows before `until` wait to be coloured.
    pub(super) fn is_uncoloured(&self, until: usize) -> bool {
        self.highlight.is_behind(until)
    }

    /// Colours some of the rows before `until`; tells whether some are left.
    pub(super) fn advance_highlighting(&mut self, grammars: &Grammars, until: usize) -> bool {
        self.highlight.advance(grammars, &self.lines, until)
    }

    fn last_row(&self) -> usize {
        self.lines.len().saturating_sub(1)
    }

    fn nearest(&self, (row, at): Position) -> Position {
        let row = row.min(self.last_row());
        (row, at.min(self.line(row).chars().count()))
    }

    fn record(&mut self, changes: impl IntoIterator<Item = Change>, kind: Kind) {
        self.history.record(changes.into_iter().collect(), kind);
    }

    /// Takes the selection out.
    fn cut(&mut self) -> Option<Change> {
        let ((top, from), (bottom, to)) = self.selection()?;
        let mut row = slice(self.line(top), 0, from).to_owned();
        row.push_str(slice(self.line(bottom), to, usize::MAX));
        Some(self.put(top, bottom - top + 1, vec![row], (top, from)))
    }

    /// Puts text at the cursor; the text area would measure each of its rows.
    fn insert_rows(&mut self, text: &str) -> Change {
        let (row, at) = self.cursor;
        let mut rows: Vec<String> = text.split('\n').map(str::to_owned).collect();
        if let Some(first) = rows.first_mut() {
            first.insert_str(0, slice(self.line(row), 0, at));
        }
        let last = row + rows.len() - 1;
        let end = rows.last().map_or(0, |line| line.chars().count());
        if let Some(bottom) = rows.last_mut() {
            bottom.push_str(slice(self.line(row), at, usize::MAX));
        }
        self.put(row, 1, rows, (last, end))
    }

    /// Makes a text area of some rows, with the cursor where it is.
    fn area(&self, first: usize, last: usize) -> TextArea<'static> {
        let rows = self.lines.get(first..=last).unwrap_or_default();
        let mut area = TextArea::new(rows.to_vec());
        let small = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let (row, at) = self.cursor;
        area.move_cursor(CursorMove::Jump(small(row - first), small(at)));
        area
    }

    /// Lets the text area change the row of the cursor, and the one above if it is at its start.
    fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>) -> bool) -> Option<Change> {
        let (row, at) = self.cursor;
        let first = if at == 0 { row.saturating_sub(1) } else { row };
        let mut area = self.area(first, row);
        if !change(&mut area) {
            return None;
        }
        let DataCursor(down, at) = area.cursor();
        Some(self.put(
            first,
            row - first + 1,
            area.into_lines(),
            (first + down, at),
        ))
    }

    /// Puts rows in place of others, and the cursor where it belongs then.
    fn put(
        &mut self,
        first: usize,
        count: usize,
        mut rows: Vec<String>,
        cursor: Position,
    ) -> Change {
        if rows.is_empty() {
            rows.push(String::new());
        }
        let (come, before) = (rows.len(), self.cursor);
        self.bytes += bytes_of(&rows);
        let gone: Vec<String> = self.lines.splice(first..first + count, rows).collect();
        self.bytes -= bytes_of(&gone);
        self.highlight.splice(first, count, come);
        (self.cursor, self.anchor) = (cursor, None);
        Change {
            first,
            rows: gone,
            count: come,
            cursors: (before, cursor),
        }
    }

    /// Exchanges the rows that a change remembers with those in the text.
    fn swap(&mut self, change: &mut Change, cursor: Position) {
        let rows = std::mem::take(&mut change.rows);
        let put = self.put(change.first, change.count, rows, cursor);
        (change.rows, change.count) = (put.rows, put.count);
    }
}

fn bytes_of(lines: &[String]) -> usize {
    lines.iter().map(String::len).sum()
}

/// Returns the characters `from..to` of a line.
pub(super) fn slice(line: &str, from: usize, to: usize) -> &str {
    let byte = |at: usize| {
        line.char_indices()
            .nth(at)
            .map_or(line.len(), |(byte, _)| byte)
    };
    line.get(byte(from)..byte(to)).unwrap_or_default()
}
