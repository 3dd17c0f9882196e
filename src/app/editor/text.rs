//! The text of a buffer: the text area with steps to undo, own cursor movements and a highlighter that is kept up to date.
//!
//! The text area's own movements go by its idea of columns, which differs from ours for joined emoji and marks.

use ratatui_textarea::{CursorMove, DataCursor, TextArea};

use super::highlight::{Grammars, Highlight};
use super::history::{CAP, History, Kind};

/// A row and the number of characters before the place in it.
pub type Place = (usize, usize);

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
    area: TextArea<'static>,
    history: History,
    /// Colours by line.
    pub highlight: Highlight,
}

impl Text {
    /// Starts with lines.
    #[must_use]
    pub fn new(lines: Vec<String>) -> Self {
        let highlight = Highlight::new(lines.len().max(1));
        Self {
            area: new_area(lines),
            history: History::new(),
            highlight,
        }
    }

    /// Returns the lines; at least one.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.area.lines()
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
        let lines: usize = self.lines().iter().map(String::len).sum();
        lines + self.lines().len().saturating_sub(1)
    }

    /// Tells whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Returns where the cursor is.
    #[must_use]
    pub fn cursor(&self) -> Place {
        let DataCursor(row, at) = self.area.cursor();
        (row, at)
    }

    /// Returns the number of the current state; the same number is the same text.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.history.state()
    }

    /// Returns the start and end of what is selected, if something is.
    #[must_use]
    pub fn selection(&self) -> Option<(Place, Place)> {
        self.area
            .selection_range()
            .filter(|(start, end)| start != end)
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
    pub fn go(&mut self, (row, at): Place, reach: Reach) {
        self.history.close();
        match reach {
            Reach::Move => self.area.cancel_selection(),
            Reach::Select if self.area.is_selecting() => (),
            Reach::Select => self.area.start_selection(),
        }
        self.jump(row, at);
    }

    /// Selects from one place to another, where the cursor is then.
    pub fn select(&mut self, from: Place, to: Place) {
        self.go(from, Reach::Move);
        self.go(to, Reach::Select);
    }

    /// Gives the selection up.
    pub fn deselect(&mut self) {
        self.area.cancel_selection();
    }

    /// Moves to the next or last word; the text area knows words.
    pub fn go_by_word(&mut self, step: CursorMove, reach: Reach) {
        self.go(self.cursor(), reach);
        self.area.move_cursor(step);
    }

    /// Types a character in place of the selection.
    pub fn type_char(&mut self, c: char) {
        let edits = self.cut() + self.edit(|area| area.insert_str(c.encode_utf8(&mut [0; 4])));
        let is_word = c.is_alphanumeric() || c == '_';
        if edits > 1 {
            self.history.close();
        }
        self.history.record(edits, Kind::Typing);
        if !is_word {
            self.history.close();
        }
    }

    /// Puts text in place of the selection, as one step.
    pub fn insert(&mut self, text: &str) {
        let edits = self.cut() + self.edit(|area| area.insert_str(text));
        self.history.record(edits, Kind::Whole);
    }

    /// Takes the selection away and tells whether there was one.
    pub fn erase_selection(&mut self) -> bool {
        let edits = self.cut();
        self.history.record(edits, Kind::Whole);
        edits > 0
    }

    /// Takes the character before the cursor away.
    pub fn erase_back(&mut self) {
        let edits = self.edit(TextArea::delete_char);
        self.history.record(edits, Kind::Erasing);
    }

    /// Takes the word before the cursor away.
    pub fn erase_word_back(&mut self) {
        let edits = self.edit(TextArea::delete_word);
        self.history.record(edits, Kind::Whole);
    }

    /// Takes the text between two places away.
    pub fn erase(&mut self, from: Place, to: Place) {
        self.select(from, to);
        self.erase_selection();
    }

    /// Puts other lines in place of the rows `first..=last`, as one step.
    pub fn replace_rows(&mut self, first: usize, last: usize, lines: &[String]) {
        // The text area drops a `\r` at the end of inserted lines: such a text is made anew, without undo.
        if lines.iter().any(|line| line.ends_with('\r')) {
            return self.rebuild(first, last, lines);
        }
        self.select((first, 0), (last, usize::MAX));
        self.insert(&lines.join("\n"));
    }

    /// Undoes a step and tells whether there was one.
    pub fn undo(&mut self) -> bool {
        let edits = self.history.undo();
        (0..edits).for_each(|_| self.walk(TextArea::undo));
        edits > 0
    }

    /// Does an undone step again and tells whether there was one.
    pub fn redo(&mut self) -> bool {
        let edits = self.history.redo();
        (0..edits).for_each(|_| self.walk(TextArea::redo));
        edits > 0
    }

    /// Sets what is searched for; an empty pattern is none. A broken one changes nothing.
    pub fn set_pattern(&mut self, pattern: &str) {
        // Patterns are made by `find`, from escaped text.
        let _ = self.area.set_search_pattern(pattern);
    }

    /// Tells whether something is searched for.
    #[must_use]
    pub fn has_pattern(&self) -> bool {
        self.area.search_pattern().is_some()
    }

    /// Returns the byte ranges of a line that match what is searched for.
    #[must_use]
    pub fn matches(&self, line: &str) -> Vec<(usize, usize)> {
        let Some(pattern) = self.area.search_pattern() else {
            return Vec::new();
        };
        pattern
            .find_iter(line)
            .map(|found| (found.start(), found.end()))
            .collect()
    }

    /// Colours some of the rows before `until`; tells whether some are left.
    pub(super) fn advance_highlighting(&mut self, grammars: &Grammars, until: usize) -> bool {
        self.highlight.advance(grammars, self.area.lines(), until)
    }

    fn jump(&mut self, row: usize, at: usize) {
        let small = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.area
            .move_cursor(CursorMove::Jump(small(row), small(at)));
        if at == usize::MAX {
            self.area.move_cursor(CursorMove::End);
        }
    }

    fn cut(&mut self) -> usize {
        self.edit(TextArea::cut)
    }

    /// Makes one edit of the text area's, which tells whether it did; returns how many edits that were.
    fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>) -> bool) -> usize {
        let rows = self.lines().len();
        let start = self.area.selection_range().map_or(usize::MAX, |(s, _)| s.0);
        let start = start.min(self.cursor().0);
        if !change(&mut self.area) {
            return 0;
        }
        self.highlight
            .splice(start.min(self.cursor().0), rows, self.lines().len());
        1
    }

    /// Undoes or redoes one edit; the cursor is then at the end of what came or at the start of what went.
    fn walk(&mut self, step: impl FnOnce(&mut TextArea<'static>) -> bool) {
        let rows = self.lines().len();
        step(&mut self.area);
        let more = self.lines().len().saturating_sub(rows);
        let start = self.cursor().0.saturating_sub(more);
        self.highlight.splice(start, rows, self.lines().len());
    }

    fn rebuild(&mut self, first: usize, last: usize, lines: &[String]) {
        let mut all = self.lines().to_vec();
        let last = last.min(all.len().saturating_sub(1));
        all.splice(first.min(last)..=last, lines.iter().cloned());
        let cursor = self.cursor();
        self.highlight.forget_from(first, all.len());
        self.area = new_area(all);
        self.history.restart();
        self.jump(cursor.0, cursor.1);
    }
}

fn new_area(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_max_histories(CAP);
    area
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
