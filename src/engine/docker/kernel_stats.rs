//! Samples from the kernel's own counters, where the engine shares this machine: a thousandth of what the engine takes for
//! them.
//!
//! Where the groups of containers lie is learned from the first one: its process belongs to groups whose paths name the
//! container's id. Ids are random, so folders that are called like another container's id, at the same place, are that one's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chrono::Utc;
use futures_util::stream::BoxStream;

use super::{Client, Endpoint};
use crate::domain::{CounterSample, Limits, Sample, Sandbox, SandboxId};
use crate::engine::Result;
use crate::engine::cgroup_usage::{self, Cgroup, UsageReader, Version};
use crate::engine::sampler::{self, Counters};

/// Controllers that count.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuacct", "memory", "pids"];
/// Length of an id.
const ID_LENGTH: usize = 64;
/// How many levels of groups a container may have made of its own.
const LEVELS: u32 = 3;

/// What is known of where an engine's groups lie; shared by all uses of the engine.
#[derive(Debug, Clone, Default)]
pub(super) struct KernelGroups(Arc<Mutex<Known>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    /// The engine's processes are not of this machine.
    Elsewhere,
    Layout(Layout),
}

/// Where groups lie: what comes before the id and after it, by controller.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Layout(BTreeMap<&'static str, (String, String, Version)>);

/// The groups of one container.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Groups(BTreeMap<&'static str, Cgroup>);

/// Streams samples of a container, or says that the kernel does not tell.
pub(super) async fn stream(
    client: &Client,
    sandbox: &Sandbox,
) -> Option<BoxStream<'static, Result<Sample>>> {
    let groups = client.groups.find(client, &sandbox.reference.id).await?;
    Some(sampler::stream(ContainerCounters {
        groups,
        usage: UsageReader::default(),
        limits: sandbox.limits,
        has_network: !matches!(sandbox.network.as_str(), "none" | "host"),
    }))
}

/// Counts the processes that the kernel refused to a container at its limit, where the kernel tells.
pub(super) async fn refused_processes(client: &Client, id: &SandboxId) -> Option<u64> {
    client.groups.find(client, id).await?.usage().pids_refused
}

impl KernelGroups {
    fn known(&self) -> Known {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn learn(&self, known: Known) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    async fn find(&self, client: &Client, id: &SandboxId) -> Option<Groups> {
        let is_possible = matches!(client.endpoint, Endpoint::Unix(_))
            && id.as_str().len() == ID_LENGTH
            && id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.known() {
            _ if !is_possible => None,
            Known::Elsewhere => None,
            Known::Layout(layout) => match layout.of(id.as_str()) {
                Some(groups) => Some(groups),
                None => self.ask(client, id).await,
            },
            Known::Nothing => self.ask(client, id).await,
        }
    }

    /// Asks the engine for a process of the container, and the kernel for its groups.
    async fn ask(&self, client: &Client, id: &SandboxId) -> Option<Groups> {
        let found = client.docker.inspect_container(id.as_str(), None).await;
        let pid = found.ok()?.state?.pid.filter(|pid| *pid > 0)?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let layout = Layout::parse(&mounts, &groups, id.as_str());
        let found = layout.as_ref().and_then(|layout| layout.of(id.as_str()));
        match (layout, &found) {
            (Some(layout), Some(_)) => self.learn(Known::Layout(layout)),
            // It may have ended meanwhile; only one that was found once is known to be here.
            _ if self.known() == Known::Nothing => self.learn(Known::Elsewhere),
            _ => {}
        }
        found
    }
}

impl Layout {
    /// Reads it from the mounts of this process and the groups of a container's; `None` where the id does not occur.
    fn parse(mounts: &str, groups: &str, id: &str) -> Option<Self> {
        let mut layout = BTreeMap::new();
        for (controllers, path) in groups.lines().filter_map(group_of_line) {
            for (name, version) in CONTROLLERS
                .iter()
                .filter_map(|name| serves(controllers, name))
            {
                let Some(folder) = folder(mounts, controllers, path) else {
                    continue;
                };
                let Some((before, after)) = folder.to_str().and_then(|f| f.split_once(id)) else {
                    continue;
                };
                // Where both versions are mounted, the first has the controllers.
                if version == Version::One || !layout.contains_key(name) {
                    layout.insert(name, (before.to_owned(), after.to_owned(), version));
                }
            }
        }
        (!layout.is_empty()).then_some(Self(layout))
    }

    /// Returns the groups of a container, if they are there.
    fn of(&self, id: &str) -> Option<Groups> {
        let groups = self.0.iter().map(|(name, (before, after, version))| {
            let folder = PathBuf::from(format!("{before}{id}{after}"));
            let version = *version;
            (*name, Cgroup { folder, version })
        });
        let groups = Groups(groups.collect());
        let counts = groups.usage();
        let is_complete =
            counts.cpu_nanos.is_some() && counts.memory.is_some() && counts.pids.is_some();
        is_complete.then_some(groups)
    }
}

/// Splits a line of `/proc/PID/cgroup` into controllers and path.
fn group_of_line(line: &str) -> Option<(&str, &str)> {
    line.split_once(':')?.1.split_once(':')
}

/// Tells whether a hierarchy counts something; the one without names is the second version, which counts all.
fn serves(controllers: &str, name: &&'static str) -> Option<(&'static str, Version)> {
    if controllers.is_empty() {
        return (*name != "cpuacct").then_some((name, Version::Two));
    }
    let mut names = controllers.split(',');
    names
        .any(|one| one == *name)
        .then_some((name, Version::One))
}

/// Finds the folder of a group: below the mount of its hierarchy, of which a part may be mounted.
fn folder(mounts: &str, controllers: &str, path: &str) -> Option<PathBuf> {
    let mut found = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let is_it = match (right.next()?, right.nth(1)) {
            ("cgroup2", _) => controllers.is_empty(),
            ("cgroup", Some(options)) => {
                let first = controllers.split(',').next().unwrap_or_default();
                options.split(',').any(|option| option == first)
            }
            _ => false,
        };
        let below = Path::new(path).strip_prefix(root).ok()?;
        is_it.then(|| Path::new(point).join(below))
    });
    found.next()
}

impl Groups {
    fn usage(&self) -> cgroup_usage::CgroupUsage {
        cgroup_usage::usage(|controller| self.0.get(controller))
    }

    /// Finds a process of the container.
    fn pid(&self) -> Option<u32> {
        first_pid(&self.0.get("pids")?.folder, LEVELS)
    }
}

/// Finds a process in a group or, where a container has divided its own, below it.
fn first_pid(folder: &Path, levels: u32) -> Option<u32> {
    let members = fs::read_to_string(folder.join("cgroup.procs")).ok()?;
    if let Some(first) = members.lines().find_map(|line| line.parse().ok()) {
        return Some(first);
    }
    let levels = levels.checked_sub(1)?;
    let below = fs::read_dir(folder).ok()?.flatten();
    let mut folders = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.find_map(|entry| first_pid(&entry.path(), levels))
}

/// Counts received and sent bytes of all interfaces but the one to itself.
fn network(pid: u32) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{pid}/net/dev")).unwrap_or_default();
    add_interfaces(&text)
}

fn add_interfaces(text: &str) -> (u64, u64) {
    let interfaces = text.lines().filter_map(|line| line.split_once(':'));
    let outside = interfaces.filter(|(name, _)| name.trim() != "lo");
    outside.fold((0, 0), |(rx, tx), (_, counts)| {
        let mut counts = counts
            .split_whitespace()
            .map(|word| word.parse().unwrap_or(0));
        (
            rx + counts.next().unwrap_or(0_u64),
            tx + counts.nth(7).unwrap_or(0_u64),
        )
    })
}

/// What a container has used so far.
struct ContainerCounters {
    groups: Groups,
    usage: UsageReader,
    limits: Limits,
    has_network: bool,
}

#[async_trait]
impl Counters for ContainerCounters {
    async fn read(&mut self, nanos: u64) -> Option<CounterSample> {
        let groups = &self.groups.0;
        let usage = self.usage.read(|controller| groups.get(controller));
        // Its groups go with it.
        let (used, memory, pids) = (usage.cpu_nanos?, usage.memory?, usage.pids?);
        if pids == 0 {
            return None;
        }
        let pid = self.has_network.then(|| self.groups.pid()).flatten();
        let (net_rx, net_tx) = pid.map_or((0, 0), network);
        let asked = self.limits.memory_bytes;
        let memory_limit = asked.unwrap_or_else(|| self.memory_limit());
        Some(CounterSample {
            at: Utc::now(),
            cpu: sampler::cpu(used, nanos),
            cpus_limit: self.limits.cpus,
            memory_usage: memory,
            memory_reclaimable: usage.reclaimable.unwrap_or(0),
            memory_limit: Some(memory_limit),
            pids,
            pids_refused: usage.pids_refused,
            net_rx,
            net_tx,
        })
    }
}

impl ContainerCounters {
    /// Reads the limit of a container that sandtop did not make; without one, all of the machine's memory is its own.
    fn memory_limit(&self) -> u64 {
        let machine = rustix::system::sysinfo();
        let machine = machine.totalram.saturating_mul(machine.mem_unit.into());
        let limit = cgroup_usage::memory_limit(self.groups.0.get("memory"));
        limit.unwrap_or(machine).min(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn places(mounts: &str, groups: &str) -> Vec<String> {
        let groups = groups.replace("ID", ID);
        let layout = Layout::parse(mounts, &groups, ID).map(|layout| layout.0);
        let places = layout.into_iter().flatten();
        let written = places.map(|(name, (before, after, version))| {
            format!("{name} {before}ID{after} {version:?}")
        });
        written.collect()
    }

    #[test]
    fn groups_of_both_versions_are_found() {
        let one = "33 31 0:30 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct
            35 31 0:32 /part /cg/memory rw,relatime shared:5 - cgroup cgroup rw,memory
            39 31 0:36 / /cg/pids rw - cgroup cgroup rw,pids
            41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw"
            .replace("            ", "");
        let groups = "9:pids:/docker/ID\n5:memory:/part/docker/ID\n3:cpuacct:/docker/ID\n0::/\n";
        let expected = [
            "cpuacct /cg/cpuacct/docker/ID One",
            "memory /cg/memory/docker/ID One",
            "pids /cg/pids/docker/ID One",
        ];
        assert_eq!(places(&one, groups), expected);
        let two = "41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n";
        let groups = "0::/system.slice/docker-ID.scope\n";
        let expected = ["cpu", "memory", "pids"]
            .map(|name| format!("{name} /cg/system.slice/docker-ID.scope Two"));
        assert_eq!(places(two, groups), expected);
    }

    #[test]
    fn a_process_of_somebody_else_tells_nothing() {
        let two = "41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n";
        for groups in ["", "0::/\n", "0::/user.slice/docker-fedc.scope\n"] {
            assert_eq!(places(two, groups), Vec::<String>::new(), "{groups}");
        }
    }

    #[test]
    fn interfaces_are_added_up_without_the_inner_one() {
        let text = "Inter-|   Receive  |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
    lo:     999    9    0    0    0     0          0         0      999       9
  eth0:      10    1    0    0    0     0          0         0       20       2
  eth1:       1    1    0    0    0     0          0         0        2       2
";
        assert_eq!(add_interfaces(text), (11, 22));
    }
}
