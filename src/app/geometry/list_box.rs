//! A list over the panes: where its rows lie and which of them are in sight, for drawing and for clicks alike.

use ratatui::layout::{Constraint, Layout, Margin, Position, Rect};

use super::layout::list_area;

/// What is around the rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Cells of a row, borders included.
    pub(crate) width: u16,
    /// Rows above.
    pub(crate) head: u16,
    /// Rows below.
    pub(crate) foot: u16,
}

/// A list over the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListBox {
    /// All of it, with its border.
    pub area: Rect,
    /// What is above the rows.
    pub head: Rect,
    /// Where the rows are.
    pub body: Rect,
    /// What is below the rows.
    pub foot: Rect,
    /// How many rows there are, seen or not.
    pub count: usize,
    /// The chosen one.
    pub at: usize,
}

impl ListBox {
    /// Places a list that is as high as it needs to be.
    pub(crate) fn new(screen: Rect, shape: Shape, count: usize, at: usize) -> Self {
        let lines = count.max(1) + usize::from(shape.head + shape.foot);
        Self::within(list_area(screen, lines, shape.width), shape, count, at)
    }

    /// Places a list in a box with a border.
    pub(crate) fn within(area: Rect, shape: Shape, count: usize, at: usize) -> Self {
        let parts = [
            Constraint::Length(shape.head),
            Constraint::Fill(1),
            Constraint::Length(shape.foot),
        ];
        let [head, body, foot] = Layout::vertical(parts).areas(area.inner(Margin::new(1, 1)));
        Self {
            area,
            head,
            body,
            foot,
            count,
            at,
        }
    }

    /// Places a list in a part of a box.
    #[must_use]
    pub fn bare(body: Rect, count: usize, at: usize) -> Self {
        Self {
            area: body,
            head: Rect::ZERO,
            body,
            foot: Rect::ZERO,
            count,
            at,
        }
    }

    /// Returns the first row in sight; the chosen one always is.
    #[must_use]
    pub fn first(&self) -> usize {
        let last = usize::from(self.body.height).saturating_sub(1);
        self.at.saturating_sub(last)
    }

    /// Lists the rows in sight, with their places.
    pub fn rows(&self) -> impl Iterator<Item = (usize, Rect)> + use<> {
        (self.first()..self.count).zip(self.body.rows())
    }

    /// Returns the last row of what is below.
    #[must_use]
    pub fn note(&self) -> Rect {
        self.foot.rows().next_back().unwrap_or(Rect::ZERO)
    }

    /// Returns the row at a place.
    #[must_use]
    pub fn row_at(&self, place: Position) -> Option<usize> {
        let mut rows = self.rows();
        rows.find_map(|(row, area)| area.contains(place).then_some(row))
    }
}
