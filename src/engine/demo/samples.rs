//! Live stats that look like real ones: the same waves in every run, within the limits.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::time::sleep;

use super::state::{Simulated, State};
use crate::domain::{Phase, Sample, SandboxId};
use crate::engine::{Result, unfold};

/// How often a sample is taken.
const PERIOD: Duration = Duration::from_secs(1);

/// Memory that a sandbox without a limit is said to have.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// Streams one sample a second until the sandbox stops.
pub(super) fn watch(
    state: Arc<State>,
    id: SandboxId,
) -> Result<BoxStream<'static, Result<Sample>>> {
    let starts = state.with(&id, |sandbox, _| Ok(sandbox.starts))?;
    let samples = unfold((state, id, 0), move |(state, id, taken)| async move {
        if taken > 0 {
            sleep(PERIOD).await;
        }
        let sample = state.with(&id, |sandbox, _| {
            let lives = sandbox.starts == starts && sandbox.sandbox.phase.is_live();
            Ok(lives.then(|| sample(sandbox, taken)))
        });
        let sample = sample.ok().flatten()?;
        Some((Ok(sample), (state, id, taken + 1)))
    });
    Ok(samples.boxed())
}

/// Makes up the stats of one moment.
#[allow(clippy::cast_precision_loss)] // Made-up figures need no more than 52 bits.
fn sample(sandbox: &Simulated, taken: u64) -> Sample {
    let limits = &sandbox.spec.limits;
    // Each example is at another point of the wave.
    let wave = wave(taken + 7 * sandbox.sandbox.name.len() as u64);
    let cores = limits.cpus.unwrap_or(1.0);
    let busy = match sandbox.sandbox.phase {
        Phase::Paused => 0.0,
        _ if sandbox.execs.is_empty() => 0.1,
        _ => 0.6,
    };
    let ceiling = limits.memory_bytes.unwrap_or(DEFAULT_MEMORY);
    Sample {
        at: Utc::now(),
        cpu_percent: cores * 100.0 * busy * wave as f64 / 1000.0,
        cpus_limit: limits.cpus,
        memory_bytes: ceiling / 8 + ceiling / 4_000 * wave,
        memory_limit_bytes: limits.memory_bytes,
        pids: sandbox.execs.len() as u64 + 1,
        net_rx_bytes: 0,
        net_tx_bytes: 0,
        pids_refused: None,
        disk_bytes: None,
    }
}

/// Goes from 100 to 1000 and back every 40 steps.
fn wave(step: u64) -> u64 {
    let at = step % 40;
    100 + 45 * at.min(40 - at)
}
