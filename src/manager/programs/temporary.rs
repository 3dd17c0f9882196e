//! Sandboxes that were made for one program each, and end with the manager at the latest.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::domain::SandboxRef;
use crate::manager::context::Context;
use crate::manager::lifecycle;
use crate::protocol::LifecycleOp;

/// How long removing takes at most when the manager ends.
const LAST_REMOVALS: Duration = Duration::from_secs(8);

/// Sandboxes that were made for one program each.
#[derive(Debug, Default)]
pub(in crate::manager) struct TemporarySandboxes(Mutex<Vec<SandboxRef>>);

impl TemporarySandboxes {
    /// Remembers one that was made.
    pub(super) fn add(&self, sandbox: SandboxRef) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sandbox);
    }

    /// Forgets one that is gone.
    pub(in crate::manager) fn forget(&self, sandbox: &SandboxRef) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known != sandbox);
    }

    fn take(&self) -> Vec<SandboxRef> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Removes those that are still there.
pub(in crate::manager) async fn remove_temporary(context: &Context) {
    let removals = context.temporary.take().into_iter().map(|sandbox| async move {
        let removed = lifecycle::change_phase(context, &sandbox, LifecycleOp::Remove { force: true }).await;
        if let Err(failure) = removed {
            tracing::warn!(%failure, "a sandbox made for one run is left; the reaper will find it");
        }
    });
    let all = futures_util::future::join_all(removals);
    if tokio::time::timeout(LAST_REMOVALS, all).await.is_err() {
        tracing::warn!("sandboxes made for one run are left; the reaper will find them");
    }
}
