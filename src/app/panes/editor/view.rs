//! What part of a buffer is seen, and what the mouse points at.

use super::buffer::Buffer;
use super::columns::{char_at, column_of};
use super::text::{Position, Reach};

/// The room for code below which line numbers are left out.
const NARROW: u16 = 8;

/// The part of a text on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// The first row.
    pub top: usize,
    /// The first column.
    pub left: usize,
    /// How many columns line numbers take.
    pub gutter: u16,
    /// How many rows are seen.
    pub height: u16,
    /// Whether the mouse has scrolled away from the cursor.
    is_loose: bool,
}

impl Buffer {
    /// Fits the view to an area, with the cursor in it unless the mouse scrolled away, and remembers it.
    pub fn fit_view(&self, width: u16, height: u16) -> View {
        let mut view = self.view.get();
        view.gutter = gutter(self.text.lines().len(), width);
        view.height = height;
        if !view.is_loose {
            let (row, at) = self.text.cursor();
            let column = column_of(self.text.line(row), at);
            view.top = keep_in(view.top, row, height);
            view.left = keep_in(view.left, column, width.saturating_sub(view.gutter));
        }
        view.top = view.top.min(self.text.lines().len().saturating_sub(1));
        self.view.set(view);
        view
    }

    /// Returns the first row that the next drawing shows, and how many it shows.
    pub(super) fn seen_next(&self) -> (usize, usize) {
        let view = self.view.get();
        let top = if view.is_loose {
            view.top
        } else {
            keep_in(view.top, self.text.cursor().0, view.height)
        };
        (top, view.height.into())
    }

    /// Brings the view back to the cursor.
    pub(super) fn follow(&self) {
        let view = self.view.get();
        self.view.set(View {
            is_loose: false,
            ..view
        });
    }

    /// Scrolls without moving the cursor.
    pub(super) fn scroll(&self, lines: isize) {
        let view = self.view.get();
        let last = self.text.lines().len().saturating_sub(1);
        self.view.set(View {
            top: view.top.saturating_add_signed(lines).min(last),
            is_loose: true,
            ..view
        });
    }

    /// Moves the cursor to what is drawn at a place of the area.
    pub(super) fn point(&mut self, column: u16, row: u16, reach: Reach) {
        let place = self.position_at(column, row);
        self.text.go(place, reach);
    }

    /// Returns how many rows a page is.
    pub(super) fn page(&self) -> usize {
        usize::from(self.view.get().height).saturating_sub(1).max(1)
    }

    fn position_at(&self, column: u16, row: u16) -> Position {
        let view = self.view.get();
        let last = self.text.lines().len().saturating_sub(1);
        let row = (view.top + usize::from(row)).min(last);
        let column = view.left + usize::from(column.saturating_sub(view.gutter));
        (row, char_at(self.text.line(row), column))
    }
}

/// Returns how wide line numbers are: a space on either side of the longest.
fn gutter(rows: usize, width: u16) -> u16 {
    let digits = u16::try_from(rows.to_string().len()).unwrap_or(u16::MAX);
    let gutter = digits.saturating_add(2);
    if width < gutter.saturating_add(NARROW) {
        return 0;
    }
    gutter
}

/// Moves a start as little as needed for `wanted` to be among the `length` places from it.
fn keep_in(start: usize, wanted: usize, length: u16) -> usize {
    let length = usize::from(length).max(1);
    start.min(wanted).max((wanted + 1).saturating_sub(length))
}
