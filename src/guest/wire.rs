//! Everything that the engine, the keeper and the guest program say to each other; compiled into both programs, so that they
//! cannot disagree.
//!
//! * [`Call`]: the guest's command line, from its [`Verb`] on.
//! * [`Trailer`]: its last words, behind the end mark, with the seal of a [`Secret`].
//! * [`Record`]: files and trees, both ways. [`report`]: lines that other verbs print.
//! * [`attempts`]: how ways out went.
//! * [`KeeperRequest`], [`KeeperAnswer`]: what a keeper of the embedded engine is asked and answers.
//! * [`plan`]: what a keeper builds. [`JournalLine`]: what happened to sandboxes.

pub mod attempts;
mod call;
mod journal;
mod keeper;
pub mod plan;
mod records;
pub mod report;
mod secret;
mod trailer;
mod verb;
mod words;
mod zygote;

pub use call::{Call, ExecCall, TriedLimits};
pub use journal::{JOURNAL, JournalEvent, JournalLine};
pub use keeper::{
    GuestStreams, KEEPER_DEATH, KEEPER_LOCK, KEEPER_SOCKET, KeeperAnswer, KeeperRequest,
    REFUSED_NO_ROOM, REFUSED_PAUSED, RunRequest, StartReport,
};
pub use records::{
    DATA_HEAD, DATA_PIECE, Decoder, Entry, EntryKind, Record, data_head, end_bytes, entry_bytes,
    padding,
};
pub use secret::Secret;
pub use trailer::{Cause, EXIT_CANCELLED, EXIT_TIMEOUT, ProblemKind, Trailer};
pub use verb::Verb;
pub use words::{escape, unescape};
pub use zygote::{ZygoteAnswer, ZygoteRequest};

/// Where the engine mounts the guest program.
pub const GUEST_DIR: &str = "/.sandtop";
/// The guest program's path in a sandbox.
pub const GUEST_PATH: &str = "/.sandtop/guest";
/// The mode of its file: a process whose program nobody inside can read is hidden from them by the kernel from its first
/// instruction on, with its variables and descriptors.
pub const GUEST_MODE: u32 = 0o111;
/// Folder in memory where named sessions are kept.
pub const SESSION_DIR: &str = "/run/sandtop/sessions";
/// Folder in memory where execs leave how they ended, for whoever comes when their follower is gone.
pub const ENDS_DIR: &str = "/run/sandtop/ends";
/// Variable that hands the guest its end mark, out of sight of other processes.
pub const MARK_VARIABLE: &str = "SANDTOP_END_MARK";
/// Variable that every process of an exec carries, so that it is found even when it has left the tree.
pub const EXEC_VARIABLE: &str = "SANDTOP_EXEC";
/// What the guest's own complaints on standard error start with.
pub const COMPLAINT: &str = "sandtop: ";
/// Where a sandbox of the embedded engine shows how often the kernel killed for memory.
pub const MEMORY_EVENTS: &str = "/.sandtop/memory.events";

/// Where a sandbox of the embedded engine shows how often the kernel refused it a process.
pub const PIDS_EVENTS: &str = "/.sandtop/pids.events";

/// The kernel's word for such kills.
const OOM_KILL: &str = "oom_kill";
/// The kernel's word for processes that it refused.
const MOST_REACHED: &str = "max";

/// Writes a count of kills for memory as the kernel does.
#[must_use]
pub fn oom_kills_text(count: u64) -> String {
    format!("{OOM_KILL} {count}\n")
}

/// Reads the count of kills for memory, from a cgroup's file or our own.
#[must_use]
pub fn oom_kills(text: &str) -> Option<u64> {
    counter(text, OOM_KILL)
}

/// Reads the count of processes that were refused, from a cgroup's file.
#[must_use]
pub fn refused_processes(text: &str) -> Option<u64> {
    counter(text, MOST_REACHED)
}

fn counter(text: &str, wanted: &str) -> Option<u64> {
    let mut counters = text.lines().filter_map(|line| line.split_once(' '));
    let (_, count) = counters.find(|(word, _)| *word == wanted)?;
    count.trim().parse().ok()
}

/// Says that a program found no room, and what helps.
#[must_use]
pub fn no_room_text(program: &str) -> String {
    format!("{program}: {REFUSED_NO_ROOM}; `sandtop restart` ends what runs there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_for_memory_are_counted_as_the_kernel_does() {
        assert_eq!(oom_kills(&oom_kills_text(3)), Some(3));
        let cgroup = "low 0\nhigh 0\nmax 12\noom 4\noom_kill 2\noom_group_kill 1\n";
        assert_eq!(oom_kills(cgroup), Some(2));
        assert_eq!(oom_kills("oom 4\n"), None);
        assert_eq!(oom_kills("oom_kill many\n"), None);
        assert_eq!(refused_processes("max 44\n"), Some(44));
        assert_eq!(refused_processes(""), None);
    }
}
