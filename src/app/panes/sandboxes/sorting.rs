//! The order of the list: each column is sorted by the value that it shows.

use std::cmp::Ordering;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::order::compare;
use super::{Column, Row, SandboxesState};
use crate::describe::status_word;
use crate::domain::ReapStatus;

impl SandboxesState {
    pub(super) fn compare(&self, a: &Row, b: &Row) -> Ordering {
        match self.column {
            // Idle for long means used long ago; what is busy is not idle at all.
            Column::Idle => {
                let since = |row: &Row| self.idle_since(row).unwrap_or(DateTime::<Utc>::MAX_UTC);
                since(b).cmp(&since(a))
            }
            Column::Reap => self.goes_in(a).cmp(&self.goes_in(b)),
            Column::Why => self.why(a).cmp(&self.why(b)),
            column => compare(column, a, b),
        }
    }

    /// Returns the time until a sandbox goes, to sort by; what never goes comes after all others.
    fn goes_in(&self, row: &Row) -> Duration {
        let reap_status = self.reap_status(&row.sandbox.reference);
        let left = reap_status.and_then(ReapStatus::reap_in);
        left.unwrap_or(Duration::MAX)
    }

    /// Returns what is wrong or special with a sandbox, to sort by; those with nothing come after all others.
    fn why(&self, row: &Row) -> (bool, String) {
        let reap_status = self.reap_status(&row.sandbox.reference);
        let word = reap_status.and_then(status_word).unwrap_or_default();
        (word.is_empty(), word.to_owned())
    }
}
