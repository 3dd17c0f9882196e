//! The list of sandboxes: rows by id, order, filter, marks, and the last minutes of each one's figures.

pub mod columns;
mod intents;
mod order;
mod pause_all;
mod reap_statuses;
mod sorting;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

pub use crate::app::geometry::column::Column;
use crate::app::geometry::cursor::ListCursor;
use crate::app::intent::Intent;
use crate::domain::{EngineEvent, HostName, Phase, ReapStatus, Sample, Sandbox, SandboxRef};
use crate::keymap::Action;
use order::matches;
use reap_statuses::{ReapStatuses, Use};
use usage::Usage;

/// Samples kept for each sandbox: five minutes at one a second.
const HISTORY: usize = 300;

/// One sandbox with its recent figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// Recent samples, oldest first.
    pub samples: VecDeque<Sample>,
}

impl Row {
    /// Returns the newest figures, while it runs.
    #[must_use]
    pub fn latest(&self) -> Option<&Sample> {
        self.samples.back().filter(|_| self.sandbox.phase.is_live())
    }
}

/// The list.
#[derive(Debug)]
pub struct SandboxesState {
    rows: BTreeMap<SandboxRef, Row>,
    order: Vec<SandboxRef>,
    cursor: ListCursor,
    marks: BTreeSet<SandboxRef>,
    hidden: BTreeSet<Column>,
    usage: Usage,
    reap_statuses: ReapStatuses,
    /// What was paused all at once.
    paused_at_once: BTreeSet<SandboxRef>,
    /// What it is sorted by.
    pub column: Column,
    /// Largest or last first?
    pub descending: bool,
    /// Also those that do not run?
    pub show_all: bool,
    /// What is filtered for.
    pub filter: String,
    wanted: Option<SandboxRef>,
    /// Rows that are seen at once.
    height: usize,
}

impl Default for SandboxesState {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            order: Vec::new(),
            cursor: ListCursor::default(),
            marks: BTreeSet::new(),
            hidden: BTreeSet::new(),
            usage: Usage::default(),
            reap_statuses: ReapStatuses::default(),
            paused_at_once: BTreeSet::new(),
            column: Column::Age,
            descending: false,
            show_all: true,
            filter: String::new(),
            wanted: None,
            height: 1,
        }
    }
}

impl SandboxesState {
    /// Takes the whole list of one host.
    pub fn replace(&mut self, host: &HostName, sandboxes: Vec<Sandbox>) {
        let mut old: BTreeMap<SandboxRef, Row> = std::mem::take(&mut self.rows);
        let mut kept: BTreeMap<SandboxRef, Row> = BTreeMap::new();
        for sandbox in sandboxes {
            let samples = old
                .remove(&sandbox.reference)
                .map(|row| row.samples)
                .unwrap_or_default();
            kept.insert(sandbox.reference.clone(), Row { sandbox, samples });
        }
        old.retain(|reference, _| reference.host != *host);
        kept.extend(old);
        self.rows = kept;
        self.marks
            .retain(|reference| self.rows.contains_key(reference));
        self.usage
            .retain(|reference| self.rows.contains_key(reference));
        self.arrange();
    }

    /// Takes something that happened to a sandbox.
    pub fn on_engine_event(&mut self, event: &EngineEvent) {
        self.usage.note(event);
    }

    /// Takes the whole past, oldest first.
    pub fn on_past_events<'a>(&mut self, past: impl Iterator<Item = &'a EngineEvent>) {
        self.usage.clear();
        past.for_each(|event| self.usage.note(event));
    }

    /// Returns since when a sandbox is idle; `None` while a command runs in it.
    #[must_use]
    pub fn idle_since(&self, row: &Row) -> Option<DateTime<Utc>> {
        match self.reap_statuses.told(&row.sandbox.reference) {
            Some(Use::Busy) => None,
            Some(Use::IdleSince(since)) => Some(since),
            None => self.usage.idle_since(&row.sandbox),
        }
    }

    /// Takes how the sandboxes of a host stand.
    pub fn set_reap_statuses(
        &mut self,
        host: &HostName,
        reap_statuses: Vec<ReapStatus>,
        now: DateTime<Utc>,
    ) {
        self.reap_statuses.replace(host, reap_statuses, now);
        if matches!(self.column, Column::Idle | Column::Reap | Column::Why) {
            self.arrange();
        }
    }

    /// Returns how a sandbox stands, if that was told.
    #[must_use]
    pub fn reap_status(&self, reference: &SandboxRef) -> Option<&ReapStatus> {
        self.reap_statuses.find(reference)
    }

    /// Returns the time until a sandbox goes, if it goes.
    #[must_use]
    pub fn reap_in(&self, reference: &SandboxRef, now: DateTime<Utc>) -> Option<TimeDelta> {
        self.reap_statuses.reap_in(reference, now)
    }

    /// Returns the columns that are not wanted.
    #[must_use]
    pub fn hidden(&self) -> &BTreeSet<Column> {
        &self.hidden
    }

    /// Shows or hides a column; the name always stays.
    pub fn toggle_column(&mut self, column: Column) {
        if column != Column::Name && !self.hidden.remove(&column) {
            self.hidden.insert(column);
        }
    }

    /// Takes figures of one sandbox.
    pub fn sampled(&mut self, reference: &SandboxRef, sample: Sample) {
        if let Some(row) = self.rows.get_mut(reference) {
            if row.samples.len() == HISTORY {
                row.samples.pop_front();
            }
            row.samples.push_back(sample);
        }
    }

    /// Sorts and filters again, keeping the selection on the same sandbox.
    pub fn arrange(&mut self) {
        let selected = self
            .wanted
            .clone()
            .or_else(|| self.selected().map(|row| row.sandbox.reference.clone()));
        let mut rows: Vec<&Row> = self
            .rows
            .values()
            .filter(|row| self.is_shown(row))
            .collect();
        rows.sort_by(|a, b| {
            let order = self
                .compare(a, b)
                .then_with(|| a.sandbox.name.cmp(&b.sandbox.name));
            if self.descending {
                order.reverse()
            } else {
                order
            }
        });
        self.order = rows
            .into_iter()
            .map(|row| row.sandbox.reference.clone())
            .collect();
        if let Some(at) =
            selected.and_then(|wanted| self.order.iter().position(|reference| *reference == wanted))
        {
            self.cursor.select(at, self.order.len(), self.height);
            self.wanted = None;
        }
        self.cursor.clamp(self.order.len(), self.height);
    }

    fn is_shown(&self, row: &Row) -> bool {
        let runs =
            self.show_all || row.sandbox.phase.is_live() || row.sandbox.phase == Phase::Creating;
        runs && matches(&row.sandbox, &self.filter)
    }

    /// Selects a sandbox as soon as it appears.
    pub fn select(&mut self, reference: SandboxRef) {
        self.wanted = Some(reference);
        self.arrange();
    }

    /// Returns the selected row.
    #[must_use]
    pub fn selected(&self) -> Option<&Row> {
        self.rows.get(self.order.get(self.cursor.selected())?)
    }

    /// Returns the rows in order.
    #[must_use]
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &Row> {
        let rows: Vec<&Row> = self
            .order
            .iter()
            .filter_map(|reference| self.rows.get(reference))
            .collect();
        rows.into_iter()
    }

    /// Returns all rows, also those that the filter hides.
    pub fn all(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// Returns the rows of a page with their numbers.
    pub fn page(&self, height: usize) -> impl Iterator<Item = (usize, &Row)> {
        let mut cursor = self.cursor;
        cursor.clamp(self.order.len(), height);
        let page = self
            .order
            .iter()
            .enumerate()
            .skip(cursor.offset())
            .take(height);
        page.filter_map(|(at, reference)| Some((at, self.rows.get(reference)?)))
    }

    /// Returns a row by its reference.
    #[must_use]
    pub fn find(&self, reference: &SandboxRef) -> Option<&Row> {
        self.rows.get(reference)
    }

    /// Returns the index of the selected row.
    #[must_use]
    pub fn selected_index(&self) -> usize {
        self.cursor.selected()
    }

    /// Tells whether a row is marked.
    #[must_use]
    pub fn is_marked(&self, reference: &SandboxRef) -> bool {
        self.marks.contains(reference)
    }

    /// Counts running ones and all.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (
            self.rows
                .values()
                .filter(|row| row.sandbox.phase == Phase::Running)
                .count(),
            self.rows.len(),
        )
    }

    /// Moves by lines of the wheel.
    pub fn scroll(&mut self, lines: isize) {
        self.cursor.scroll(lines, self.order.len(), self.height);
    }

    /// Selects the row at a line of the page.
    pub fn click(&mut self, line: usize, height: usize) {
        self.cursor.clamp(self.order.len(), height);
        if let Some(at) = self.cursor.row_at(line, self.order.len()) {
            self.cursor.select(at, self.order.len(), height);
        }
    }

    /// Sorts by the heading at a column of the screen, or turns the order around.
    pub fn click_heading(&mut self, at: usize, width: usize) {
        match columns::at(at, width, &self.hidden) {
            Some(column) if column == self.column => self.turn_around(),
            Some(column) => self.sort_by(column),
            None => {}
        }
    }

    /// Does what a key asks for.
    pub fn on_action(&mut self, action: Action, page: usize) -> Vec<Intent> {
        self.height = page.max(1);
        if self.cursor.on_action(action, self.order.len(), self.height) {
            return Vec::new();
        }
        match action {
            Action::Mark => self.toggle_mark(),
            Action::InvertMarks => self.invert_marks(),
            Action::ClearMarks => self.marks.clear(),
            Action::SortNext => self.sort_by(self.column.next()),
            Action::SortReverse => self.turn_around(),
            Action::ToggleAll => self.toggle_all(),
            Action::Back => self.back(),
            other => return self.intents(other),
        }
        Vec::new()
    }

    /// Takes the text of the filter, while it is typed.
    pub fn set_filter(&mut self, text: &str) {
        text.clone_into(&mut self.filter);
        self.arrange();
    }

    fn toggle_mark(&mut self) {
        let Some(reference) = self.order.get(self.cursor.selected()).cloned() else {
            return;
        };
        if !self.marks.remove(&reference) {
            self.marks.insert(reference);
        }
        self.cursor.down(self.order.len(), self.height);
    }

    fn invert_marks(&mut self) {
        self.marks = self
            .order
            .iter()
            .filter(|reference| !self.marks.contains(reference))
            .cloned()
            .collect();
    }

    fn sort_by(&mut self, column: Column) {
        self.column = column;
        self.descending = column.is_load();
        self.arrange();
    }

    fn turn_around(&mut self) {
        self.descending = !self.descending;
        self.arrange();
    }

    fn toggle_all(&mut self) {
        self.show_all = !self.show_all;
        self.arrange();
    }

    fn back(&mut self) {
        if self.filter.is_empty() {
            self.marks.clear();
        } else {
            self.set_filter("");
        }
    }
}

/// Tells how old a sandbox is.
#[must_use]
pub fn age_seconds(sandbox: &Sandbox, now: DateTime<Utc>) -> u64 {
    u64::try_from((now - sandbox.created_at).num_seconds()).unwrap_or(0)
}
