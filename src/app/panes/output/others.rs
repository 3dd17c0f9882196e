//! Tabs of runs that other processes hold: they come beside the others, and go without harm to the run.

use chrono::{DateTime, Utc};

use super::{Hold, OutputState, Run, RunInfo};
use crate::domain::{ExecId, Run as Recorded, StreamId};

impl OutputState {
    /// Adds a run without selecting it, unless nothing is selected.
    pub fn open_beside(&mut self, info: RunInfo) {
        let selected = self.selected;
        self.open(info);
        self.selected = selected.or(self.selected);
    }

    /// Says in a run's output that some of it was not kept.
    pub fn missing(&mut self, stream: StreamId, bytes: u64, now: DateTime<Utc>) {
        if let Some(run) = self.find_mut(stream) {
            run.missing(bytes, now);
        }
    }

    /// Finds the tab of a run by its id on record.
    #[must_use]
    pub fn of_exec(&self, exec: &ExecId) -> Option<StreamId> {
        let found = self.runs.iter().find(|run| run.info().exec == *exec);
        found.map(|run| run.info().stream)
    }

    /// Returns how many runs would end with this dashboard.
    #[must_use]
    pub fn held(&self) -> usize {
        let held = self.runs.iter().filter(|run| !run.is_of_others());
        held.filter(|run| run.is_running()).count()
    }

    /// Makes room for one more run of others; the oldest that is over goes. Tells whether there is room.
    pub fn make_room(&mut self, most: usize) -> bool {
        let others = self.runs.iter().filter(|run| run.is_of_others());
        if others.count() < most {
            return true;
        }
        let selected = self.selected;
        let goes = self.runs.iter().position(|run| {
            run.is_of_others() && !run.is_running() && selected != Some(run.info().stream)
        });
        goes.map(|at| self.runs.remove(at)).is_some()
    }

    /// Tells whether somebody has closed the tab of a run that goes on.
    #[must_use]
    pub fn dismissed(&self, exec: &ExecId) -> bool {
        self.dismissed.contains(exec)
    }

    /// Forgets closed tabs of runs that are over.
    pub fn forget_dismissed(&mut self, under_way: &[Recorded]) {
        self.dismissed
            .retain(|exec| under_way.iter().any(|run| run.id == *exec));
    }
}

impl Run {
    /// Tells whether another process holds it, or held it.
    #[must_use]
    pub fn is_of_others(&self) -> bool {
        matches!(self.info().hold, Hold::Other(_))
    }
}
