//! What processes use together with all that they started, read once for all sandboxes that have no cgroups.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::engine::cgroup_usage::CgroupUsage;

/// So long a list of processes is that of this moment.
const FRESH: Duration = Duration::from_millis(150);

/// The processes of this machine, for all who ask at about the same time.
#[derive(Clone, Default)]
pub(super) struct ProcessTrees(Arc<Mutex<Option<Read>>>);

/// What was read, and when.
type Read = (Instant, Arc<Trees>);

impl ProcessTrees {
    /// Returns what is fresh, or reads it once for all who wait.
    pub(super) async fn current(&self) -> Option<Arc<Trees>> {
        let mut known = self.0.lock().await;
        if let Some((_, trees)) = known.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Some(Arc::clone(trees));
        }
        let trees = Arc::new(tokio::task::spawn_blocking(Trees::read).await.ok()?);
        *known = Some((Instant::now(), Arc::clone(&trees)));
        Some(trees)
    }
}

/// The process that keeps a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keeper {
    pid: u32,
    started: u64,
}

/// All processes at one moment.
pub(super) struct Trees {
    all: HashMap<u32, ProcStat>,
    children: HashMap<u32, Vec<u32>>,
}

/// One line of the process list.
struct ProcStat {
    parent: u32,
    /// When it started, by which it is told from a later one of its number.
    started: u64,
    ticks: u64,
    waited_ticks: u64,
    threads: u64,
}

impl Trees {
    fn read() -> Self {
        let all = proc_stats();
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (pid, entry) in &all {
            children.entry(entry.parent).or_default().push(*pid);
        }
        Self { all, children }
    }

    /// Finds a keeper; `None` if it has ended.
    pub(super) fn keeper(&self, pid: u32) -> Option<Keeper> {
        let started = self.all.get(&pid)?.started;
        Some(Keeper { pid, started })
    }

    /// Adds up everything below a keeper; what has ended counts with who waited for it.
    pub(super) fn usage(&self, keeper: Keeper) -> Option<CgroupUsage> {
        let top = self.all.get(&keeper.pid);
        let top = top.filter(|top| top.started == keeper.started)?;
        let (mut ticks, mut bytes, mut threads) = (top.waited_ticks, 0, 0);
        let below = |pid| self.children.get(&pid).into_iter().flatten().copied();
        let mut next: Vec<u32> = below(keeper.pid).collect();
        while let Some(pid) = next.pop() {
            next.extend(below(pid));
            if let Some(entry) = self.all.get(&pid) {
                ticks += entry.ticks + entry.waited_ticks;
                threads += entry.threads;
                bytes += resident(pid);
            }
        }
        let nanos_per_tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        Some(CgroupUsage {
            cpu_nanos: Some(ticks * nanos_per_tick),
            memory: Some(bytes),
            reclaimable: None,
            pids: Some(threads),
            pids_refused: None,
        })
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
        started: number(19)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_below_its_parent_and_a_reused_number_is_nobody() {
        let trees = Trees::read();
        let parent = rustix::process::getppid().expect("a parent");
        let parent = u32::try_from(parent.as_raw_nonzero().get()).expect("a number");
        let parent = trees.keeper(parent).expect("it runs");
        let usage = trees.usage(parent).expect("it runs");
        assert!(usage.pids >= Some(1) && usage.memory >= Some(1));
        let later = Keeper {
            started: parent.started + 1,
            ..parent
        };
        assert_eq!(trees.usage(later), None);
    }
}
