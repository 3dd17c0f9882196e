//! Live stats from the engine's stats stream, by the formulas that `docker stats` uses.

use bollard::models::{ContainerMemoryStats, ContainerStatsResponse};
use bollard::query_parameters::StatsOptionsBuilder;
use chrono::Utc;
use futures_util::stream::{self, BoxStream, StreamExt};

use super::{Client, convert};
use crate::domain::{CounterSample, CpuCounters, Limits, Sample, SandboxId};
use crate::engine::Result;

/// Streams samples of one container; the first frame only starts the difference.
pub(super) fn stream(
    client: &Client,
    id: &SandboxId,
    limits: Limits,
) -> BoxStream<'static, Result<Sample>> {
    let options = StatsOptionsBuilder::new().stream(true).build();
    let docker = client.docker.clone();
    let id = id.clone();
    let frames =
        stream::once(async move { docker.stats(id.as_str(), Some(options)).boxed() }).flatten();
    let samples = frames.scan(CpuCounters::default(), move |before, frame| {
        let sample = frame
            .map(|frame| difference(before, &frame, limits))
            .map_err(|e| convert::error("reading stats", e));
        std::future::ready(Some(sample.transpose()))
    });
    samples
        .take_while(|item| std::future::ready(!is_last(item.as_ref())))
        .filter_map(std::future::ready)
        .boxed()
}

/// A stopped container goes on sending empty frames; they end the stream.
fn is_last(item: Option<&Result<Sample>>) -> bool {
    matches!(item, Some(Ok(sample)) if sample.pids == 0 && sample.memory_bytes == 0)
}

fn difference(
    before: &mut CpuCounters,
    frame: &ContainerStatsResponse,
    limits: Limits,
) -> Option<Sample> {
    let counters = counters(frame, limits);
    if counters.cpu.system == 0 {
        // Not running: an empty sample, which ends the stream.
        return Some(Sample {
            cpu_percent: 0.0,
            ..empty(&counters)
        });
    }
    let sample = counters
        .since(before)
        .or_else(|| counters.since(&previous(frame)));
    *before = counters.cpu;
    sample
}

fn empty(counters: &CounterSample) -> Sample {
    Sample {
        at: counters.at,
        cpu_percent: 0.0,
        cpus_limit: counters.cpus_limit,
        memory_bytes: 0,
        memory_limit_bytes: counters.memory_limit,
        pids: 0,
        pids_refused: None,
        net_rx_bytes: 0,
        net_tx_bytes: 0,
        disk_bytes: None,
    }
}

fn previous(frame: &ContainerStatsResponse) -> CpuCounters {
    cpu(frame.precpu_stats.as_ref())
}

fn cpu(stats: Option<&bollard::models::ContainerCpuStats>) -> CpuCounters {
    let Some(stats) = stats else {
        return CpuCounters::default();
    };
    let usage = stats.cpu_usage.as_ref();
    let per_core = usage
        .and_then(|u| u.percpu_usage.as_ref())
        .map_or(0, Vec::len);
    CpuCounters {
        total: usage.and_then(|u| u.total_usage).unwrap_or(0),
        system: stats.system_cpu_usage.unwrap_or(0),
        online: stats.online_cpus.map_or(per_core as u64, u64::from),
    }
}

fn counters(frame: &ContainerStatsResponse, limits: Limits) -> CounterSample {
    let memory = frame.memory_stats.as_ref();
    let networks = frame.networks.iter().flatten();
    let (rx, tx) = networks.fold((0, 0), |(rx, tx), (_, net)| {
        (
            rx + net.rx_bytes.unwrap_or(0),
            tx + net.tx_bytes.unwrap_or(0),
        )
    });
    CounterSample {
        at: convert::time(frame.read.as_deref()).unwrap_or_else(Utc::now),
        cpu: cpu(frame.cpu_stats.as_ref()),
        cpus_limit: limits.cpus,
        memory_usage: memory.and_then(|m| m.usage).unwrap_or(0),
        memory_reclaimable: memory.map_or(0, reclaimable),
        memory_limit: limits.memory_bytes.or_else(|| memory.and_then(|m| m.limit)),
        pids: frame
            .pids_stats
            .as_ref()
            .and_then(|p| p.current)
            .unwrap_or(0),
        pids_refused: None,
        net_rx: rx,
        net_tx: tx,
    }
}

/// Reads the page cache that can be dropped: `total_inactive_file` is cgroup v1, `inactive_file` v2.
fn reclaimable(memory: &ContainerMemoryStats) -> u64 {
    let stats = memory.stats.as_ref();
    let value = |key: &str| stats.and_then(|s| s.get(key)).copied();
    value("total_inactive_file")
        .or_else(|| value("inactive_file"))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(json: &str) -> ContainerStatsResponse {
        serde_json::from_str(json).expect("a stats frame")
    }

    #[test]
    fn cgroup_v1_and_v2_frames_give_the_same_figures() {
        let v1 = frame(
            r#"{"cpu_stats":{"cpu_usage":{"total_usage":300,"percpu_usage":[1,2]},"system_cpu_usage":2000,"online_cpus":2},
                "precpu_stats":{"cpu_usage":{"total_usage":100},"system_cpu_usage":1000},
                "memory_stats":{"usage":1000,"limit":4000,"stats":{"total_inactive_file":400,"cache":900}},"pids_stats":{"current":3},
                "networks":{"eth0":{"rx_bytes":1,"tx_bytes":2},"eth1":{"rx_bytes":10,"tx_bytes":20}}}"#,
        );
        let v2 = frame(
            r#"{"cpu_stats":{"cpu_usage":{"total_usage":300},"system_cpu_usage":2000,"online_cpus":2},
                "precpu_stats":{"cpu_usage":{"total_usage":100},"system_cpu_usage":1000},
                "memory_stats":{"usage":1000,"limit":4000,"stats":{"inactive_file":400}},"pids_stats":{"current":3},
                "networks":{"eth0":{"rx_bytes":11,"tx_bytes":22}}}"#,
        );
        for stats in [v1, v2] {
            let sample = difference(&mut CpuCounters::default(), &stats, Limits::default())
                .expect("a sample");
            assert_eq!(
                (sample.cpu_percent, sample.memory_bytes, sample.pids),
                (40.0, 600, 3)
            );
            assert_eq!(
                (
                    sample.net_rx_bytes,
                    sample.net_tx_bytes,
                    sample.memory_limit_bytes
                ),
                (11, 22, Some(4000))
            );
        }
    }

    #[test]
    fn the_first_frame_without_history_is_left_out_and_an_empty_one_ends() {
        let first = frame(
            r#"{"cpu_stats":{"cpu_usage":{"total_usage":300},"system_cpu_usage":2000,"online_cpus":2}}"#,
        );
        assert_eq!(
            difference(&mut CpuCounters::default(), &first, Limits::default()),
            None
        );
        let stopped = frame(r#"{"cpu_stats":{"cpu_usage":{"total_usage":0}}}"#);
        let sample = difference(&mut CpuCounters::default(), &stopped, Limits::default());
        assert!(is_last(sample.map(Ok).as_ref()));
    }
}
