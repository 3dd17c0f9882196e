//! Measures the files of running sandboxes, one after the other, with rests so long that it costs next to nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::Host;
use super::context::Context;
use crate::domain::{Phase, Sandbox, SandboxRef};

/// Whoever only wants one look at the stats is gone by then.
const FIRST: Duration = Duration::from_secs(3);
/// Time between two rounds.
const PERIOD: Duration = Duration::from_secs(20);
/// Longest time for one sandbox.
const LONGEST: Duration = Duration::from_secs(10);
/// A look is followed by a rest of so many times its own length.
const REST: u32 = 20;

/// What was measured last.
#[derive(Default)]
pub(super) struct Disks(Mutex<HashMap<SandboxRef, u64>>);

impl Disks {
    /// Tells what the files of a sandbox took.
    pub(super) fn of(&self, sandbox: &SandboxRef) -> Option<u64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(sandbox).copied()
    }

    fn note(&self, sandbox: &SandboxRef, bytes: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(sandbox.clone(), bytes);
    }

    fn keep_only(&self, listed: &[Sandbox]) {
        let is_listed = |sandbox: &SandboxRef| listed.iter().any(|one| one.reference == *sandbox);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|sandbox, _| is_listed(sandbox));
    }
}

/// Measures until it is dropped. What cannot be measured, because it has just gone or is not ours, has no size.
pub(super) async fn keep_measuring(
    context: &Context,
    host: &Host,
    wanted: Option<&[SandboxRef]>,
    disks: &Disks,
) {
    if !context.options.measures_disk {
        return;
    }
    sleep(FIRST).await;
    loop {
        let listed = host.engine.list().await.unwrap_or_default();
        disks.keep_only(&listed);
        let is_wanted = |sandbox: &&Sandbox| {
            let is_ours = sandbox.owner.is_some() && sandbox.phase == Phase::Running;
            is_ours && wanted.is_none_or(|wanted| wanted.contains(&sandbox.reference))
        };
        for sandbox in listed.iter().filter(is_wanted) {
            let begun = Instant::now();
            let measured = timeout(LONGEST, host.engine.disk_use(sandbox)).await;
            if let Ok(Ok(bytes)) = measured {
                disks.note(&sandbox.reference, bytes);
            }
            sleep(begun.elapsed() * REST).await;
        }
        sleep(PERIOD).await;
    }
}
