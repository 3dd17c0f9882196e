//! Live figures: from cgroups, or added up over the sandbox's processes where there are none.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::Utc;
use futures_util::stream::{BoxStream, StreamExt};

use super::cgroups::{CgroupUsage, Cgroups};
use super::keeper;
use crate::domain::{CounterSample, CpuCounters, Limits, Sample};
use crate::engine::{Result, unfold};
use crate::guest::wire::{KeeperAnswer, KeeperRequest};

/// Time between two samples.
const PERIOD: Duration = Duration::from_secs(1);
/// The first one comes sooner, so that a screen is not empty for long.
const FIRST: Duration = Duration::from_millis(250);

/// Where figures come from.
#[derive(Clone)]
pub(super) struct StatsSource {
    pub(super) folder: PathBuf,
    pub(super) cgroups: Cgroups,
    pub(super) limits: Limits,
}

/// Figures taken so far.
struct Sampler {
    source: StatsSource,
    begun: Instant,
    before: Option<CpuCounters>,
    pause: Duration,
}

/// Streams samples until the sandbox has ended.
pub(super) fn stream(source: StatsSource) -> BoxStream<'static, Result<Sample>> {
    let sampler = Sampler {
        source,
        begun: Instant::now(),
        before: None,
        pause: FIRST,
    };
    unfold(sampler, |mut sampler| async move {
        let sample = sampler.next().await?;
        Some((Ok(sample), sampler))
    })
    .boxed()
}

impl Sampler {
    async fn next(&mut self) -> Option<Sample> {
        loop {
            if self.before.is_some() {
                tokio::time::sleep(self.pause).await;
            }
            let (source, begun) = (self.source.clone(), self.begun);
            let counters = tokio::task::spawn_blocking(move || source.read_counters(begun)).await;
            let counters = counters.ok()??;
            let before = self.before.replace(counters.cpu);
            if let Some(sample) = before.and_then(|before| counters.since(&before)) {
                self.pause = PERIOD;
                return Some(sample);
            }
        }
    }
}

impl StatsSource {
    /// Takes the counters of one moment; `None` when the sandbox has ended.
    fn read_counters(&self, begun: Instant) -> Option<CounterSample> {
        let asked = keeper::ask(&self.folder, &KeeperRequest::Hello);
        let Ok(Some(KeeperAnswer::Status { pid: keeper, .. })) = asked else {
            return None;
        };
        let usage = self.cgroups.usage();
        let tree = match (usage.cpu_nanos, usage.memory, usage.pids) {
            (Some(_), Some(_), Some(_)) => CgroupUsage::default(),
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
struct ProcStat {
    parent: u32,
    ticks: u64,
    waited_ticks: u64,
    threads: u64,
}

/// Adds up everything below a keeper; what has ended counts with who waited for it.
fn tree_usage(keeper: u32) -> CgroupUsage {
    let all = proc_stats();
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
    CgroupUsage {
        cpu_nanos: Some(ticks * nanos_per_tick),
        memory: Some(bytes),
        reclaimable: None,
        pids: Some(threads),
    }
}

fn proc_stats() -> HashMap<u32, ProcStat> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, proc_stat(pid)?)))
        .collect()
}

fn proc_stat(pid: u32) -> Option<ProcStat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(ProcStat {
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
