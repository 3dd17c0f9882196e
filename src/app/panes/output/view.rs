//! Which part of a run is on the screen; rows are measured only where they are seen.

use super::run::Run;
use crate::text::row_count;

/// The size of the text on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Columns for the text alone.
    pub columns: usize,
    /// Rows for lines of output.
    pub rows: usize,
    /// Do long lines go on in the next row?
    pub wraps: bool,
}

/// A row of a run: a line by its number, and the row within it when it is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The line.
    pub line: u64,
    /// The row within it.
    pub row: usize,
}

impl Run {
    /// Returns the first row on the screen.
    #[must_use]
    pub fn top(&self, shape: Shape) -> Spot {
        let last = self.last_top(shape);
        match self.place {
            None => last,
            Some(place) => self.kept(place, shape).min(last),
        }
    }

    /// Returns the last row on the screen.
    #[must_use]
    pub fn bottom(&self, shape: Shape) -> Spot {
        self.forward(self.top(shape), shape.rows.saturating_sub(1), shape)
    }

    /// Moves the view up or, with a positive number, down; only a view that really moves up stops following.
    pub(super) fn scroll(&mut self, rows: isize, shape: Shape) {
        let top = self.top(shape);
        if rows < 0 {
            let up = self.back(top, rows.unsigned_abs(), shape);
            self.place = (up != top || self.place.is_some()).then_some(up);
        } else if self.place.is_some() {
            let down = self.forward(top, rows.unsigned_abs(), shape);
            self.place = Some(down.min(self.last_top(shape)));
        }
    }

    /// Moves the view to the oldest line and stays there.
    pub(super) fn go_to_top(&mut self) {
        self.place = Some(Spot {
            line: self.first(),
            row: 0,
        });
    }

    /// Follows the end, or stays where the view is.
    pub(super) fn toggle_following(&mut self, shape: Shape) {
        self.place = match self.place {
            None => Some(self.top(shape)),
            Some(_) => None,
        };
    }

    /// Stays, with this line on the screen: where it is if it is visible, else in the middle.
    pub(super) fn reveal(&mut self, line: u64, shape: Shape) {
        let top = self.top(shape);
        let bottom = self.bottom(shape);
        let start = Spot { line, row: 0 };
        let is_visible = (top..=bottom).contains(&start);
        self.place = Some(if is_visible {
            top
        } else {
            self.back(start, shape.rows / 2, shape)
        });
    }

    /// Returns the first row when the last one is at the bottom.
    fn last_top(&self, shape: Shape) -> Spot {
        let end = Spot {
            line: self.end_line(),
            row: 0,
        };
        self.back(end, shape.rows, shape)
    }

    pub(super) fn back(&self, from: Spot, rows: usize, shape: Shape) -> Spot {
        // The rows between the start of `line` and where we come from.
        let (mut line, mut above) = (from.line, from.row);
        while above < rows && line > self.first() {
            line -= 1;
            above += self.height(line, shape);
        }
        Spot {
            line,
            row: above.saturating_sub(rows),
        }
    }

    pub(super) fn forward(&self, from: Spot, rows: usize, shape: Shape) -> Spot {
        let (mut line, mut below) = (from.line, from.row.saturating_add(rows));
        let mut height = self.height(line, shape);
        while below >= height && line + 1 < self.end_line() {
            below -= height;
            line += 1;
            height = self.height(line, shape);
        }
        Spot {
            line,
            row: below.min(height.saturating_sub(1)),
        }
    }

    /// Moves a place whose line was dropped, or whose row is no more, to the nearest one.
    fn kept(&self, place: Spot, shape: Shape) -> Spot {
        if place.line < self.first() {
            return Spot {
                line: self.first(),
                row: 0,
            };
        }
        let last = self.height(place.line, shape).saturating_sub(1);
        Spot {
            row: place.row.min(last),
            ..place
        }
    }

    fn height(&self, number: u64, shape: Shape) -> usize {
        if !shape.wraps {
            return 1;
        }
        let line = self.line(number);
        line.map_or(1, |line| row_count(&line.line.text, shape.columns))
    }
}
