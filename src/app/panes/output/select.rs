//! Selecting lines, by keys or by the mouse, to copy them.

use std::ops::RangeInclusive;

use super::OutputState;
use super::run::Run;
use super::view::{Shape, Spot};
use crate::app::{Intent, Tone};
use crate::keymap::Action;

/// Lines from where the selection began to where it has been moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Selection {
    anchor: u64,
    head: u64,
}

impl OutputState {
    /// Takes a press of the mouse in a row of text; a drag may follow.
    pub fn press(&mut self, row: usize) {
        let shape = self.shape();
        if let Some(run) = self.current_mut() {
            run.selection = None;
            run.pressed = run.line_at(row, shape);
        }
    }

    /// Selects from the line that was pressed to the one under the mouse.
    pub fn drag(&mut self, row: usize) {
        let shape = self.shape();
        if let Some(run) = self.current_mut()
            && let (Some(anchor), Some(head)) = (run.pressed, run.line_at(row, shape))
        {
            run.place = Some(run.top(shape));
            run.selection = Some(Selection { anchor, head });
        }
    }

    /// Starts to select at the match or the last line in sight, or stops.
    pub(super) fn toggle_selection(&mut self) -> Vec<Intent> {
        let (shape, is_searched) = (self.shape(), self.search.is_some());
        let Some(run) = self.current_mut() else {
            return Vec::new();
        };
        let Some(last) = run.end_line().checked_sub(1).filter(|_| !run.is_blank()) else {
            let words = "There is nothing to select yet.".to_owned();
            return vec![Intent::Toast(Tone::Plain, words)];
        };
        if run.selection.take().is_none() {
            let found = run.found.filter(|_| is_searched);
            let at = found.unwrap_or_else(|| run.bottom(shape).line.min(last));
            run.selection = Some(Selection {
                anchor: at,
                head: at,
            });
            run.keep_in_sight(at, shape);
        }
        Vec::new()
    }

    /// Gives the selection up, and tells whether there was one.
    pub(super) fn deselect(&mut self) -> bool {
        let run = self.current_mut();
        run.is_some_and(|run| run.selection.take().is_some())
    }

    /// Moves the end of the selection, if there is one; tells whether it did.
    pub(super) fn move_selection(&mut self, action: Action) -> bool {
        let shape = self.shape();
        let run = self.current_mut();
        run.is_some_and(|run| run.move_selection(action, shape))
    }

    /// Copies what is selected, which is then selected no more.
    pub(super) fn copy_selection(&mut self) -> Option<Vec<Intent>> {
        let run = self.current_mut()?;
        let lines = run.selected()?;
        let texts = lines.filter_map(|number| run.line(number));
        let texts: Vec<String> = texts.map(|line| line.line.text.to_string()).collect();
        run.selection = None;
        Some(vec![Intent::Copy(texts.join("\n"))])
    }
}

impl Run {
    /// Returns the numbers of the selected lines, as far as they are kept.
    #[must_use]
    pub fn selected(&self) -> Option<RangeInclusive<u64>> {
        let Selection { anchor, head } = self.selection?;
        let first = anchor.min(head).max(self.first());
        Some(first..=anchor.max(head).max(first))
    }

    fn is_blank(&self) -> bool {
        self.first() == self.end_line()
    }

    fn move_selection(&mut self, action: Action, shape: Shape) -> bool {
        let Some(selection) = self.selection else {
            return false;
        };
        let page = shape.rows as u64;
        let head = match action {
            Action::Up => selection.head.saturating_sub(1),
            Action::Down => selection.head + 1,
            Action::PageUp => selection.head.saturating_sub(page),
            Action::PageDown => selection.head + page,
            Action::Top => 0,
            Action::Bottom => u64::MAX,
            _ => return false,
        };
        let last = self.end_line().saturating_sub(1);
        let head = head.clamp(self.first().min(last), last);
        self.selection = Some(Selection { head, ..selection });
        self.keep_in_sight(head, shape);
        true
    }

    /// Stays, and moves the view as little as needed to show a line.
    fn keep_in_sight(&mut self, line: u64, shape: Shape) {
        let top = self.top(shape);
        let start = Spot { line, row: 0 };
        let after = Spot {
            line: line + 1,
            row: 0,
        };
        self.place = Some(top.max(self.back(after, shape.rows, shape)).min(start));
    }

    /// Returns the line that is drawn in a row of the screen.
    fn line_at(&self, row: usize, shape: Shape) -> Option<u64> {
        let line = self.forward(self.top(shape), row, shape).line;
        (row < shape.rows && line < self.end_line()).then_some(line)
    }
}
