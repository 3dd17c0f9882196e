//! Samples of counters that this process reads itself: once a second, all of one moment together.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::Utc;
use futures_util::stream::{BoxStream, StreamExt};

use super::{Result, unfold};
use crate::domain::{CounterSample, CpuCounters, Sample};

/// The first sample comes so soon, so that a screen is not empty for long. Where processor time has a limit it is handed out by
/// the tenth of a second, and only whole turns say how much that is.
const FIRST: Duration = Duration::from_millis(100);
/// Time between two samples.
const PERIOD: Duration = Duration::from_secs(1);

/// Reads the counters of one sandbox.
#[async_trait]
pub(super) trait Counters: Send + 'static {
    /// Takes those of this moment, of which the clock says `nanos`; `None` when the sandbox has ended.
    async fn read(&mut self, nanos: u64) -> Option<CounterSample>;
}

/// Counts processor time by the wall's, which is that of one processor.
pub(super) fn cpu(used: u64, nanos: u64) -> CpuCounters {
    CpuCounters {
        total: used,
        // Zero would mean that nothing is known.
        system: nanos.max(1),
        online: 1,
    }
}

struct Sampler<C> {
    counters: C,
    begun: Instant,
    before: Option<CpuCounters>,
    pause: Duration,
}

/// Streams samples until the sandbox has ended.
pub(super) fn stream(counters: impl Counters) -> BoxStream<'static, Result<Sample>> {
    let sampler = Sampler {
        counters,
        begun: Instant::now(),
        before: None,
        pause: Duration::ZERO,
    };
    unfold(sampler, |mut sampler| async move {
        let sample = sampler.next().await?;
        Some((Ok(sample), sampler))
    })
    .boxed()
}

impl<C: Counters> Sampler<C> {
    async fn next(&mut self) -> Option<Sample> {
        loop {
            if !self.pause.is_zero() {
                tokio::time::sleep(self.pause).await;
            }
            let nanos = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let counters = self.counters.read(nanos).await?;
            let before = self.before.replace(counters.cpu);
            self.pause = FIRST;
            if let Some(sample) = before.and_then(|before| counters.since(&before)) {
                self.pause = until_next(Utc::now().timestamp_subsec_nanos());
                return Some(sample);
            }
        }
    }
}

/// Tells how long it is to the next turn, which is that of all samplers: one awakening a second for any number of them.
fn until_next(nanos_of_second: u32) -> Duration {
    let left = PERIOD.saturating_sub(Duration::from_nanos(nanos_of_second.into()));
    if left < PERIOD / 2 {
        left + PERIOD
    } else {
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ended(u64);

    #[async_trait]
    impl Counters for Ended {
        async fn read(&mut self, nanos: u64) -> Option<CounterSample> {
            self.0 = self.0.checked_sub(1)?;
            Some(CounterSample {
                at: Utc::now(),
                cpu: cpu(nanos, nanos),
                cpus_limit: None,
                memory_usage: 10,
                memory_reclaimable: 3,
                memory_limit: None,
                pids: 1,
                pids_refused: None,
                net_rx: 0,
                net_tx: 0,
            })
        }
    }

    #[tokio::test]
    async fn two_readings_make_the_first_sample_and_the_end_is_the_end() {
        let mut samples = stream(Ended(2));
        let sample = samples.next().await.expect("a sample").expect("no error");
        assert_eq!(sample.memory_bytes, 7);
        assert!((sample.cpu_percent - 100.0).abs() < 0.001);
        assert!(samples.next().await.is_none());
        assert!(samples.next().await.is_none());
    }

    #[test]
    fn all_meet_at_the_full_second() {
        let left = |millis: u32| until_next(millis * 1_000_000).as_millis();
        assert_eq!(left(0), 1000);
        assert_eq!(left(300), 700);
        // Too soon after the one before.
        assert_eq!(left(900), 1100);
    }
}
