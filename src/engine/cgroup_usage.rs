//! What the kernel's control groups count of a sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a hierarchy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Version {
    /// One hierarchy a controller.
    One,
    /// One for all.
    Two,
}

/// Where a controller keeps a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cgroup {
    /// The sandbox's folder.
    pub(super) folder: PathBuf,
    /// How its files are called.
    pub(super) version: Version,
}

/// What a sandbox uses, where it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CgroupUsage {
    /// Nanoseconds of processor time.
    pub(super) cpu_nanos: Option<u64>,
    /// Bytes.
    pub(super) memory: Option<u64>,
    /// Bytes among them that the kernel can drop.
    pub(super) reclaimable: Option<u64>,
    /// Processes and threads.
    pub(super) pids: Option<u64>,
    /// Those that were refused at the limit.
    pub(super) pids_refused: Option<u64>,
}

/// So many times in a row what has not run is believed to use what it used.
const BELIEVED: u32 = 4;

/// Reads what is used again and again. What has had no processor time since holds the same memory and processes, and most
/// sandboxes wait most of the time; so they are read in full only now and then.
#[derive(Debug, Default)]
pub(super) struct UsageReader {
    last: CgroupUsage,
    believed: u32,
}

impl UsageReader {
    /// Reads what is used now, in the groups that `at` finds for each controller.
    pub(super) fn read<'a>(&mut self, at: impl Fn(&str) -> Option<&'a Cgroup>) -> CgroupUsage {
        let nanos = cpu_nanos(&at);
        let has_waited = nanos.is_some() && nanos == self.last.cpu_nanos;
        if has_waited && self.believed < BELIEVED {
            self.believed += 1;
        } else {
            self.believed = 0;
            self.last = usage(at);
        }
        self.last
    }
}

/// Reads what is used, in the groups that `at` finds for each controller.
pub(super) fn usage<'a>(at: impl Fn(&str) -> Option<&'a Cgroup>) -> CgroupUsage {
    CgroupUsage {
        cpu_nanos: cpu_nanos(&at),
        memory: number(at("memory"), "memory.usage_in_bytes", "memory.current"),
        reclaimable: reclaimable(at("memory")),
        pids: number(at("pids"), "pids.current", "pids.current"),
        pids_refused: pids_refused(at("pids")),
    }
}

/// Counts the processes that the kernel has refused at the limit of a group.
pub(super) fn pids_refused(group: Option<&Cgroup>) -> Option<u64> {
    field(&group?.folder.join("pids.events"), "max")
}

/// Reads the memory limit of a group; the kernel writes a very large number, or a word, where there is none.
pub(super) fn memory_limit(group: Option<&Cgroup>) -> Option<u64> {
    number(group, "memory.limit_in_bytes", "memory.max")
}

fn number(group: Option<&Cgroup>, one: &str, two: &str) -> Option<u64> {
    let group = group?;
    let name = match group.version {
        Version::One => one,
        Version::Two => two,
    };
    let text = fs::read_to_string(group.folder.join(name)).ok()?;
    text.trim().parse().ok()
}

fn cpu_nanos<'a>(at: &impl Fn(&str) -> Option<&'a Cgroup>) -> Option<u64> {
    let first = at("cpuacct").filter(|group| group.version == Version::One);
    if first.is_some() {
        return number(first, "cpuacct.usage", "");
    }
    let group = at("cpu").filter(|group| group.version == Version::Two)?;
    field(&group.folder.join("cpu.stat"), "usage_usec").map(|micros| micros * 1000)
}

fn reclaimable(group: Option<&Cgroup>) -> Option<u64> {
    let group = group?;
    let key = match group.version {
        Version::One => "total_inactive_file",
        Version::Two => "inactive_file",
    };
    field(&group.folder.join("memory.stat"), key)
}

fn field(file: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(name, _)| *name == key)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_run_is_read_in_full_now_and_then() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = Cgroup {
            folder: folder.path().to_owned(),
            version: Version::One,
        };
        let set = |name: &str, value: u64| {
            fs::write(folder.path().join(name), value.to_string()).expect("a file");
        };
        let mut reader = UsageReader::default();
        let mut pids = || reader.read(|_| Some(&group)).pids;
        set("cpuacct.usage", 10);
        set("pids.current", 1);
        assert_eq!(pids(), Some(1));
        set("pids.current", 2);
        let next = [pids(), pids(), pids(), pids(), pids()];
        assert_eq!(next, [1, 1, 1, 1, 2].map(Some));
        set("pids.current", 3);
        set("cpuacct.usage", 11);
        assert_eq!(pids(), Some(3));
        fs::remove_file(folder.path().join("cpuacct.usage")).expect("a removal");
        assert_eq!(reader.read(|_| Some(&group)).cpu_nanos, None);
    }

    #[test]
    fn both_versions_are_read_alike() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            ("cpuacct.usage", "5000\n"),
            ("cpu.stat", "user_usec 1\nusage_usec 5\n"),
            ("memory.usage_in_bytes", "100\n"),
            ("memory.current", "100\n"),
            ("memory.stat", "inactive_file 30\ntotal_inactive_file 30\n"),
            ("memory.limit_in_bytes", "4000\n"),
            ("memory.max", "max\n"),
            ("pids.current", "3\n"),
            ("pids.events", "max 17\n"),
        ];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let group = |version| Cgroup {
            folder: folder.path().to_owned(),
            version,
        };
        let expected = CgroupUsage {
            cpu_nanos: Some(5000),
            memory: Some(100),
            reclaimable: Some(30),
            pids: Some(3),
            pids_refused: Some(17),
        };
        for (version, limit) in [(Version::One, Some(4000)), (Version::Two, None)] {
            let group = group(version);
            assert_eq!(usage(|_| Some(&group)), expected, "{version:?}");
            assert_eq!(memory_limit(Some(&group)), limit, "{version:?}");
        }
        assert_eq!(usage(|_| None), CgroupUsage::default());
    }
}
