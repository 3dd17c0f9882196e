//! A memory limit without cgroups: looks at what the sandbox's processes use, and kills the largest when it is too much.

use std::fs;

use super::plan::Watch;
use crate::kernel::as_path;
use crate::processes;
use crate::sys::{self, SIGKILL};

/// What a fast program can fill in a millisecond.
const BYTES_PER_MILLI: u64 = 2 << 20;
const SOONEST: u64 = 5;
const LATEST: u64 = 250;

/// Watches over one sandbox.
pub struct Watcher<'a> {
    watch: &'a Watch,
    kills: u64,
}

impl<'a> Watcher<'a> {
    /// Starts to count.
    pub fn new(watch: &'a Watch) -> Self {
        Self { watch, kills: 0 }
    }

    /// Looks once; returns the milliseconds until the next look is due. `spared` are processes of ours.
    pub fn look(&mut self, spared: &[i32]) -> i32 {
        let spared = |pid: u32| spared.iter().any(|own| u32::try_from(*own) == Ok(pid));
        let found = processes::descendants().into_iter().filter(|pid| !spared(*pid));
        let used: Vec<(u64, u32)> = found.map(|pid| (resident(pid), pid)).collect();
        let total: u64 = used.iter().map(|(bytes, _)| bytes).sum();
        if total > self.watch.limit
            && let Some((_, pid)) = used.iter().max()
        {
            self.kill(*pid);
        }
        let room = self.watch.limit.saturating_sub(total);
        i32::try_from((room / BYTES_PER_MILLI / 2).clamp(SOONEST, LATEST)).unwrap_or(0)
    }

    /// The count is written first, so that whoever sees the end sees its cause.
    fn kill(&mut self, pid: u32) {
        self.kills += 1;
        let _ = fs::write(as_path(&self.watch.counter), format!("oom_kill {}\n", self.kills));
        sys::kill(pid, SIGKILL);
    }
}

/// Reads what a process has in memory that is not shared with files.
fn resident(pid: u32) -> u64 {
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut fields = pages.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (all, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    all.saturating_sub(shared) * sys::page_size()
}
