//! How every sandbox stands: when it was used, who answers for it, what becomes of it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::alive::{self, Life};
use super::context::Context;
use super::{Host, deaths, runs};
use crate::domain::{
    Belongs, EngineEventKind, Facts, Owner, OwnerKind, Phase, ReapRules, ReapStatus, Sandbox,
    SandboxId, SandboxRef, Usage, judge,
};
use crate::protocol::{Failure, RunFilter};
use crate::store::{Memory, Moment};

/// How far back the engine is asked for uses by other tools; engines remember no more than some hundred events anyway.
const LOOK_BACK: TimeDelta = TimeDelta::hours(24);
/// How much further than to the first look a second one goes back: the engine's clock may differ.
const OVERLAP: TimeDelta = TimeDelta::minutes(1);
/// Longest wait for the engine's memory; without it, uses by other tools are only seen while they run.
const ASKING: Duration = Duration::from_secs(5);

/// What was known of all sandboxes of a host at one moment.
pub(super) struct UsageSnapshot {
    pub(super) now: Moment,
    pub(super) sandboxes: Vec<Sandbox>,
    /// `None` if the store cannot be read: then nobody knows when anything was used.
    memory: Option<Memory>,
    busy: HashSet<SandboxId>,
    reaps_foreign: bool,
    released: HashSet<(String, u32, u64)>,
}

impl UsageSnapshot {
    /// Looks at all sandboxes of a host.
    pub(super) async fn take(context: &Context, host: &Host) -> Result<Self, Failure> {
        let sandboxes = host.list().await?;
        context.remember(&sandboxes);
        runs::settle(context, host).await;
        let now = Moment::now();
        meet(context, host, &sandboxes, &now).await;
        let since = now.wall - LOOK_BACK;
        let others = uses_by_others(context, host, &sandboxes, since).await;
        let store = &context.options.store;
        let filter = RunFilter {
            sandbox: None,
            under_way: true,
            limit: 10_000,
        };
        let open = context
            .ok_or_warn(store.runs(&host.engine_key, &filter).await)
            .await;
        let open = open.unwrap_or_default().into_iter();
        let busy = open.map(|run| run.sandbox.id).chain(others).collect();
        Ok(Self {
            now,
            sandboxes,
            memory: context
                .ok_or_warn(store.memory(&host.engine_key).await)
                .await,
            busy,
            reaps_foreign: context.options.reap_foreign,
            released: context
                .ok_or_warn(store.released().await)
                .await
                .unwrap_or_default(),
        })
    }

    /// Looks again at one of the sandboxes: a list, and what the engine saw since the first look. An open run needs no look:
    /// the store grants no claim on its sandbox.
    pub(super) async fn reload_one(
        &self,
        context: &Context,
        host: &Host,
        sandbox: &SandboxRef,
    ) -> Result<Self, Failure> {
        let mut sandboxes = host.list().await?;
        sandboxes.retain(|one| one.reference == *sandbox);
        let since = self.now.wall - OVERLAP;
        let busy = uses_by_others(context, host, &sandboxes, since).await;
        let store = &context.options.store;
        Ok(Self {
            now: Moment::now(),
            sandboxes,
            memory: context
                .ok_or_warn(store.memory(&host.engine_key).await)
                .await,
            busy: busy.into_iter().collect(),
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
        let mut dead = deaths::reconcile(context, host, &self.sandboxes).await;
        let reap_status = |sandbox: &Sandbox| {
            let facts = self.facts(sandbox, &context.options.owner);
            let id = &sandbox.reference.id;
            ReapStatus {
                sandbox: sandbox.reference.clone(),
                facts,
                verdict: judge(&facts, rules),
                last_end: ends.remove(id),
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

/// Records sandboxes that were never seen: from now on their time counts, and not from a past that nobody knows.
async fn meet(context: &Context, host: &Host, sandboxes: &[Sandbox], now: &Moment) {
    let memory = context.options.store.memory(&host.engine_key).await;
    let Some(memory) = context.ok_or_warn(memory).await else {
        return;
    };
    for sandbox in sandboxes {
        if !memory.uses.contains_key(&sandbox.reference.id) {
            context.touch_at(&sandbox.reference, now.clone()).await;
        }
    }
}

/// Records uses that the engine saw, and returns the sandboxes in which something of other tools runs.
async fn uses_by_others(
    context: &Context,
    host: &Host,
    sandboxes: &[Sandbox],
    since: DateTime<Utc>,
) -> Vec<SandboxId> {
    let asking = host.engine.events_since(since);
    let Ok(Ok(past)) = tokio::time::timeout(ASKING, asking).await else {
        return Vec::new();
    };
    let mut seen: HashMap<SandboxId, (DateTime<Utc>, i64)> = HashMap::new();
    for event in past {
        let step = match event.what {
            EngineEventKind::Exec { .. } => 1,
            EngineEventKind::ExecEnded { .. } => -1,
            EngineEventKind::Created
            | EngineEventKind::Started
            | EngineEventKind::Restarted
            | EngineEventKind::Resumed => 0,
            _ => continue,
        };
        let entry = seen.entry(event.sandbox.id).or_insert((event.at, 0));
        *entry = (entry.0.max(event.at), entry.1 + step);
    }
    let (now, mut running) = (Moment::now(), Vec::new());
    for sandbox in sandboxes {
        let id = &sandbox.reference.id;
        let Some((last, open)) = seen.get(id) else {
            continue;
        };
        context
            .touch_at(&sandbox.reference, now.back_to(*last))
            .await;
        // Not every start has its end on record; the engine knows what runs now.
        if *open > 0 && sandbox.phase.is_live() && is_running(host, id).await {
            running.push(id.clone());
        }
    }
    running
}

/// Asks the engine whether anything runs in a sandbox; if it does not tell, it might.
pub(super) async fn is_running(host: &Host, id: &SandboxId) -> bool {
    match tokio::time::timeout(ASKING, host.engine.running(id)).await {
        Ok(Ok(count)) => count > 0,
        Ok(Err(_)) | Err(_) => true,
    }
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
