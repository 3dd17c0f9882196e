//! Limits by cgroups, of either version or mixed; what the kernel does not grant here is said, not passed over.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::hierarchies::Hierarchies;
use crate::domain::Limits;
use crate::engine::cgroup_usage::{self, Cgroup, CgroupUsage, UsageReader, Version};

/// Length of the periods in which processor time is handed out, in microseconds.
const PERIOD: f64 = 100_000.0;
/// Longest wait for a cgroup to be empty.
const EMPTYING: Duration = Duration::from_secs(5);

/// The controllers that have a sandbox, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cgroups(BTreeMap<String, Cgroup>);

const CONTROLLERS: [&str; 5] = ["memory", "cpu", "cpuacct", "pids", "freezer"];

impl Cgroups {
    /// Makes the groups of a sandbox where this process may, and sets its limits.
    pub(super) fn make(mounts: &Hierarchies, id: &str, limits: &Limits) -> io::Result<Self> {
        let mut made = BTreeMap::new();
        for controller in CONTROLLERS {
            if let Some(group) = mounts.create_group(controller, id) {
                made.insert(controller.to_owned(), group);
            }
        }
        let made = Self(made);
        match made.set(limits) {
            Ok(()) => Ok(made),
            Err(error) => {
                made.remove();
                Err(error)
            }
        }
    }

    /// Finds the groups that a sandbox would have, whether it has them or not, to clean up after a crash.
    pub(super) fn of(id: &str) -> Self {
        let mounts = Hierarchies::read();
        let groups = CONTROLLERS.iter().filter_map(|name| {
            let group = mounts.planned_group(name, id)?;
            group.folder.exists().then(|| ((*name).to_owned(), group))
        });
        Self(groups.collect())
    }

    fn at(&self, controller: &str) -> Option<&Cgroup> {
        self.0.get(controller)
    }

    /// Tells whether the kernel enforces a controller's limit.
    pub(super) fn has(&self, controller: &str) -> bool {
        self.0.contains_key(controller)
    }

    /// Returns each folder once, for joining.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.0.values().map(|group| group.folder.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Tells which file of the kernel's freezer pauses, and what to write to pause and to resume.
    pub(super) fn freezer(&self) -> Option<(PathBuf, &'static str, &'static str)> {
        let group = self.at("freezer")?;
        Some(match group.version {
            Version::One => (group.folder.join("freezer.state"), "FROZEN", "THAWED"),
            Version::Two => (group.folder.join("cgroup.freeze"), "1", "0"),
        })
    }

    /// Tells which file counts kills for memory.
    pub(super) fn memory_events(&self) -> Option<PathBuf> {
        let group = self.at("memory")?;
        let name = match group.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        Some(group.folder.join(name))
    }

    /// Tells which file counts processes that were refused.
    pub(super) fn pids_events(&self) -> Option<PathBuf> {
        let file = self.at("pids")?.folder.join("pids.events");
        file.exists().then_some(file)
    }

    fn set(&self, limits: &Limits) -> io::Result<()> {
        if let (Some(bytes), Some(group)) = (limits.memory_bytes, self.at("memory")) {
            set_memory(group, bytes)?;
        }
        if let (Some(cpus), Some(group)) = (limits.cpus, self.at("cpu")) {
            set_cpus(group, cpus)?;
        }
        if let (Some(most), Some(group)) = (limits.pids, self.at("pids")) {
            put(&group.folder, "pids.max", &most.to_string())?;
        }
        Ok(())
    }

    /// Reads what is used.
    pub(super) fn usage(&self, reader: &mut UsageReader) -> CgroupUsage {
        reader.read(|controller| self.at(controller))
    }

    /// Counts the processes that the kernel has refused at the limit.
    pub(super) fn pids_refused(&self) -> Option<u64> {
        cgroup_usage::pids_refused(self.at("pids"))
    }

    /// Tells whether memory may go to swap on top of the limit.
    pub(super) fn swap_is_open(&self) -> bool {
        let Some(group) = self.at("memory") else {
            return false;
        };
        let file = match group.version {
            Version::One => "memory.memsw.limit_in_bytes",
            Version::Two => "memory.swap.max",
        };
        !group.folder.join(file).exists() && has_swap()
    }

    /// Ends every process in the groups and removes them; groups that are gone are fine.
    pub(super) fn remove(&self) {
        if let Some((file, _, resume)) = self.freezer() {
            let _ = fs::write(file, resume);
        }
        let end = Instant::now() + EMPTYING;
        for folder in self.folders() {
            while folder.exists() && fs::remove_dir(&folder).is_err() && Instant::now() < end {
                kill_members(&folder);
                std::thread::sleep(Duration::from_millis(2));
            }
            if let Some(parent) = folder.parent() {
                // Only the last one to go succeeds.
                let _ = fs::remove_dir(parent);
            }
        }
    }
}

fn kill_members(folder: &Path) {
    let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for pid in members.lines().filter_map(|line| line.parse().ok()) {
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

fn set_memory(group: &Cgroup, bytes: u64) -> io::Result<()> {
    let folder = &group.folder;
    match group.version {
        Version::One => {
            put(folder, "memory.limit_in_bytes", &bytes.to_string())?;
            put_if_there(folder, "memory.memsw.limit_in_bytes", &bytes.to_string())
        }
        Version::Two => {
            put(folder, "memory.max", &bytes.to_string())?;
            put_if_there(folder, "memory.swap.max", "0")
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // The configuration allows at most 512 cores.
fn set_cpus(group: &Cgroup, cpus: f64) -> io::Result<()> {
    let (quota, period) = ((cpus * PERIOD).round() as i64, PERIOD as i64);
    match group.version {
        Version::One => {
            put(&group.folder, "cpu.cfs_period_us", &period.to_string())?;
            put(&group.folder, "cpu.cfs_quota_us", &quota.to_string())
        }
        Version::Two => put(&group.folder, "cpu.max", &format!("{quota} {period}")),
    }
}

fn put(folder: &Path, name: &str, value: &str) -> io::Result<()> {
    let file = folder.join(name);
    fs::write(&file, value).map_err(|error| {
        let text = format!("writing {value} to {} failed: {error}", file.display());
        io::Error::new(error.kind(), text)
    })
}

fn put_if_there(folder: &Path, name: &str, value: &str) -> io::Result<()> {
    if folder.join(name).exists() {
        return put(folder, name, value);
    }
    Ok(())
}

fn has_swap() -> bool {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    text.lines().count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_become_files_of_either_version() {
        let folder = tempfile::tempdir().expect("a folder");
        for (version, file, expected) in [
            (Version::One, "cpu.cfs_quota_us", "50000"),
            (Version::Two, "cpu.max", "50000 100000"),
            (Version::One, "memory.limit_in_bytes", "1024"),
            (Version::Two, "memory.max", "1024"),
        ] {
            let group = Cgroup {
                folder: folder.path().to_owned(),
                version,
            };
            set_cpus(&group, 0.5).expect("a write");
            set_memory(&group, 1024).expect("a write");
            let text = fs::read_to_string(folder.path().join(file)).expect("a file");
            assert_eq!(text, expected, "{file}");
        }
    }
}
