//! What the record tells beyond the engine: how runs ended, and why sandboxes did.

use chrono::{DateTime, Utc};

use super::Host;
use super::context::Context;
use crate::domain::{EngineEvent, EngineEventKind, Run, SandboxRef};

/// Tells what was recorded since a moment.
pub(super) async fn since(
    context: &Context,
    host: &Host,
    since: DateTime<Utc>,
) -> Vec<EngineEvent> {
    let store = &context.options.store;
    let runs = context
        .ok_or_warn(store.ended_since(&host.engine_key, since).await)
        .await;
    let deaths = context
        .ok_or_warn(store.deaths(&host.engine_key).await)
        .await;
    let ended = runs.unwrap_or_default().into_iter().filter_map(run_ended);
    let died = deaths
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(id, (name, death))| {
            Some(EngineEvent {
                at: death.at?,
                sandbox: SandboxRef::new(host.name.clone(), id),
                name,
                what: EngineEventKind::Death {
                    cause: death.cause,
                    by: death.by,
                },
            })
        });
    let mut all: Vec<EngineEvent> = ended.chain(died).filter(|h| h.at > since).collect();
    all.sort_by_key(|event| event.at);
    all
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
