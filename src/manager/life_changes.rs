//! What our own changes do to the life of a sandbox: each end that we cause is put on record at once, with who did it.

use chrono::{DateTime, Utc};

use super::Host;
use super::context::Context;
use super::deaths::{Witness, meant, revive, with_last_run};
use crate::domain::{Death, Evidence, Phase, SandboxRef};
use crate::protocol::LifecycleOp;
use crate::store::LifecycleIntent;

/// How a sandbox stood before it was changed.
pub(super) type Before = Option<Phase>;

/// Finds out how a sandbox stands that is about to be changed; if it has ended, that is told now or never.
pub(super) async fn before_change(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    action: LifecycleOp,
) -> Before {
    match action {
        LifecycleOp::Remove { .. } | LifecycleOp::Restart | LifecycleOp::Start => {
            explain_if_ended(context, host, sandbox).await
        }
        LifecycleOp::Stop | LifecycleOp::Kill | LifecycleOp::Pause | LifecycleOp::Resume => None,
    }
}

/// Records what a change did to the life of a sandbox.
pub(super) async fn after_change(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    action: LifecycleOp,
    before: Before,
    intent: &LifecycleIntent,
) {
    match action {
        LifecycleOp::Remove { .. } => after_removal(context, host, sandbox, intent).await,
        LifecycleOp::Stop | LifecycleOp::Kill => {
            explain_if_ended(context, host, sandbox).await;
        }
        LifecycleOp::Restart => {
            if before.is_some_and(Phase::is_live) {
                record_ours(context, host, sandbox, intent, intent.at).await;
            }
            revive(context, host, &sandbox.id).await;
        }
        LifecycleOp::Start => revive(context, host, &sandbox.id).await,
        LifecycleOp::Pause | LifecycleOp::Resume => {}
    }
}

async fn explain_if_ended(context: &Context, host: &Host, sandbox: &SandboxRef) -> Before {
    let found = host.find(&sandbox.id).await.ok().flatten()?;
    let store = &context.options.store;
    let known = store.has_death(&host.engine_key, &sandbox.id).await;
    if matches!(found.phase, Phase::Stopped | Phase::Dead) && !known.unwrap_or(false) {
        Witness::new(context, host).explain_stop(&found).await;
    }
    Some(found.phase)
}

/// Records that a sandbox was removed by us, and forgets what belonged to it; its runs stay in the history.
pub(super) async fn after_removal(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    intent: &LifecycleIntent,
) {
    context.temporary.forget(sandbox);
    record_ours(context, host, sandbox, intent, Utc::now()).await;
    let store = &context.options.store;
    let forgotten = store.forget_output(&host.engine_key, &sandbox.id).await;
    context.ok_or_warn(forgotten).await;
    let forgotten = store.forget_use(&host.engine_key, &sandbox.id).await;
    context.ok_or_warn(forgotten).await;
}

/// Records an end that was our doing.
async fn record_ours(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    intent: &LifecycleIntent,
    at: DateTime<Utc>,
) {
    let evidence = Evidence {
        meant: meant(intent),
        ..Evidence::default()
    };
    let death = Death {
        cause: evidence.cause().word().to_owned(),
        at: Some(at),
        by: Some(intent.by.in_full()),
        ..Death::default()
    };
    let death = with_last_run(context, host, sandbox, death).await;
    let (store, name) = (&context.options.store, context.name_of(sandbox));
    let recorded = store
        .record_death(&host.engine_key, &sandbox.id, &name, &death)
        .await;
    context.ok_or_warn(recorded).await;
}
