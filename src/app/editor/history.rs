//! Groups the text area's single edits into the steps that people expect to undo, and names each state of a text.
//!
//! The text area remembers one edit per character. A word typed, a block indented or all occurrences replaced is
//! one step here. Each state has a number of its own, so that undoing back to what was saved is not a change.

/// The edits remembered; the text area must remember as many.
pub(super) const CAP: usize = 10_000;

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

#[derive(Debug, Clone, Copy)]
struct Step {
    state: u64,
    edits: usize,
}

/// The steps done and undone.
#[derive(Debug)]
pub(super) struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// The state before the first step that is still remembered.
    base: u64,
    latest: u64,
    open: Kind,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            done: Vec::new(),
            undone: Vec::new(),
            base: 0,
            latest: 0,
            open: Kind::Whole,
        }
    }

    /// Returns the number of the current state.
    pub(super) fn state(&self) -> u64 {
        self.done.last().map_or(self.base, |step| step.state)
    }

    /// Remembers edits that were made.
    pub(super) fn record(&mut self, edits: usize, kind: Kind) {
        if edits == 0 {
            return;
        }
        self.undone.clear();
        self.latest += 1;
        let state = self.latest;
        match self.done.last_mut() {
            Some(step) if kind != Kind::Whole && kind == self.open => step.extend(edits, state),
            _ => self.done.push(Step { state, edits }),
        }
        self.open = kind;
        self.forget_oldest();
    }

    /// Ends the step, so that the next edit starts a new one.
    pub(super) fn close(&mut self) {
        self.open = Kind::Whole;
    }

    /// Starts anew with a text that cannot be undone.
    pub(super) fn restart(&mut self) {
        self.latest += 1;
        *self = Self {
            base: self.latest,
            latest: self.latest,
            ..Self::new()
        };
    }

    /// Returns how many edits to undo.
    pub(super) fn undo(&mut self) -> usize {
        self.close();
        let Some(step) = self.done.pop() else {
            return 0;
        };
        self.undone.push(step);
        step.edits
    }

    /// Returns how many edits to do again.
    pub(super) fn redo(&mut self) -> usize {
        self.close();
        let Some(step) = self.undone.pop() else {
            return 0;
        };
        self.done.push(step);
        step.edits
    }

    /// Forgets whole steps, so that the text area never holds half of one.
    fn forget_oldest(&mut self) {
        let mut total: usize = self.done.iter().map(|step| step.edits).sum();
        let mut forgotten = 0;
        for step in &self.done {
            if total <= CAP {
                break;
            }
            total -= step.edits;
            self.base = step.state;
            forgotten += 1;
        }
        self.done.drain(..forgotten);
    }
}

impl Step {
    fn extend(&mut self, edits: usize, state: u64) {
        self.edits += edits;
        self.state = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_kind_are_one_step() {
        let mut history = History::new();
        history.record(1, Kind::Typing);
        history.record(1, Kind::Typing);
        history.record(1, Kind::Erasing);
        history.record(2, Kind::Whole);
        history.record(2, Kind::Whole);
        assert_eq!([(); 5].map(|()| history.undo()), [2, 2, 1, 2, 0]);
        assert_eq!(history.state(), 0);
        assert_eq!(history.redo(), 2);
    }

    #[test]
    fn old_steps_are_forgotten_whole() {
        let mut history = History::new();
        history.record(CAP - 1, Kind::Whole);
        let first = history.state();
        history.record(2, Kind::Whole);
        assert_eq!([history.undo(), history.undo()], [2, 0]);
        assert_eq!(history.state(), first);
    }
}
