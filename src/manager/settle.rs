//! The true end of runs whose holders are gone, as far as their sandboxes tell it.

use std::collections::HashMap;
use std::time::Duration;

use chrono::Utc;

use super::context::Context;
use super::{Host, alive};
use crate::domain::{Ended, Execs, Run, RunEnd, RunResult, SandboxId};
use crate::engine::EngineError;
use crate::protocol::{FailureKind, RunFilter};

/// Longest wait for a sandbox to tell about its execs.
const ASKING: Duration = Duration::from_secs(10);

/// Gives runs whose holders are gone their true end, as far as their sandboxes tell it.
pub(super) async fn settle(context: &Context, host: &Host) {
    let store = &context.options.store;
    let filter = RunFilter {
        sandbox: None,
        under_way: true,
        limit: 1000,
    };
    let open = context
        .ok_or_warn(store.runs(&host.engine_key, &filter).await)
        .await;
    let mut asked: HashMap<SandboxId, Option<Result<Execs, EngineError>>> = HashMap::new();
    for run in open.unwrap_or_default() {
        if alive::is_alive(&run.owner, &context.options.owner) != alive::Life::Dead {
            continue;
        }
        let sandbox = run.sandbox.id.clone();
        if !asked.contains_key(&sandbox) {
            let answer = tokio::time::timeout(ASKING, host.engine.execs(&sandbox)).await;
            asked.insert(sandbox.clone(), answer.ok());
        }
        let Some(Some(answer)) = asked.get(&sandbox) else {
            continue;
        };
        if let Some(result) = true_end(&run, answer) {
            let ended = store.end_run(&run.id, &result, None).await;
            context.ok_or_warn(ended).await;
        }
    }
}

/// Finds the end of a run in what its sandbox tells; `None` while it runs or cannot be known.
fn true_end(run: &Run, answer: &Result<Execs, EngineError>) -> Option<RunResult> {
    let lost = || RunResult::bare(RunEnd::Ended(Ended::Lost), run.started_at, Utc::now());
    let execs = match answer {
        Ok(execs) => execs,
        // The sandbox is gone or does not run, so neither does anything in it.
        Err(error) if matches!(error.kind, FailureKind::NotFound | FailureKind::Conflict) => {
            return Some(lost());
        }
        Err(_) => return None,
    };
    if let Some((_, end, at)) = execs.ended.iter().find(|(id, _, _)| *id == run.id) {
        let took = (*at - run.started_at).to_std().unwrap_or_default();
        return Some(RunResult::of(end, *at, took));
    }
    let runs = execs.running.contains(&run.id);
    (!runs).then(lost)
}
