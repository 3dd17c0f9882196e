//! What the record tells beyond the engine: how runs ended, and why sandboxes did.

use chrono::{DateTime, Utc};

use super::Host;
use super::context::Context;
use crate::domain::{Happening, Run, SandboxRef, What};

/// Tells what was recorded since a moment.
pub(super) async fn since(context: &Context, host: &Host, since: DateTime<Utc>) -> Vec<Happening> {
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
            Some(Happening {
                at: death.at?,
                sandbox: SandboxRef::new(host.name.clone(), id),
                name,
                what: What::Death {
                    cause: death.cause,
                    by: death.by,
                },
            })
        });
    let mut all: Vec<Happening> = ended.chain(died).filter(|h| h.at > since).collect();
    all.sort_by_key(|happening| happening.at);
    all
}

fn run_ended(run: Run) -> Option<Happening> {
    let result = run.result?;
    Some(Happening {
        at: result.at,
        sandbox: run.sandbox,
        name: run.name,
        what: What::RunEnded {
            run: run.id.to_string(),
            status: result.end.word().to_owned(),
            exit_code: result.end.exit_code(),
        },
    })
}
