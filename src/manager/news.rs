//! What the record tells beyond the engine: how runs ended, why sandboxes did, and who removed them.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::Host;
use super::context::Context;
use crate::domain::{Death, EngineEvent, EngineEventKind, Run, SandboxId, SandboxRef};
use crate::store::Refusals;

/// How far back each look goes: what is recorded now may have happened a while ago, by another clock.
const OVERLAP: TimeDelta = TimeDelta::minutes(2);

/// What came on record since somebody began to watch; each thing is told once.
pub(super) struct News {
    begun: DateTime<Utc>,
    told: HashSet<EngineEvent>,
}

impl News {
    /// Watches from now on.
    pub(super) fn begin() -> Self {
        Self {
            begun: Utc::now(),
            told: HashSet::new(),
        }
    }

    /// Returns what was not told yet.
    pub(super) async fn next(&mut self, context: &Context, host: &Host) -> Vec<EngineEvent> {
        let oldest = self.begun.max(Utc::now() - OVERLAP);
        let is_new = |event: &EngineEvent| event.at >= oldest;
        self.told
            .retain(|told| is_new(told) || matches!(told.what, EngineEventKind::PidsLimit { .. }));
        let mut news = since(context, host, oldest).await;
        news.retain(|event| self.told.insert(without_count(event)));
        news
    }
}

/// Makes events alike that tell of one thing: a count that grows is nothing new.
fn without_count(event: &EngineEvent) -> EngineEvent {
    let mut event = event.clone();
    if let EngineEventKind::PidsLimit { refused } = &mut event.what {
        *refused = 0;
    }
    event
}

/// Tells what was recorded of the time since a moment, oldest first.
pub(super) async fn since(
    context: &Context,
    host: &Host,
    since: DateTime<Utc>,
) -> Vec<EngineEvent> {
    let store = &context.options.store;
    let runs = store.ended_since(&host.engine_key, since).await;
    let runs = context.ok_or_warn(runs).await.unwrap_or_default();
    let deaths = store.deaths_since(&host.engine_key, since).await;
    let deaths = context.ok_or_warn(deaths).await.unwrap_or_default();
    let refusals = store.refusals_since(&host.engine_key, since).await;
    let refusals = context.ok_or_warn(refusals).await.unwrap_or_default();
    let refused = refusals.into_iter().map(|one| refused(host, one));
    let ended = runs.into_iter().filter_map(run_ended);
    let died = deaths
        .into_iter()
        .filter_map(|(id, name, death)| died(host, id, name, death));
    let mut all: Vec<EngineEvent> = ended
        .chain(died)
        .filter(|event| event.at > since)
        .chain(refused)
        .collect();
    all.sort_by_key(|event| event.at);
    all
}

fn died(host: &Host, id: SandboxId, name: String, death: Death) -> Option<EngineEvent> {
    Some(EngineEvent {
        at: death.at?,
        sandbox: SandboxRef::new(host.name.clone(), id),
        name,
        what: EngineEventKind::Death {
            cause: death.cause,
            by: death.by,
            exit_code: death.exit_code,
        },
    })
}

fn refused(host: &Host, one: Refusals) -> EngineEvent {
    EngineEvent {
        at: one.at,
        sandbox: SandboxRef::new(host.name.clone(), one.sandbox),
        name: one.name,
        what: EngineEventKind::PidsLimit {
            refused: one.refused,
        },
    }
}

fn run_ended(run: Run) -> Option<EngineEvent> {
    let result = run.result?;
    Some(EngineEvent {
        at: result.at,
        sandbox: run.sandbox,
        name: run.name,
        what: EngineEventKind::RunEnded {
            run: run.id.to_string(),
            status: result.end.word().to_owned(),
            exit_code: result.end.exit_code(),
        },
    })
}

/// Adds to a removal who did it, if somebody of ours meant to.
pub(super) async fn with_remover(
    context: &Context,
    host: &Host,
    mut event: EngineEvent,
) -> EngineEvent {
    let EngineEventKind::Removed { by } = &mut event.what else {
        return event;
    };
    let store = &context.options.store;
    let intent = store.intent(&host.engine_key, &event.sandbox.id).await;
    let intent = intent.ok().flatten();
    let is_removal = |action: &str| action == "remove" || action == "reap";
    *by = intent
        .filter(|intent| is_removal(&intent.action) && event.at - intent.at < OVERLAP)
        .map(|intent| intent.by.in_full());
    event
}
