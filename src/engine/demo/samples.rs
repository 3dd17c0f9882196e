//! Live figures that look like real ones: the same waves in every run, within the limits.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::faults::unreachable;
use super::world::{Life, Simulated, World, scramble};
use crate::domain::{Network, Phase, Sample, SandboxId};
use crate::engine::Result;

/// How often a sample is taken.
const PERIOD: Duration = Duration::from_secs(1);

/// Memory that a sandbox without a limit is said to have.
const ROOMY: u64 = 1 << 30;

/// Streams one sample a second until the sandbox stops.
pub(super) fn watch(
    world: Arc<World>,
    id: SandboxId,
) -> Result<BoxStream<'static, Result<Sample>>> {
    let life = world.with(&id, |sandbox, _| Ok(sandbox.life.subscribe()))?;
    let starts = life.borrow().starts;
    let probe = Probe {
        reach: world.reach(),
        world,
        id,
        life,
        starts,
        taken: 0,
        next: Instant::now(),
    };
    let samples = stream::unfold(Some(probe), |probe| async {
        let mut probe = probe?;
        match probe.take().await? {
            Ok(sample) => Some((Ok(sample), Some(probe))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok(samples.boxed())
}

struct Probe {
    world: Arc<World>,
    id: SandboxId,
    life: watch::Receiver<Life>,
    reach: watch::Receiver<bool>,
    starts: u64,
    taken: u64,
    next: Instant,
}

impl Probe {
    /// Waits for the next sample; `None` when the sandbox stopped.
    async fn take(&mut self) -> Option<Result<Sample>> {
        let starts = self.starts;
        let ended = |life: &Life| life.starts != starts || !life.phase.is_live();
        tokio::select! {
            biased;
            _ = self.reach.wait_for(|reachable| !reachable) => return Some(Err(unreachable())),
            _ = self.life.wait_for(ended) => return None,
            () = sleep_until(self.next) => {}
        }
        self.next = Instant::now() + PERIOD;
        self.taken += 1;
        let taken = self.taken;
        let sample = self
            .world
            .with(&self.id, |sandbox, _| Ok(sample(sandbox, taken)));
        sample.ok().map(Ok)
    }
}

/// Makes up the figures of one moment.
#[allow(clippy::cast_precision_loss)] // Made-up figures need no more than 52 bits.
fn sample(sandbox: &Simulated, taken: u64) -> Sample {
    let limits = &sandbox.spec.limits;
    let phase_shift = scramble(sandbox.sandbox.name.len() as u64) % 40;
    let wave = wave(taken + phase_shift);
    let paused = sandbox.sandbox.phase == Phase::Paused;
    let cores = limits.cpus.unwrap_or(1.0);
    let busy = if sandbox.processes.is_empty() {
        0.1
    } else {
        0.6
    };
    let share = wave as f64 / 1000.0;
    let traffic = match sandbox.spec.network {
        Network::None => 0,
        Network::Default | Network::Named(_) => taken * 1500,
    };
    let ceiling = limits.memory_bytes.unwrap_or(ROOMY);
    Sample {
        at: Utc::now(),
        cpu_percent: if paused {
            0.0
        } else {
            cores * 100.0 * busy * share
        },
        cpus_limit: limits.cpus,
        memory_bytes: ceiling / 8 + ceiling / 4_000 * wave,
        memory_limit_bytes: limits.memory_bytes,
        pids: sandbox.processes.len() as u64 + 1,
        net_rx_bytes: traffic,
        net_tx_bytes: traffic / 3,
        disk_bytes: None,
    }
}

/// Goes from 100 to 1000 and back every 40 steps.
fn wave(step: u64) -> u64 {
    let at = step % 40;
    100 + 45 * at.min(40 - at)
}
