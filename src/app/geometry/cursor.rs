//! The selected row of a list and the part of the list that is on screen.

use crate::keymap::Action;

/// Which row is selected and which one is drawn first.
///
/// Each move takes the number of rows and how many of them fit on the screen, and leaves both numbers in range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListCursor {
    selected: usize,
    offset: usize,
}

impl ListCursor {
    /// Returns the selected row; 0 in an empty list.
    #[must_use]
    pub fn selected(self) -> usize {
        self.selected
    }

    /// Returns the first row on screen.
    #[must_use]
    pub fn offset(self) -> usize {
        self.offset
    }

    /// Moves as an action says; tells whether it was an action that moves.
    pub fn on_action(&mut self, action: Action, len: usize, page: usize) -> bool {
        match action {
            Action::Up => self.up(len, page),
            Action::Down => self.down(len, page),
            Action::PageUp => self.page_up(len, page),
            Action::PageDown => self.page_down(len, page),
            Action::Top => self.top(),
            Action::Bottom => self.bottom(len, page),
            _ => return false,
        }
        true
    }

    /// Goes one row up.
    pub fn up(&mut self, len: usize, page: usize) {
        self.select(self.selected.saturating_sub(1), len, page);
    }

    /// Goes one row down.
    pub fn down(&mut self, len: usize, page: usize) {
        self.select(self.selected.saturating_add(1), len, page);
    }

    /// Goes one screen up.
    pub fn page_up(&mut self, len: usize, page: usize) {
        let step = page.max(1);
        self.offset = self.offset.saturating_sub(step);
        self.select(self.selected.saturating_sub(step), len, page);
    }

    /// Goes one screen down.
    pub fn page_down(&mut self, len: usize, page: usize) {
        let step = page.max(1);
        self.offset = self.offset.saturating_add(step);
        self.select(self.selected.saturating_add(step), len, page);
    }

    /// Goes to the first row.
    pub fn top(&mut self) {
        *self = Self::default();
    }

    /// Goes to the last row.
    pub fn bottom(&mut self, len: usize, page: usize) {
        self.select(len.saturating_sub(1), len, page);
    }

    /// Goes to a row.
    pub fn select(&mut self, row: usize, len: usize, page: usize) {
        self.selected = row;
        self.clamp(len, page);
    }

    /// Moves what is on screen by some rows, as the mouse wheel does; the selection stays on screen.
    pub fn scroll(&mut self, rows: isize, len: usize, page: usize) {
        let last = len.saturating_sub(page.max(1));
        self.offset = self.offset.saturating_add_signed(rows).min(last);
        let end = self.offset.saturating_add(page.max(1)).saturating_sub(1);
        self.selected = self.selected.clamp(self.offset, end);
        self.clamp(len, page);
    }

    /// Returns the row of the list that is drawn in a row of the screen.
    #[must_use]
    pub fn row_at(self, screen_row: usize, len: usize) -> Option<usize> {
        let row = self.offset.checked_add(screen_row)?;
        (row < len).then_some(row)
    }

    /// Brings both numbers into range after the list or the screen has changed.
    pub fn clamp(&mut self, len: usize, page: usize) {
        let page = page.max(1);
        self.selected = self.selected.min(len.saturating_sub(1));
        // No empty rows at the end while there are rows before the first one on screen.
        let highest = self.selected.min(len.saturating_sub(page));
        let lowest = (self.selected + 1).saturating_sub(page);
        self.offset = self.offset.min(highest).max(lowest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(selected: usize, offset: usize) -> ListCursor {
        ListCursor { selected, offset }
    }

    #[test]
    fn moves_and_drags_the_screen_along() {
        let mut cursor = ListCursor::default();
        cursor.up(10, 3);
        assert_eq!(cursor, at(0, 0));
        (0..4).for_each(|_| cursor.down(10, 3));
        assert_eq!(cursor, at(4, 2));
        cursor.page_down(10, 3);
        assert_eq!(cursor, at(7, 5));
        cursor.bottom(10, 3);
        assert_eq!(cursor, at(9, 7));
        cursor.page_up(10, 3);
        assert_eq!(cursor, at(6, 4));
        cursor.top();
        assert_eq!(cursor, at(0, 0));
    }

    #[test]
    fn only_actions_that_move_are_taken() {
        let mut cursor = ListCursor::default();
        assert!(cursor.on_action(Action::Bottom, 5, 5));
        assert!(!cursor.on_action(Action::Delete, 5, 5));
        assert_eq!(cursor, at(4, 0));
    }

    #[test]
    fn the_wheel_keeps_the_selection_on_screen() {
        let mut cursor = ListCursor::default();
        cursor.scroll(3, 10, 4);
        assert_eq!(cursor, at(3, 3));
        cursor.scroll(100, 10, 4);
        assert_eq!(cursor, at(6, 6));
        cursor.scroll(-100, 10, 4);
        assert_eq!(cursor, at(3, 0));
        assert_eq!(cursor.row_at(2, 10), Some(2));
        assert_eq!(cursor.row_at(10, 10), None);
    }

    #[test]
    fn stays_in_range_under_random_edits() {
        let mut seed: u64 = 11;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).unwrap_or(0) % below
        };
        let (mut cursor, mut len, mut page) = (ListCursor::default(), 0, 1);
        for _ in 0..50_000 {
            match random(10) {
                0 => len = random(40),
                1 => page = random(20),
                2 => cursor.up(len, page),
                3 => cursor.down(len, page),
                4 => cursor.page_up(len, page),
                5 => cursor.page_down(len, page),
                6 => cursor.top(),
                7 => cursor.bottom(len, page),
                8 => cursor.select(random(60), len, page),
                _ => cursor.scroll(random(30).cast_signed() - 15, len, page),
            }
            cursor.clamp(len, page);
            let shown = cursor.offset..cursor.offset + page.max(1);
            assert!(cursor.selected < len.max(1), "{cursor:?} of {len}");
            assert!(shown.contains(&cursor.selected), "{cursor:?} in {page}");
            assert!(cursor.offset <= len.saturating_sub(page.max(1)));
        }
    }
}
