//! The steps that people expect to undo, and a number for each state of a text.
//!
//! A word typed, a block indented or all occurrences replaced is one step. A change remembers the rows that it replaced;
//! undoing swaps them with the rows in the text, so that the same change can be done again. Each state has a number of its
//! own, so that undoing back to what was saved is not a change.

use super::text::Position;

/// The bytes of rows that are remembered; older steps are forgotten.
const MOST_BYTES: usize = 32 << 20;
/// The steps that are remembered.
const MOST_STEPS: usize = 10_000;

/// What kind of edit it is; neighbours of the same kind make one step, unless it is `Whole`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Characters of a word.
    Typing,
    /// Characters taken away.
    Erasing,
    /// A step of its own.
    Whole,
}

/// Rows that were replaced by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The first of them.
    pub(super) first: usize,
    /// The rows that are not in the text now.
    pub(super) rows: Vec<String>,
    /// How many rows of the text stand in their place.
    pub(super) count: usize,
    /// Where the cursor was before and after.
    pub(super) cursors: (Position, Position),
}

impl Change {
    fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(String::len).sum();
        rows + self.rows.len() * size_of::<String>() + size_of::<Self>()
    }

    /// Tells whether a later change only touches what this one put in, so that one memory serves both.
    fn covers(&self, later: &Self) -> bool {
        later.first >= self.first && later.first + later.rows.len() <= self.first + self.count
    }
}

#[derive(Debug)]
struct UndoStep {
    state: u64,
    changes: Vec<Change>,
    bytes: usize,
}

/// The steps done and undone.
#[derive(Debug)]
pub(super) struct History {
    done: std::collections::VecDeque<UndoStep>,
    undone: Vec<UndoStep>,
    /// The state before the first step that is still remembered.
    base: u64,
    latest: u64,
    open: Kind,
    bytes: usize,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            done: std::collections::VecDeque::new(),
            undone: Vec::new(),
            base: 0,
            latest: 0,
            open: Kind::Whole,
            bytes: 0,
        }
    }

    /// Returns the number of the current state.
    pub(super) fn state(&self) -> u64 {
        self.done.back().map_or(self.base, |step| step.state)
    }

    /// Remembers changes that were made.
    pub(super) fn record(&mut self, changes: Vec<Change>, kind: Kind) {
        if changes.is_empty() {
            return;
        }
        self.undone.clear();
        self.latest += 1;
        let goes_on = kind != Kind::Whole && kind == self.open;
        let mut step = match self.done.pop_back() {
            Some(step) if goes_on => step,
            other => {
                self.done.extend(other);
                UndoStep {
                    state: 0,
                    changes: Vec::new(),
                    bytes: 0,
                }
            }
        };
        self.bytes -= step.bytes;
        step.state = self.latest;
        for change in changes {
            step.add(change);
        }
        self.bytes += step.bytes;
        self.done.push_back(step);
        self.open = kind;
        self.forget_oldest();
    }

    /// Ends the step, so that the next edit starts a new one.
    pub(super) fn close(&mut self) {
        self.open = Kind::Whole;
    }

    /// Undoes a step: `swap` exchanges the rows of a change with those of the text. Tells whether there was one.
    pub(super) fn undo(&mut self, swap: impl FnMut(&mut Change)) -> bool {
        self.close();
        let Some(mut step) = self.done.pop_back() else {
            return false;
        };
        self.bytes -= step.bytes;
        step.changes.iter_mut().rev().for_each(swap);
        self.undone.push(step);
        true
    }

    /// Does an undone step again, and tells whether there was one.
    pub(super) fn redo(&mut self, swap: impl FnMut(&mut Change)) -> bool {
        self.close();
        let Some(mut step) = self.undone.pop() else {
            return false;
        };
        step.changes.iter_mut().for_each(swap);
        step.weigh();
        self.bytes += step.bytes;
        self.done.push_back(step);
        true
    }

    /// Forgets whole steps; the last one always stays.
    fn forget_oldest(&mut self) {
        while self.done.len() > 1 && (self.bytes > MOST_BYTES || self.done.len() > MOST_STEPS) {
            if let Some(step) = self.done.pop_front() {
                self.base = step.state;
                self.bytes -= step.bytes;
            }
        }
    }
}

impl UndoStep {
    /// Adds a change; one within the rows of the last needs no memory of its own.
    fn add(&mut self, change: Change) {
        match self.changes.last_mut() {
            Some(last) if last.covers(&change) => {
                last.count = last.count - change.rows.len() + change.count;
                last.cursors.1 = change.cursors.1;
            }
            _ => {
                self.bytes += change.bytes();
                self.changes.push(change);
            }
        }
    }

    fn weigh(&mut self) {
        self.bytes = self.changes.iter().map(Change::bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(first: usize, row: &str) -> Change {
        Change {
            first,
            rows: vec![row.to_owned()],
            count: 1,
            cursors: ((first, 0), (first, 1)),
        }
    }

    fn count(history: &mut History) -> usize {
        let mut changes = 0;
        history.undo(|_| changes += 1);
        changes
    }

    #[test]
    fn neighbours_of_a_kind_are_one_step() {
        let mut history = History::new();
        history.record(vec![change(1, "a")], Kind::Typing);
        history.record(vec![change(2, "b")], Kind::Typing);
        history.record(vec![change(1, "c")], Kind::Erasing);
        history.record(vec![change(1, "d"), change(3, "e")], Kind::Whole);
        history.record(vec![change(1, "f")], Kind::Whole);
        assert_eq!([(); 5].map(|()| count(&mut history)), [1, 2, 1, 2, 0]);
        assert_eq!(history.state(), 0);
        assert!(history.redo(|_| ()));
    }

    #[test]
    fn a_word_typed_in_a_row_remembers_that_row_once() {
        let mut history = History::new();
        for row in ["", "w", "wo", "wor"] {
            history.record(vec![change(5, row)], Kind::Typing);
        }
        let mut rows = Vec::new();
        history.undo(|change| rows.push(change.rows.clone()));
        assert_eq!(rows, [[""]]);
    }

    #[test]
    fn old_steps_are_forgotten_by_their_bytes() {
        let mut history = History::new();
        let long = "x".repeat(MOST_BYTES / 4);
        for _ in 0..6 {
            history.record(vec![change(0, &long)], Kind::Whole);
        }
        let steps = std::iter::from_fn(|| history.undo(|_| ()).then_some(())).count();
        assert_eq!(steps, 3);
        assert_eq!(history.state(), 3);
    }
}
