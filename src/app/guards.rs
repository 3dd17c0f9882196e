//! The guards of all sandboxes, and what was printed lately.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use crate::domain::{ExecId, Guard, Guarded, SandboxRef};

/// The guards and what was printed lately.
#[derive(Debug, Default)]
pub struct GuardsState {
    pub(crate) guards: BTreeMap<(SandboxRef, Guarded), Guard>,
    /// What came here, since the last tick that looked.
    pub(crate) printed: BTreeMap<SandboxRef, u64>,
    pub(crate) since: DateTime<Utc>,
    /// What runs had printed by their records, some time ago.
    pub(crate) recorded: HashMap<ExecId, u64>,
    pub(crate) recorded_at: DateTime<Utc>,
    /// Bytes a second that runs printed between the last two looks at their records.
    pub(crate) rates: BTreeMap<SandboxRef, f64>,
}

impl GuardsState {
    /// Names what is raised for a sandbox.
    pub fn raised<'a>(&'a self, sandbox: &'a SandboxRef) -> impl Iterator<Item = Guarded> + 'a {
        let guards = Guarded::ALL.into_iter();
        guards.filter(move |what| {
            let guard = self.guards.get(&(sandbox.clone(), *what));
            guard.is_some_and(Guard::is_raised)
        })
    }
}
