//! A memory limit without cgroups: looks at what the sandbox's processes and sockets use, and kills the largest when it is too
//! much.

use std::fs;
use std::os::fd::OwnedFd;

use super::socket_memory::SocketMemory;
use crate::abi::SIGKILL;
use crate::kernel::as_path;
use crate::processes;
use crate::sys;
use crate::wire::{self, plan::MemoryWatch};

/// What a fast program can fill in a millisecond.
const BYTES_PER_MILLI: u64 = 2 << 20;
const SOONEST: u64 = 5;
const LATEST: u64 = 250;

/// Watches over one sandbox.
pub(crate) struct Watcher<'a> {
    watch: &'a MemoryWatch,
    sockets: Option<SocketMemory>,
    kills: u64,
}

impl<'a> Watcher<'a> {
    /// Starts to count.
    pub(crate) fn new(watch: &'a MemoryWatch) -> Self {
        Self {
            watch,
            sockets: None,
            kills: 0,
        }
    }

    /// Counts what sockets hold as well, as they are told of by this one.
    pub(crate) fn watch_sockets(&mut self, socket: OwnedFd) {
        self.sockets = Some(SocketMemory::new(socket));
    }

    /// Checks once; returns the milliseconds until the next check is due. `spared` are processes of ours.
    pub(crate) fn check(&mut self, spared: &[i32]) -> i32 {
        let spared = |pid: u32| spared.iter().any(|own| u32::try_from(*own) == Ok(pid));
        let found = processes::descendants()
            .into_iter()
            .filter(|pid| !spared(*pid));
        let mut used: Vec<ProcessMemory> = found.map(ProcessMemory::of).collect();
        if total(&used) > self.watch.limit {
            // What several share was counted for each of them; to know better takes longer.
            used.iter_mut()
                .filter(|one| one.shared > 0)
                .for_each(ProcessMemory::divide);
        }
        let in_sockets = self.sockets.as_mut().map_or(0, SocketMemory::bytes);
        let total = total(&used) + in_sockets;
        if total > self.watch.limit
            && let Some(largest) = largest(&used, in_sockets)
        {
            self.kill(largest);
        }
        let room = self.watch.limit.saturating_sub(total);
        i32::try_from((room / BYTES_PER_MILLI / 2).clamp(SOONEST, LATEST)).unwrap_or(0)
    }

    /// The count is written first, so that whoever sees the end sees its cause.
    fn kill(&mut self, pid: u32) {
        self.kills += 1;
        let _ = fs::write(
            as_path(&self.watch.counter),
            wire::oom_kills_text(self.kills),
        );
        sys::kill(pid, SIGKILL);
    }
}

/// What a process has in memory, but for files, which can be dropped.
struct ProcessMemory {
    pid: u32,
    own: u64,
    /// In memory that others may have, too.
    shared: u64,
}

impl ProcessMemory {
    fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        Self {
            pid,
            own: field(&status, "RssAnon:").unwrap_or(0),
            shared: field(&status, "RssShmem:").unwrap_or(0),
        }
    }

    /// Leaves it only its part of what it shares; where the kernel does not tell, all of it.
    fn divide(&mut self) {
        let parts =
            fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        self.shared = field(&parts, "Pss_Shmem:").unwrap_or(self.shared);
    }

    fn bytes(&self) -> u64 {
        self.own + self.shared
    }
}

/// Finds who has most: of sockets, if those hold more than any process, and otherwise of memory.
fn largest(used: &[ProcessMemory], in_sockets: u64) -> Option<u32> {
    let largest = used.iter().max_by_key(|one| one.bytes())?;
    if largest.bytes() >= in_sockets {
        return Some(largest.pid);
    }
    let open = used.iter().max_by_key(|one| open_files(one.pid));
    open.map(|one| one.pid)
}

fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

fn total(used: &[ProcessMemory]) -> u64 {
    used.iter().map(ProcessMemory::bytes).sum()
}

/// Reads a line that counts in kibibytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(
        line.trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<u64>()
            .ok()?
            << 10,
    )
}
