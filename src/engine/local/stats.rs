//! Live figures: from cgroups, or added up over the sandbox's processes where there are none.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::Utc;
use futures_util::stream::{self, BoxStream, StreamExt};

use super::cgroups::{Cgroups, Usage};
use super::keeper;
use crate::domain::{CounterSample, CpuCounters, Limits, Sample};
use crate::engine::Result;
use crate::guest::wire::{KeeperAnswer, KeeperRequest};

/// Time between two samples.
const PERIOD: Duration = Duration::from_secs(1);
/// The first one comes sooner, so that a screen is not empty for long.
const FIRST: Duration = Duration::from_millis(250);

/// Where figures come from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) folder: PathBuf,
    pub(super) cgroups: Cgroups,
    pub(super) limits: Limits,
}

/// Figures taken so far.
struct Taking {
    source: Source,
    begun: Instant,
    before: Option<CpuCounters>,
    pause: Duration,
}

/// Streams samples until the sandbox has ended.
pub(super) fn stream(source: Source) -> BoxStream<'static, Result<Sample>> {
    let taking = Taking {
        source,
        begun: Instant::now(),
        before: None,
        pause: FIRST,
    };
    stream::unfold(taking, |mut taking| async move {
        let sample = taking.next().await?;
        Some((Ok(sample), taking))
    })
    .boxed()
}

impl Taking {
    async fn next(&mut self) -> Option<Sample> {
        loop {
            if self.before.is_some() {
                tokio::time::sleep(self.pause).await;
            }
            let (source, begun) = (self.source.clone(), self.begun);
            let looked = tokio::task::spawn_blocking(move || source.look(begun)).await;
            let counters = looked.ok()??;
            let before = self.before.replace(counters.cpu);
            if let Some(sample) = before.and_then(|before| counters.since(&before)) {
                self.pause = PERIOD;
                return Some(sample);
            }
        }
    }
}

impl Source {
    /// Takes the counters of one moment; `None` when the sandbox has ended.
    fn look(&self, begun: Instant) -> Option<CounterSample> {
        let asked = keeper::ask(&self.folder, &KeeperRequest::Hello);
        let Ok(Some(KeeperAnswer::Status { pid: keeper, .. })) = asked else {
            return None;
        };
        let usage = self.cgroups.usage();
        let tree = match (usage.cpu_nanos, usage.memory, usage.pids) {
            (Some(_), Some(_), Some(_)) => Usage::default(),
            _ => tree_usage(keeper),
        };
        let passed = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some(CounterSample {
            at: Utc::now(),
            cpu: CpuCounters {
                total: usage.cpu_nanos.or(tree.cpu_nanos).unwrap_or(0),
                // Time on the wall is the time of one processor.
                system: passed,
                online: 1,
            },
            cpus_limit: self.limits.cpus,
            memory_usage: usage.memory.or(tree.memory).unwrap_or(0),
            memory_reclaimable: usage.reclaimable.unwrap_or(0),
            memory_limit: self.limits.memory_bytes,
            pids: usage.pids.or(tree.pids).unwrap_or(0),
            net_rx: 0,
            net_tx: 0,
        })
    }
}

/// One line of the process list.
struct Entry {
    parent: u32,
    ticks: u64,
    waited_ticks: u64,
    threads: u64,
}

/// Adds up everything below a keeper; what has ended counts with who waited for it.
fn tree_usage(keeper: u32) -> Usage {
    let all = entries();
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, entry) in &all {
        children.entry(entry.parent).or_default().push(*pid);
    }
    let mut ticks = all.get(&keeper).map_or(0, |entry| entry.waited_ticks);
    let (mut bytes, mut threads) = (0, 0);
    let mut next = children.remove(&keeper).unwrap_or_default();
    while let Some(pid) = next.pop() {
        next.extend(children.remove(&pid).unwrap_or_default());
        if let Some(entry) = all.get(&pid) {
            ticks += entry.ticks + entry.waited_ticks;
            threads += entry.threads;
            bytes += resident(pid);
        }
    }
    let nanos_per_tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Usage {
        cpu_nanos: Some(ticks * nanos_per_tick),
        memory: Some(bytes),
        reclaimable: None,
        pids: Some(threads),
    }
}

fn entries() -> HashMap<u32, Entry> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, entry(pid)?))).collect()
}

fn entry(pid: u32) -> Option<Entry> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Entry {
        parent: u32::try_from(number(1)?).ok()?,
        ticks: number(11)? + number(12)?,
        waited_ticks: number(13)? + number(14)?,
        threads: number(17)?,
    })
}

/// Reads what a process has in memory that is not shared with files.
fn resident(pid: u32) -> u64 {
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut fields = pages
        .split(' ')
        .skip(1)
        .map(|field| field.parse().unwrap_or(0));
    let (all, shared): (u64, u64) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    all.saturating_sub(shared) * rustix::param::page_size() as u64
}
