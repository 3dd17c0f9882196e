//! How every sandbox stands: when it was used, who answers for it, what becomes of it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::alive::{self, Life};
use super::context::Context;
use super::settle::settle;
use super::uses_by_others::UsesByOthers;
use super::{Host, deaths, uses_by_others};
use crate::domain::{
    Belongs, Facts, Owner, OwnerKind, Phase, ReapRules, ReapStatus, Sandbox, SandboxId, SandboxRef,
    Usage, judge,
};
use crate::protocol::{Failure, RunFilter};
use crate::store::{Memory, Moment};

/// How far back the engine is asked for uses by other tools; engines remember no more than some hundred events anyway.
const LOOK_BACK: TimeDelta = TimeDelta::hours(24);
/// How much further than to the first look a second one goes back: the engine's clock may differ.
const OVERLAP: TimeDelta = TimeDelta::minutes(1);
/// How long a refusal of processes is worth mentioning.
const LATELY: TimeDelta = TimeDelta::minutes(10);

/// What was known of all sandboxes of a host at one moment.
pub(super) struct UsageSnapshot {
    pub(super) now: Moment,
    pub(super) sandboxes: Vec<Sandbox>,
    others: UsesByOthers,
    /// `None` if the store cannot be read: then nobody knows when anything was used.
    memory: Option<Memory>,
    busy: HashSet<SandboxId>,
    reaps_foreign: bool,
    released: HashSet<(String, u32, u64)>,
}

impl UsageSnapshot {
    /// Looks at all sandboxes of a host. What does not depend on one another is asked side by side.
    pub(super) async fn take(context: &Context, host: &Host) -> Result<Self, Failure> {
        let since = Utc::now() - LOOK_BACK;
        let (sandboxes, past, ()) = tokio::join!(
            host.list(),
            uses_by_others::past_events(host, since),
            settle(context, host)
        );
        let sandboxes = sandboxes?;
        context.remember(&sandboxes);
        deaths::revive_started(context, host, past.iter()).await;
        let others = UsesByOthers::find(host, &sandboxes, past).await;
        Ok(Self::on_record(context, host, sandboxes, others).await)
    }

    /// Looks at the record again, and believes what the engine told before.
    pub(super) async fn renewed(self, context: &Context, host: &Host) -> Self {
        settle(context, host).await;
        Self::on_record(context, host, self.sandboxes, self.others).await
    }

    async fn on_record(
        context: &Context,
        host: &Host,
        sandboxes: Vec<Sandbox>,
        others: UsesByOthers,
    ) -> Self {
        let memory = record_uses(context, host, &sandboxes, &others).await;
        let busy = busy(context, host).await.into_iter();
        let busy = busy.chain(others.running.iter().cloned()).collect();
        let released = context.options.store.released().await;
        Self {
            now: Moment::now(),
            sandboxes,
            others,
            memory,
            busy,
            reaps_foreign: context.options.reap_foreign,
            released: context.ok_or_warn(released).await.unwrap_or_default(),
        }
    }

    /// Looks again at one of the sandboxes: the sandbox itself, and what the engine saw since the first look. An open run needs no look:
    /// the store grants no claim on its sandbox.
    pub(super) async fn reload_one(
        &self,
        context: &Context,
        host: &Host,
        sandbox: &SandboxRef,
    ) -> Result<Self, Failure> {
        let sandboxes: Vec<Sandbox> = host.find(&sandbox.id).await?.into_iter().collect();
        let past = uses_by_others::past_events(host, self.now.wall - OVERLAP).await;
        deaths::revive_started(context, host, past.iter()).await;
        let others = UsesByOthers::find(host, &sandboxes, past).await;
        let memory = record_uses(context, host, &sandboxes, &others).await;
        Ok(Self {
            now: Moment::now(),
            sandboxes,
            memory,
            busy: others.running.iter().cloned().collect(),
            others,
            reaps_foreign: self.reaps_foreign,
            released: self.released.clone(),
        })
    }

    /// Returns the last use of a sandbox.
    pub(super) fn last_use(&self, sandbox: &Sandbox) -> Option<&Moment> {
        let known = self.memory.as_ref()?.uses.get(&sandbox.reference.id);
        known.map(|(moment, _)| moment)
    }

    /// Gathers what decides over a sandbox.
    pub(super) fn facts(&self, sandbox: &Sandbox, here: &Owner) -> Facts {
        let id = &sandbox.reference.id;
        let is_pinned = self.memory.as_ref().is_some_and(|m| m.pinned.contains(id));
        Facts {
            usage: self.usage(sandbox),
            belongs: self.belongs(sandbox, here),
            pinned: is_pinned,
            paused: sandbox.phase == Phase::Paused,
            changing: match sandbox.phase {
                Phase::Creating => !is_unfinished(sandbox, here),
                Phase::Removing | Phase::Lost => true,
                Phase::Running | Phase::Paused | Phase::Stopped | Phase::Dead => false,
            },
        }
    }

    fn usage(&self, sandbox: &Sandbox) -> Usage {
        if self.busy.contains(&sandbox.reference.id) && sandbox.phase.is_live() {
            return Usage::Busy;
        }
        self.last_use(sandbox).map_or(Usage::Unknown, |last| {
            let millis = u64::try_from(self.now.ms_since(last)).unwrap_or(0);
            Usage::Idle(Duration::from_millis(millis))
        })
    }

    fn belongs(&self, sandbox: &Sandbox, here: &Owner) -> Belongs {
        let Some(owner) = &sandbox.owner else {
            return if self.reaps_foreign {
                Belongs::ForeignReaped
            } else {
                Belongs::Foreign
            };
        };
        let is_same_user = owner.user.is_none() || here.user.is_none() || owner.user == here.user;
        if owner.host != here.host || !is_same_user {
            return Belongs::Others;
        }
        let key = (owner.host.clone(), owner.pid, owner.started);
        let answers = owner.kind != OwnerKind::Cli && !self.released.contains(&key);
        let answers = answers || is_unfinished(sandbox, here);
        match alive::is_alive(owner, here) {
            Life::Dead if answers => Belongs::Orphaned,
            Life::Alive | Life::Dead | Life::Elsewhere => Belongs::Us,
        }
    }

    /// Decides over every sandbox.
    pub(super) async fn reap_statuses(
        &self,
        context: &Context,
        host: &Host,
        rules: &ReapRules,
    ) -> Vec<ReapStatus> {
        let store = &context.options.store;
        let ends = store.last_ends(&host.engine_key).await;
        let mut ends = context.ok_or_warn(ends).await.unwrap_or_default();
        let refused = store
            .refusals_since(&host.engine_key, self.now.wall - LATELY)
            .await;
        let refused = context.ok_or_warn(refused).await.unwrap_or_default();
        let refused: HashMap<SandboxId, DateTime<Utc>> = refused
            .into_iter()
            .map(|one| (one.sandbox, one.last))
            .collect();
        let mut dead = deaths::reconcile(context, host, &self.sandboxes).await;
        let reap_status = |sandbox: &Sandbox| {
            let facts = self.facts(sandbox, &context.options.owner);
            let id = &sandbox.reference.id;
            ReapStatus {
                sandbox: sandbox.reference.clone(),
                facts,
                verdict: judge(&facts, rules),
                last_end: ends.remove(id),
                pids_refused_at: refused.get(id).copied(),
                death: dead.remove(id).filter(|_| !sandbox.phase.is_live()),
            }
        };
        self.sandboxes.iter().map(reap_status).collect()
    }
}

/// Tells whether a sandbox was being made by a process that is gone; nobody will finish it, and nobody got it.
fn is_unfinished(sandbox: &Sandbox, here: &Owner) -> bool {
    let owner = sandbox.owner.as_ref();
    let is_dead = |owner| alive::is_alive(owner, here) == Life::Dead;
    sandbox.phase == Phase::Creating && owner.is_some_and(is_dead)
}

/// Lists the sandboxes in which runs of ours are under way.
async fn busy(context: &Context, host: &Host) -> Vec<SandboxId> {
    let filter = RunFilter {
        sandbox: None,
        under_way: true,
        limit: 10_000,
    };
    let open = context.options.store.runs(&host.engine_key, &filter).await;
    let open = context.ok_or_warn(open).await.unwrap_or_default();
    open.into_iter().map(|run| run.sandbox.id).collect()
}

/// Records uses that the engine saw, and sandboxes that were never seen: from now on their time counts, and not from a past
/// that nobody knows. Returns what is on record then.
async fn record_uses(
    context: &Context,
    host: &Host,
    sandboxes: &[Sandbox],
    others: &UsesByOthers,
) -> Option<Memory> {
    let store = &context.options.store;
    let known = store.memory(&host.engine_key).await;
    let known = context.ok_or_warn(known).await?;
    let now = Moment::now();
    let news = |sandbox: &Sandbox| {
        let id = &sandbox.reference.id;
        let seen = others.last.get(id).map(|last| now.back_to(*last));
        let at = match known.uses.get(id) {
            None => Some(now.clone()),
            Some((used, _)) => seen.filter(|seen| seen.is_after(used)),
        };
        at.map(|at| (id.clone(), sandbox.name.clone(), at))
    };
    let news: Vec<_> = sandboxes.iter().filter_map(news).collect();
    if news.is_empty() {
        return Some(known);
    }
    let recorded = store.touch_all(&host.engine_key, news).await;
    context.ok_or_warn(recorded).await;
    let known = store.memory(&host.engine_key).await;
    context.ok_or_warn(known).await
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::sandbox;

    #[test]
    fn what_a_killed_process_was_making_is_an_orphan() {
        let snapshot = UsageSnapshot {
            now: Moment::now(),
            sandboxes: Vec::new(),
            others: UsesByOthers::default(),
            memory: None,
            busy: HashSet::new(),
            reaps_foreign: false,
            released: HashSet::new(),
        };
        let mut unfinished = sandbox("alpha");
        unfinished.phase = Phase::Creating;
        let here = unfinished.owner.clone().expect("an owner");
        let here = Owner {
            kind: OwnerKind::Cli,
            pid: std::process::id(),
            ..here
        };
        let facts = |started: u64| {
            let mut one = unfinished.clone();
            one.owner = Some(Owner {
                started,
                ..here.clone()
            });
            let facts = snapshot.facts(&one, &here);
            (facts.changing, facts.belongs)
        };
        let me = alive::start_of(std::process::id()).expect("a start");
        assert_eq!(facts(me), (true, Belongs::Us));
        assert_eq!(facts(me + 1), (false, Belongs::Orphaned));
    }
}
