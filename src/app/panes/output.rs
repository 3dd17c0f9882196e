//! The output pane: runs as tabs, each with its lines; what keys do to them.

mod feed;
mod keys;
mod line;
mod others;
mod run;
mod search;
mod select;
mod status;
mod tabs;
#[cfg(test)]
mod tests;
mod view;

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use line::OutputLine;
pub use run::{Hold, MOST_BYTES, MOST_LINES, Run, RunInfo, dropped_note};
pub use search::Search;
pub use status::{RunHealth, RunStatus};
pub use tabs::{tab_text, took};
pub use view::{Shape, Spot};

use crate::domain::{ExecEnd, ExecId, OutputChunk, StreamId};
use crate::protocol::Failure;

/// The finished runs that are kept.
const MOST_FINISHED: usize = 20;

/// The column that tells the two streams apart.
pub const GUTTER: usize = 1;

/// The columns of a time and the space after it.
pub const CLOCK: usize = 9;

/// With fewer columns, times would leave too little of the text.
const CLOCK_NEEDS: usize = 24;

/// What the output pane knows.
pub struct OutputState {
    runs: Vec<Run>,
    selected: Option<StreamId>,
    wraps: bool,
    shows_times: bool,
    /// The columns of the pane, as last told.
    columns: usize,
    /// The rows for text, as last told.
    page: usize,
    search: Option<Search>,
    /// The run that an open question is about; another one may be selected meanwhile.
    asked: Option<StreamId>,
    /// Runs of other processes whose tabs were closed while they went on.
    dismissed: HashSet<ExecId>,
}

impl Default for OutputState {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            selected: None,
            wraps: false,
            shows_times: false,
            columns: 80,
            page: 1,
            search: None,
            asked: None,
            dismissed: HashSet::new(),
        }
    }
}

impl OutputState {
    /// Creates a pane without runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a run and selects it; the oldest finished ones beyond the limit are forgotten.
    pub fn open(&mut self, info: RunInfo) {
        self.selected = Some(info.stream);
        if self.find(info.stream).is_none() {
            self.runs.push(Run::new(info));
        }
        self.forget_oldest();
    }

    /// Adds output to a run.
    pub fn push(&mut self, stream: StreamId, chunk: &OutputChunk, now: DateTime<Utc>) {
        if let Some(run) = self.find_mut(stream) {
            run.push(chunk, now);
        }
    }

    /// Notes how a run ended.
    pub fn end(&mut self, stream: StreamId, outcome: &Result<ExecEnd, Failure>, took: Duration) {
        if let Some(run) = self.find_mut(stream) {
            run.end(outcome, took);
        }
        self.forget_oldest();
    }

    /// Selects a run, if it is there.
    pub fn select(&mut self, stream: StreamId) {
        if self.find(stream).is_some() {
            self.selected = Some(stream);
        }
    }

    /// Tells how large the pane is; without it, scrolling of wrapped lines is a little off.
    pub fn resize(&mut self, columns: u16, page: usize) {
        self.columns = usize::from(columns);
        self.page = page.max(1);
    }

    /// Moves the view by rows; a negative number goes up.
    pub fn scroll(&mut self, lines: isize, page: usize) {
        self.page = page.max(1);
        self.scroll_rows(lines);
    }

    /// Returns all runs in the order of their tabs.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the selected run.
    #[must_use]
    pub fn current(&self) -> Option<&Run> {
        self.find(self.selected?)
    }

    /// Finds a run by its stream.
    #[must_use]
    pub fn find(&self, stream: StreamId) -> Option<&Run> {
        self.runs.iter().find(|run| run.info().stream == stream)
    }

    /// Returns how many runs go on.
    #[must_use]
    pub fn running(&self) -> usize {
        self.runs.iter().filter(|run| run.is_running()).count()
    }

    /// Returns what is looked for.
    #[must_use]
    pub fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Tells whether times are shown in a pane this wide.
    #[must_use]
    pub fn shows_times_in(&self, columns: usize) -> bool {
        self.shows_times && columns >= CLOCK_NEEDS
    }

    /// Returns the size of the text in a pane of this size.
    #[must_use]
    pub fn shape_in(&self, columns: usize, rows: usize) -> Shape {
        let clock = if self.shows_times_in(columns) {
            CLOCK
        } else {
            0
        };
        Shape {
            columns: columns.saturating_sub(GUTTER + clock).max(1),
            rows,
            wraps: self.wraps,
        }
    }

    fn shape(&self) -> Shape {
        self.shape_in(self.columns, self.page)
    }

    fn current_mut(&mut self) -> Option<&mut Run> {
        self.find_mut(self.selected?)
    }

    fn find_mut(&mut self, stream: StreamId) -> Option<&mut Run> {
        let mut runs = self.runs.iter_mut();
        runs.find(|run| run.info().stream == stream)
    }

    fn forget_oldest(&mut self) {
        let mut surplus = (self.runs.len() - self.running()).saturating_sub(MOST_FINISHED);
        let selected = self.selected;
        self.runs.retain(|run| {
            let goes = surplus > 0 && !run.is_running() && selected != Some(run.info().stream);
            surplus -= usize::from(goes);
            !goes
        });
    }
}
