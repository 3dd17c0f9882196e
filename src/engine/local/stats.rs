//! Live stats: from cgroups, or added up over the sandbox's processes where there are none.

use std::path::PathBuf;

use async_trait::async_trait;
use chrono::Utc;
use futures_util::stream::BoxStream;

use super::cgroups::Cgroups;
use super::keeper;
use super::process_trees::{Keeper, ProcessTrees};
use crate::domain::{CounterSample, Limits, Sample};
use crate::engine::Result;
use crate::engine::cgroup_usage::{CgroupUsage, UsageReader};
use crate::engine::sampler::{self, Counters};
use crate::guest::wire::{KeeperAnswer, KeeperRequest};

/// Where the stats of a sandbox come from.
pub(super) struct StatsSource {
    pub(super) folder: PathBuf,
    pub(super) cgroups: Cgroups,
    pub(super) limits: Limits,
    pub(super) trees: ProcessTrees,
}

/// Streams samples until the sandbox has ended.
pub(super) fn stream(source: StatsSource) -> BoxStream<'static, Result<Sample>> {
    sampler::stream(LocalCounters {
        source,
        usage: UsageReader::default(),
        keeper: None,
    })
}

struct LocalCounters {
    source: StatsSource,
    usage: UsageReader,
    /// Whose processes are added up; not needed where cgroups tell all.
    keeper: Option<Keeper>,
}

#[async_trait]
impl Counters for LocalCounters {
    async fn read(&mut self, nanos: u64) -> Option<CounterSample> {
        let usage = self.source.cgroups.usage(&mut self.usage);
        let tree = match (usage.cpu_nanos, usage.memory, usage.pids) {
            // What is left of a sandbox whose keeper was killed.
            (Some(_), Some(_), Some(0)) => return None,
            (Some(_), Some(_), Some(_)) => CgroupUsage::default(),
            _ => self.tree().await?,
        };
        Some(CounterSample {
            at: Utc::now(),
            cpu: sampler::cpu(usage.cpu_nanos.or(tree.cpu_nanos).unwrap_or(0), nanos),
            cpus_limit: self.source.limits.cpus,
            memory_usage: usage.memory.or(tree.memory).unwrap_or(0),
            memory_reclaimable: usage.reclaimable.unwrap_or(0),
            memory_limit: self.source.limits.memory_bytes,
            pids: usage.pids.or(tree.pids).unwrap_or(0),
            pids_refused: usage.pids_refused,
            net_rx: 0,
            net_tx: 0,
        })
    }
}

impl LocalCounters {
    /// Adds up its processes; `None` when its keeper has ended.
    async fn tree(&mut self) -> Option<CgroupUsage> {
        let trees = self.source.trees.current().await?;
        let keeper = match self.keeper {
            Some(keeper) => keeper,
            None => trees.keeper(self.ask_keeper().await?)?,
        };
        self.keeper = Some(keeper);
        trees.usage(keeper)
    }

    async fn ask_keeper(&self) -> Option<u32> {
        let folder = self.source.folder.clone();
        let asking = move || keeper::ask(&folder, &KeeperRequest::Hello);
        match tokio::task::spawn_blocking(asking).await {
            Ok(Ok(Some(KeeperAnswer::Status { pid, .. }))) => Some(pid),
            _ => None,
        }
    }
}
