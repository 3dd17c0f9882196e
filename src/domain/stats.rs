//! Live stats of a sandbox, and the arithmetic that makes them agree with `docker stats`.

use chrono::{DateTime, Utc};

/// What a sandbox uses at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// When it was taken.
    pub at: DateTime<Utc>,
    /// Processor use since the sample before; 100 is one core.
    pub cpu_percent: f64,
    /// The quota, in cores.
    pub cpus_limit: Option<f64>,
    /// Memory without what the kernel can drop at once.
    pub memory_bytes: u64,
    /// The limit.
    pub memory_limit_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: u64,
    /// How many the kernel has refused at the limit since the start; `None` where nobody counts.
    pub pids_refused: Option<u64>,
    /// Bytes received by all interfaces since the start.
    pub net_rx_bytes: u64,
    /// Bytes sent by all interfaces since the start.
    pub net_tx_bytes: u64,
    /// What the files in the work directory took when they were last measured, which is seldom.
    pub disk_bytes: Option<u64>,
}

/// Processor counters that only mean something as a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuCounters {
    /// Nanoseconds used by the sandbox.
    pub total: u64,
    /// Nanoseconds of all processors together.
    pub system: u64,
    /// Processors that are on.
    pub online: u64,
}

impl CpuCounters {
    /// Returns the use since `before`, where 100 is one core; `None` without a meaningful difference.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // Percentages need no more than 52 bits.
    pub fn percent_since(&self, before: &Self) -> Option<f64> {
        let used = self.total.checked_sub(before.total)?;
        let passed = self.system.checked_sub(before.system).filter(|d| *d > 0)?;
        if before.system == 0 {
            return None;
        }
        Some(used as f64 / passed as f64 * self.online.max(1) as f64 * 100.0)
    }
}

/// Raw counters of one moment, before the difference is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterSample {
    /// When they were read.
    pub at: DateTime<Utc>,
    /// Processor counters.
    pub cpu: CpuCounters,
    /// The quota, in cores.
    pub cpus_limit: Option<f64>,
    /// All memory charged to the sandbox.
    pub memory_usage: u64,
    /// The part the kernel can drop: `inactive_file` (v2) or `total_inactive_file` (v1).
    pub memory_reclaimable: u64,
    /// The limit.
    pub memory_limit: Option<u64>,
    /// Processes and threads.
    pub pids: u64,
    /// How many were refused.
    pub pids_refused: Option<u64>,
    /// Bytes received.
    pub net_rx: u64,
    /// Bytes sent.
    pub net_tx: u64,
}

impl CounterSample {
    /// Turns counters into a sample, given the counters before them.
    #[must_use]
    pub fn since(&self, before: &CpuCounters) -> Option<Sample> {
        Some(Sample {
            at: self.at,
            cpu_percent: self.cpu.percent_since(before)?,
            cpus_limit: self.cpus_limit,
            memory_bytes: self.memory_usage.saturating_sub(self.memory_reclaimable),
            memory_limit_bytes: self.memory_limit,
            pids: self.pids,
            pids_refused: self.pids_refused,
            net_rx_bytes: self.net_rx,
            net_tx_bytes: self.net_tx,
            disk_bytes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_busy_core_of_two_is_one_hundred() {
        let before = CpuCounters {
            total: 1_000,
            system: 10_000,
            online: 2,
        };
        let after = CpuCounters {
            total: 2_000,
            system: 12_000,
            online: 2,
        };
        assert_eq!(after.percent_since(&before), Some(100.0));
    }

    #[test]
    fn a_first_sample_or_a_restart_gives_nothing() {
        let after = CpuCounters {
            total: 2_000,
            system: 12_000,
            online: 2,
        };
        assert_eq!(after.percent_since(&CpuCounters::default()), None);
        assert_eq!(after.percent_since(&after), None);
        let restarted = CpuCounters {
            total: 10,
            system: 13_000,
            online: 2,
        };
        assert_eq!(restarted.percent_since(&after), None);
    }

    #[test]
    fn reclaimable_memory_is_not_counted() {
        let counters = CounterSample {
            at: DateTime::UNIX_EPOCH,
            cpu: CpuCounters {
                total: 2,
                system: 4,
                online: 1,
            },
            cpus_limit: Some(1.0),
            memory_usage: 100,
            memory_reclaimable: 30,
            memory_limit: Some(200),
            pids: 3,
            pids_refused: None,
            net_rx: 1,
            net_tx: 2,
        };
        let before = CpuCounters {
            total: 1,
            system: 2,
            online: 1,
        };
        let sample = counters.since(&before).expect("a sample");
        assert_eq!((sample.memory_bytes, sample.cpu_percent), (70, 50.0));
    }
}
