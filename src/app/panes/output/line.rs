//! A line of output with where and when it came.

use std::mem::size_of;

use chrono::{DateTime, Utc};

use crate::domain::StreamKind;
use crate::text::{StyledLine, Weigh};

/// A line with where and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLine {
    /// The text and its looks.
    pub line: StyledLine,
    /// Where it was written.
    pub stream: StreamKind,
    /// When its first byte came.
    pub at: DateTime<Utc>,
}

impl Weigh for OutputLine {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.line.text.len() + size_of_val(&*self.line.runs)
    }
}
