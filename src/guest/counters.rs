//! What the kernel counts of a sandbox's limits, as far as the sandbox may read it.

use std::fs;

use crate::wire;

/// Where kills for memory are counted: by the embedded engine, then by cgroups of version 2 and 1.
const MEMORY: [&str; 3] = [
    wire::MEMORY_EVENTS,
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
];
/// Where processes that were refused are counted, in the same order.
const PIDS: [&str; 3] = [
    wire::PIDS_EVENTS,
    "/sys/fs/cgroup/pids.events",
    "/sys/fs/cgroup/pids/pids.events",
];

/// How often the limits of this sandbox were enforced so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counters {
    oom_kills: Option<u64>,
    refused_processes: Option<u64>,
}

impl Counters {
    /// Reads them.
    pub(crate) fn read() -> Self {
        Self {
            oom_kills: count(&MEMORY, wire::oom_kills),
            refused_processes: count(&PIDS, wire::refused_processes),
        }
    }

    /// Tells whether a process was killed for memory since then, if anybody knows.
    pub(crate) fn saw_oom_since(self, before: Self) -> Option<bool> {
        let both = self.oom_kills.zip(before.oom_kills);
        both.map(|(after, before)| after > before)
    }

    /// Tells how many processes were refused since then, if anybody knows.
    pub(crate) fn refused_since(self, before: Self) -> Option<u64> {
        let both = self.refused_processes.zip(before.refused_processes);
        both.map(|(after, before)| after.saturating_sub(before))
    }
}

fn count(places: &[&str], read: fn(&str) -> Option<u64>) -> Option<u64> {
    let mut texts = places.iter().map(fs::read_to_string);
    read(&texts.find_map(Result::ok)?)
}
