//! Reaping: a look at all sandboxes, and then, for each whose time has come, a second look at it under its lock before the
//! deed.
//!
//! Two reapers do no harm: the claim in the store is granted to whoever finds the sandbox as it was seen; a run that begins
//! first refuses the claim, a claim that is granted first refuses the run.

use chrono::Utc;
use futures_util::stream::{self, StreamExt};

use super::alive::{Life, is_alive};
use super::context::Context;
use super::usage_snapshot::UsageSnapshot;
use super::uses_by_others::is_running;
use super::{Host, life_changes};
use crate::domain::{
    HostName, ReapRules, ReapStatus, Reaped, Reason, Sandbox, SandboxRef, Spared, Usage, Verdict,
    judge,
};
use crate::protocol::{Failure, FailureKind, Leftover, LifecycleOp, Reply};
use crate::store::{Claim, LifecycleIntent};

/// How many sandboxes are looked at or removed at once.
const AT_ONCE: usize = 8;

/// Tells what reaping would do, after a thorough look.
pub(super) async fn preview(
    context: Context,
    host: HostName,
    rules: ReapRules,
) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    let round = Round::begin(&context, host, &rules).await?;
    let reap_statuses = round.reap_statuses().await;
    let found = round.seen.sandboxes.into_iter().zip(reap_statuses);
    let found = found.map(|(sandbox, reap_status)| Reaped {
        sandbox,
        reap_status,
        done: None,
    });
    let leftovers = host.engine.leftovers().await.unwrap_or_default();
    Ok(Reply::Reaped(found.collect(), leftovers))
}

/// Tells how all sandboxes stand, as far as that is on record.
pub(super) async fn reap_statuses(
    context: Context,
    host: HostName,
    rules: ReapRules,
) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    let seen = UsageSnapshot::take(&context, host).await?;
    let reap_statuses = seen.reap_statuses(&context, host, &rules).await;
    Ok(Reply::ReapStatuses(seen.sandboxes, reap_statuses))
}

/// Exempts a sandbox from reaping, or lets it be reaped again.
pub(super) async fn pin(
    context: Context,
    sandbox: SandboxRef,
    pinned: bool,
) -> Result<Reply, Failure> {
    let (engine_key, store) = (context.engine_key(&sandbox)?, &context.options.store);
    if pinned {
        let by = context.options.owner.to_string();
        store.pin(engine_key, &sandbox.id, &by).await?;
    } else {
        store.unpin(engine_key, &sandbox.id).await?;
    }
    Ok(Reply::Done)
}

/// Reaps what is due; with `only`, nothing else than these.
pub(super) async fn reap(
    context: Context,
    host: HostName,
    rules: ReapRules,
    only: Option<Vec<SandboxRef>>,
) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    let round = Round::begin(&context, host, &rules).await?;
    let found = round.reap_due(only.as_deref()).await;
    let leftovers = match only {
        Some(_) => Vec::new(),
        None => sweep(host).await,
    };
    Ok(Reply::Reaped(found, leftovers))
}

/// Reaps a host for the dashboard, and returns what was done.
pub(super) async fn reap_all(
    context: &Context,
    host: &Host,
    rules: &ReapRules,
) -> Result<Vec<Reaped>, Failure> {
    let round = Round::begin(context, host, rules).await?;
    let mut found = round.reap_due(None).await;
    sweep(host).await;
    found.retain(|one| one.done.is_some());
    Ok(found)
}

/// Removes what carries our label and belongs to no sandbox.
async fn sweep(host: &Host) -> Vec<Leftover> {
    let mut removed = Vec::new();
    for leftover in host.engine.leftovers().await.unwrap_or_default() {
        match host.engine.remove_leftover(&leftover).await {
            Ok(()) => removed.push(leftover),
            Err(error) => tracing::warn!(%error, ?leftover, "a leftover could not be removed"),
        }
    }
    removed
}

/// One round over the sandboxes of a host, with what was seen at its beginning.
struct Round<'a> {
    context: &'a Context,
    host: &'a Host,
    rules: &'a ReapRules,
    seen: UsageSnapshot,
}

impl<'a> Round<'a> {
    async fn begin(
        context: &'a Context,
        host: &'a Host,
        rules: &'a ReapRules,
    ) -> Result<Self, Failure> {
        Ok(Self {
            context,
            host,
            rules,
            seen: UsageSnapshot::take(context, host).await?,
        })
    }

    /// Tells how all sandboxes stand, in their order.
    async fn reap_statuses(&self) -> Vec<ReapStatus> {
        let reap_statuses = self.seen.reap_statuses(self.context, self.host, self.rules);
        let mut confirming = Vec::new();
        for (sandbox, one) in self.seen.sandboxes.iter().zip(reap_statuses.await) {
            confirming.push(self.confirm(sandbox, one));
        }
        stream::iter(confirming).buffered(AT_ONCE).collect().await
    }

    /// Makes sure that nothing runs in a sandbox that is to go, whoever started it.
    async fn confirm(&self, sandbox: &Sandbox, mut reap_status: ReapStatus) -> ReapStatus {
        if is_due(reap_status.verdict) && is_running(self.host, sandbox).await {
            reap_status.facts.usage = Usage::Busy;
            reap_status.verdict = Verdict::Keep(Spared::Busy);
        }
        reap_status
    }

    /// Reaps what is due; with `only`, nothing else than these.
    async fn reap_due(&self, only: Option<&[SandboxRef]>) -> Vec<Reaped> {
        let is_meant = |one: &ReapStatus| only.is_none_or(|only| only.contains(&one.sandbox));
        let mut reaping = Vec::new();
        for (sandbox, reap_status) in self.seen.sandboxes.iter().zip(self.reap_statuses().await) {
            if is_meant(&reap_status) {
                reaping.push(self.reap_one(sandbox, reap_status));
            }
        }
        stream::iter(reaping).buffered(AT_ONCE).collect().await
    }

    async fn reap_one(&self, sandbox: &Sandbox, reap_status: ReapStatus) -> Reaped {
        let done = match reap_status.verdict {
            Verdict::Remove(reason) => Some(self.remove(sandbox, reason).await),
            Verdict::Pause(reason) => Some(self.pause(sandbox, reason).await),
            Verdict::Keep(_) | Verdict::Later(..) => None,
        };
        Reaped {
            sandbox: sandbox.clone(),
            reap_status,
            done: done.map(|done| done.map_err(|failure| failure.message)),
        }
    }

    async fn remove(&self, sandbox: &Sandbox, reason: Reason) -> Result<(), Failure> {
        let (context, host) = (self.context, self.host);
        let _lock = context.lock_sandbox(&sandbox.reference).await;
        let action = LifecycleOp::Remove { force: true };
        // Before the claim, which would be taken for the cause of an end that came just before it.
        life_changes::before_change(context, host, &sandbox.reference, action).await;
        let intent = self.claim(sandbox, reason).await?;
        if let Err(error) = host.engine.act(&sandbox.reference.id, action).await {
            self.give_up(sandbox).await;
            return Err(Failure::from(error));
        }
        life_changes::after_removal(context, host, &sandbox.reference, &intent).await;
        Ok(())
    }

    async fn pause(&self, sandbox: &Sandbox, reason: Reason) -> Result<(), Failure> {
        let _lock = self.context.lock_sandbox(&sandbox.reference).await;
        self.claim(sandbox, reason).await?;
        let id = &sandbox.reference.id;
        let paused = self.host.engine.act(id, LifecycleOp::Pause).await;
        self.give_up(sandbox).await;
        paused.map_err(Failure::from)
    }

    /// Gives a claim up.
    async fn give_up(&self, sandbox: &Sandbox) {
        let store = &self.context.options.store;
        let given_up = store
            .withdraw_intent(&self.host.engine_key, &sandbox.reference.id)
            .await;
        self.context.ok_or_warn(given_up).await;
    }

    /// Looks a second time, and claims the sandbox if all is as before.
    async fn claim(&self, sandbox: &Sandbox, reason: Reason) -> Result<LifecycleIntent, Failure> {
        let again = self
            .seen
            .reload_one(self.context, self.host, &sandbox.reference);
        let again = again.await?;
        let Some(found) = again.sandboxes.first() else {
            return Err(spared("somebody else removed it"));
        };
        let here = &self.context.options.owner;
        if !is_due(judge(&again.facts(found, here), self.rules)) {
            return Err(spared("it was used meanwhile"));
        }
        let intent = LifecycleIntent {
            action: "reap".to_owned(),
            reason: reason.word().to_owned(),
            by: here.clone(),
            at: Utc::now(),
        };
        let (store, place) = (&self.context.options.store, &self.host.engine_key);
        let id = &sandbox.reference.id;
        match store
            .claim(place, id, &intent, again.last_use(found))
            .await?
        {
            Claim::Granted => {}
            Claim::Used => return Err(spared("it was used meanwhile")),
            Claim::Taken(other) if is_alive(&other.by, here) == Life::Alive => {
                return Err(spared("another reaper is at it"));
            }
            // Its reaper was killed; the next round finds the way free.
            Claim::Taken(_) => {
                store.withdraw_intent(place, id).await?;
                return Err(spared("another reaper was killed while it was at it"));
            }
        }
        // Other tools ask nobody; this is the last look before the deed.
        if is_running(self.host, found).await {
            self.give_up(sandbox).await;
            return Err(spared("something runs in it"));
        }
        Ok(intent)
    }
}

fn is_due(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Pause(_) | Verdict::Remove(_))
}

fn spared(why: &str) -> Failure {
    Failure::new(FailureKind::Conflict, format!("spared: {why}"))
}
