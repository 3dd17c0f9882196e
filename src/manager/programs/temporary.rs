//! The end of sandboxes that were made for one program each: with the manager at the latest.

use std::time::Duration;

use crate::manager::context::Context;
use crate::manager::lifecycle;
use crate::protocol::LifecycleOp;

/// How long removing takes at most when the manager ends.
const LAST_REMOVALS: Duration = Duration::from_secs(8);

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
