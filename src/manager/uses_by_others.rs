//! Uses of sandboxes by other tools, as far as the engine saw them.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Host;
use crate::domain::{EngineEvent, EngineEventKind, Sandbox, SandboxId};

/// Longest wait for an answer of the engine.
const ASKING: Duration = Duration::from_secs(5);

/// Asks the engine what happened; without its memory, uses by other tools are only seen while they run.
pub(super) async fn past_events(host: &Host, since: DateTime<Utc>) -> Vec<EngineEvent> {
    let asking = host.engine.events_since(since);
    let told = tokio::time::timeout(ASKING, asking).await;
    told.ok().and_then(Result::ok).unwrap_or_default()
}

/// What other tools did, as far as the engine saw it.
#[derive(Debug, Default)]
pub(super) struct UsesByOthers {
    /// When each sandbox was used last.
    pub(super) last: HashMap<SandboxId, DateTime<Utc>>,
    /// Where something of theirs runs.
    pub(super) running: Vec<SandboxId>,
}

impl UsesByOthers {
    /// Finds uses in what the engine saw.
    pub(super) async fn find(host: &Host, sandboxes: &[Sandbox], past: Vec<EngineEvent>) -> Self {
        let mut last = HashMap::new();
        let mut open: HashMap<SandboxId, i64> = HashMap::new();
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
            *open.entry(event.sandbox.id.clone()).or_default() += step;
            let at = last.entry(event.sandbox.id).or_insert(event.at);
            *at = event.at.max(*at);
        }
        let mut running = Vec::new();
        for sandbox in sandboxes {
            let id = &sandbox.reference.id;
            // Not every start has its end on record; the engine knows what runs now.
            if open.get(id).is_some_and(|open| *open > 0) && is_running(host, sandbox).await {
                running.push(id.clone());
            }
        }
        Self { last, running }
    }
}

/// Asks the engine whether anything runs in a live sandbox; if it does not tell, it might.
pub(super) async fn is_running(host: &Host, sandbox: &Sandbox) -> bool {
    if !sandbox.phase.is_live() {
        return false;
    }
    let asking = host.engine.running(&sandbox.reference.id);
    match tokio::time::timeout(ASKING, asking).await {
        Ok(Ok(count)) => count > 0,
        Ok(Err(_)) | Err(_) => true,
    }
}
