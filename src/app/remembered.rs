//! What of the dashboard is as it was left the last time: panes, order and columns; nothing of what they show.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{AppState, Pane};
use crate::app::geometry::split::Split;
use crate::app::panes::sandboxes::Column;

/// How the dashboard was left. Fields that are missing are as at the first time; words that are unknown make it unreadable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// The pane that had the keys.
    pub focus: Pane,
    /// Did it have the whole screen?
    pub zoom: bool,
    /// Where the panes met.
    pub split: Split,
    /// Was the mouse ours?
    pub mouse: bool,
    /// The list of sandboxes.
    pub list: ListLayout,
}

/// How the list of sandboxes was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListLayout {
    /// What it was sorted by.
    pub sort: Column,
    /// Largest or last first?
    pub descending: bool,
    /// Also those that did not run?
    pub show_all: bool,
    /// Columns that were not wanted.
    pub hidden: BTreeSet<Column>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            focus: Pane::Sandboxes,
            zoom: false,
            split: Split::default(),
            mouse: true,
            list: ListLayout::default(),
        }
    }
}

impl Default for ListLayout {
    fn default() -> Self {
        Self {
            sort: Column::Age,
            descending: false,
            show_all: true,
            hidden: BTreeSet::new(),
        }
    }
}

impl AppState {
    /// Tells how the dashboard is now.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout {
            focus: self.view.focus,
            zoom: self.view.zoom,
            split: self.view.split,
            mouse: self.view.mouse,
            list: ListLayout {
                sort: self.sandboxes.column,
                descending: self.sandboxes.descending,
                show_all: self.sandboxes.show_all,
                hidden: self.sandboxes.hidden().clone(),
            },
        }
    }

    /// Makes the dashboard as it was left; the settings may still take the mouse away.
    pub fn restore(&mut self, layout: Layout) {
        self.view.focus = layout.focus;
        self.view.zoom = layout.zoom;
        self.view.split = layout.split.in_range();
        self.view.mouse &= layout.mouse;
        self.sandboxes.column = layout.list.sort;
        self.sandboxes.descending = layout.list.descending;
        self.sandboxes.show_all = layout.list.show_all;
        for column in layout.list.hidden {
            self.sandboxes.toggle_column(column);
        }
        self.sandboxes.arrange();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::App;

    #[test]
    fn the_first_time_is_the_default() {
        assert_eq!(App::new(80, 24).state.layout(), Layout::default());
    }

    #[test]
    fn a_dashboard_is_restored_as_it_was_left() {
        let mut left = App::with(160, 48, &["py"]);
        left.keys("o o O a C down down space esc alt-left z 4 m");
        let layout = left.state.layout();
        assert_ne!(layout, Layout::default());
        let mut next = App::new(160, 48);
        next.state.restore(layout.clone());
        assert_eq!(next.state.layout(), layout);
    }

    #[test]
    fn an_older_file_is_read_as_far_as_it_goes() {
        let layout: Layout = serde_json::from_str("{\"zoom\": true}").expect("a layout");
        let expected = Layout {
            zoom: true,
            ..Layout::default()
        };
        assert_eq!(layout, expected);
    }

    #[test]
    fn the_settings_have_the_last_word_on_the_mouse() {
        let mut app = App::new(80, 24);
        app.state.view.mouse = false;
        app.state.restore(Layout::default());
        assert!(!app.state.view.mouse);
    }
}
