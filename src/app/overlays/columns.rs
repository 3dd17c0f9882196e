//! Which columns the list of sandboxes has.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction, move_choice};
use crate::app::geometry::column::Column;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::Intent;
use crate::keymap::Action;

/// The list of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnChooser {
    /// The chosen one.
    pub at: usize,
}

impl ColumnChooser {
    /// Places it.
    #[must_use]
    pub fn place(self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 44,
            head: 0,
            foot: 1,
        };
        ListBox::new(screen, shape, Column::ALL.len(), self.at)
    }
}

impl Layer for ColumnChooser {
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Mark | Action::Open => {
                let column = Column::ALL.get(self.at).copied();
                let toggle = column.map(Intent::ToggleColumn);
                Reaction::stay_and(toggle.into_iter().collect())
            }
            other => move_choice(&mut self.at, Column::ALL.len(), other, cx),
        }
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        Some(self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }

    fn row_action(&self, _again: bool) -> Option<Action> {
        Some(Action::Mark)
    }
}
