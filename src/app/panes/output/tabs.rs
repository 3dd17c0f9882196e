//! The tabs of the runs: their words, and which of them fit.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Hold, OutputState, Run};
use crate::text::{display_width, human, truncate};

/// The columns of a title; longer ones are cut.
const LONGEST_TITLE: usize = 24;

/// Room for the signs that say that there are more tabs.
const MORE: usize = 2;

impl OutputState {
    /// Returns the first tab with which the selected one still fits.
    #[must_use]
    pub fn first_tab(&self, columns: usize, now: DateTime<Utc>) -> usize {
        let current = self.current().map(|run| run.info().stream);
        let mut runs = self.runs().iter();
        let Some(at) = runs.position(|run| Some(run.info().stream) == current) else {
            return 0;
        };
        let width = |run: &Run| display_width(&tab_text(run, "*", now));
        if self.runs().iter().map(width).sum::<usize>() <= columns {
            return 0;
        }
        let mut used = MORE;
        let before = self.runs().iter().take(at + 1).rev();
        let fitting = before.take_while(|run| {
            used = used.saturating_add(width(run));
            used <= columns
        });
        (at + 1).saturating_sub(fitting.count().max(1))
    }
}

/// Writes a tab; the sign says how the run stands, in one column.
#[must_use]
pub fn tab_text(run: &Run, sign: &str, now: DateTime<Utc>) -> String {
    let title = match run.info().hold {
        Hold::Own => run.info().title.clone(),
        Hold::Other(source) => format!("{}: {}", source.word(), run.info().title),
    };
    let title = truncate(&title, LONGEST_TITLE);
    let words = run.status().short_words();
    if run.is_running() {
        return format!(" {title} {sign} {words} {} ", took(run.took(now)));
    }
    format!(" {title} {sign} {words} ")
}

/// Writes a time; the parts of a second matter for short runs.
#[must_use]
pub fn took(span: Duration) -> String {
    match span.as_millis() {
        millis @ 10..1000 => format!("0.{:02} s", millis / 10),
        _ => human::duration(span),
    }
}
