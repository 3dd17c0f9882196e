//! Where the panes meet: moved by keys, remembered with the rest of the layout.

use serde::{Deserialize, Serialize};

/// The least and the most of a side, in percent.
const RANGE: (u16, u16) = (20, 80);

/// Where the panes meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Split {
    /// Percent of the width for sandboxes and editor.
    pub columns: u16,
    /// Percent of the height for the sandboxes.
    pub left: u16,
    /// Percent of the height for the output.
    pub right: u16,
    /// Rows that the list has above the usual on a narrow screen.
    pub list: i16,
}

impl Default for Split {
    fn default() -> Self {
        Self {
            columns: 56,
            left: 42,
            right: 62,
            list: 0,
        }
    }
}

impl Split {
    /// Returns it with all borders in reach, whoever wrote it.
    #[must_use]
    pub fn in_range(self) -> Self {
        let side = |percent: u16| percent.clamp(RANGE.0, RANGE.1);
        Self {
            columns: side(self.columns),
            left: side(self.left),
            right: side(self.right),
            ..self
        }
    }
}
