//! Finds out why sandboxes ended, and keeps that after they are gone.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::Host;
use super::context::Context;
use crate::domain::{
    Cause, Death, EngineEvent, EngineEventKind, Evidence, ExecId, Fault, HostName, Meant, Phase,
    Run, Sandbox, SandboxId, SandboxRef,
};
use crate::protocol::{Epitaph, Failure, Reply, RunFilter};
use crate::store::{LifecycleIntent, last_lines};

/// Lines that are kept of the last run.
const LINES: usize = 20;
/// How long before an end something that was meant to cause it may lie.
const SHORTLY: TimeDelta = TimeDelta::seconds(60);
/// How much later than our own record the engine's clock may put an end.
const SKEW: TimeDelta = TimeDelta::seconds(5);
/// How long a removal may take after what it kills has ended.
const SETTLE: TimeDelta = TimeDelta::milliseconds(400);
/// Longest wait for the engine.
const ASKING: Duration = Duration::from_secs(10);

/// Buries what has ended since anybody looked, and returns how all that have ended did.
pub(super) async fn reconcile(
    context: &Context,
    host: &Host,
    sandboxes: &[Sandbox],
) -> HashMap<SandboxId, Death> {
    let store = &context.options.store;
    let known = context
        .ok_or_warn(store.deaths(&host.engine_key).await)
        .await;
    let memory = context
        .ok_or_warn(store.memory(&host.engine_key).await)
        .await;
    let (Some(known), Some(memory)) = (known, memory) else {
        return HashMap::new();
    };
    let mut witness = Witness::new(context, host);
    for sandbox in sandboxes {
        let is_known = known.contains_key(&sandbox.reference.id);
        match sandbox.phase {
            Phase::Running | Phase::Paused if is_known => {
                revive(context, host, &sandbox.reference.id).await;
            }
            Phase::Stopped | Phase::Dead if !is_known => witness.explain_stop(sandbox).await,
            _ => {}
        }
    }
    let here: HashSet<&SandboxId> = sandboxes.iter().map(|s| &s.reference.id).collect();
    for (id, (_, name)) in &memory.uses {
        if !here.contains(id) {
            let death = known.get(id).map(|(_, death)| death);
            witness.explain_absence(id, name, death).await;
        }
    }
    let mut all: HashMap<_, _> = known
        .into_iter()
        .map(|(id, (_, death))| (id, death))
        .collect();
    all.extend(witness.found);
    all
}

/// Asks those who may know, and remembers what they said.
pub(super) struct Witness<'a> {
    context: &'a Context,
    host: &'a Host,
    past: Option<Vec<EngineEvent>>,
    found: HashMap<SandboxId, Death>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(context: &'a Context, host: &'a Host) -> Self {
        Self {
            context,
            host,
            past: None,
            found: HashMap::new(),
        }
    }

    /// Finds out why a sandbox does not run any more. What other hands have just killed they may be removing: that is told,
    /// and recorded by the next look.
    pub(super) async fn explain_stop(&mut self, sandbox: &Sandbox) {
        let id = &sandbox.reference.id;
        let asking = self.host.engine.inspect(id);
        let Ok(Ok(details)) = tokio::time::timeout(ASKING, asking).await else {
            return;
        };
        let Some(told) = details.death else {
            return;
        };
        let at = told.at.unwrap_or_else(Utc::now);
        let intent = self.intent(id, at).await;
        let mut evidence = Evidence {
            meant: intent.as_ref().and_then(meant),
            ..Evidence::default()
        };
        if evidence.meant.is_none() {
            evidence = self.events(id, at).await;
            evidence.engine_restarted = self.host.engine.restarted_since(at).await.unwrap_or(false);
        }
        evidence.oom = told.cause == "oom";
        evidence.exit_code = told.exit_code;
        evidence.fault = (told.cause == "error").then(|| fault(&told));
        let cause = evidence.cause();
        let death = Death {
            cause: cause.word().to_owned(),
            by: evidence.meant.and(intent).map(|intent| intent.by.in_full()),
            ..told
        };
        if cause == Cause::KilledOutside && Utc::now() - at < SETTLE {
            self.found.insert(id.clone(), death);
            return;
        }
        self.record_death(&sandbox.reference, &sandbox.name, death)
            .await;
    }

    /// Finds out why a sandbox is not there any more, unless it had ended before and did not live since.
    async fn explain_absence(&mut self, id: &SandboxId, name: &str, known: Option<&Death>) {
        let store = &self.context.options.store;
        if let Some(end) = known {
            if !self.started_since(id, end.at).await {
                let forgotten = store.forget_use(&self.host.engine_key, id).await;
                self.context.ok_or_warn(forgotten).await;
                return;
            }
            revive(self.context, self.host, id).await;
        }
        let intent = self.intent(id, Utc::now()).await;
        let removal = self.past().await.iter().rev();
        let mut removal = removal.filter(|event| event.sandbox.id == *id);
        let removed_at = removal
            .find(|h| matches!(h.what, EngineEventKind::Removed { .. }))
            .map(|h| h.at);
        let evidence = Evidence {
            gone: true,
            saw_removal: removed_at.is_some(),
            meant: intent.as_ref().and_then(meant),
            ..Evidence::default()
        };
        let death = Death {
            cause: evidence.cause().word().to_owned(),
            at: Some(removed_at.unwrap_or_else(Utc::now)),
            by: evidence.meant.and(intent).map(|intent| intent.by.in_full()),
            ..Death::default()
        };
        let sandbox = SandboxRef::new(self.host.name.clone(), id.clone());
        self.record_death(&sandbox, name, death).await;
        let forgotten = store.forget_use(&self.host.engine_key, id).await;
        self.context.ok_or_warn(forgotten).await;
    }

    async fn started_since(&mut self, id: &SandboxId, end: Option<DateTime<Utc>>) -> bool {
        let mut past = self.past().await.iter();
        past.any(|event| {
            let is_start = event.what == EngineEventKind::Started && event.sandbox.id == *id;
            is_start && end.is_some_and(|end| end < event.at)
        })
    }

    /// Returns what sandtop meant to do to a sandbox shortly before its end.
    async fn intent(&self, id: &SandboxId, end: DateTime<Utc>) -> Option<LifecycleIntent> {
        let store = &self.context.options.store;
        let intent = store
            .intent(&self.host.engine_key, id)
            .await
            .ok()
            .flatten()?;
        let before = end - intent.at;
        (before > -SKEW && before < SHORTLY).then_some(intent)
    }

    /// Reads from the engine's memory what was asked of it shortly before an end.
    async fn events(&mut self, id: &SandboxId, end: DateTime<Utc>) -> Evidence {
        let mut evidence = Evidence::default();
        for event in self.past().await {
            let before = end - event.at;
            if event.sandbox.id != *id || before > SHORTLY || before < -SKEW {
                continue;
            }
            match event.what {
                // What was asked of an earlier life explains nothing.
                EngineEventKind::Started | EngineEventKind::Restarted => {
                    evidence = Evidence::default();
                }
                EngineEventKind::Stopped => evidence.saw_stop = true,
                EngineEventKind::Killed { .. } => evidence.saw_kill = true,
                _ => {}
            }
        }
        evidence
    }

    async fn past(&mut self) -> &[EngineEvent] {
        if self.past.is_none() {
            let asking = self
                .host
                .engine
                .events_since(Utc::now() - TimeDelta::hours(24));
            let told = tokio::time::timeout(ASKING, asking).await;
            self.past = Some(told.ok().and_then(Result::ok).unwrap_or_default());
        }
        self.past.as_deref().unwrap_or_default()
    }

    async fn record_death(&mut self, sandbox: &SandboxRef, name: &str, death: Death) {
        let death = with_last_run(self.context, self.host, sandbox, death).await;
        let store = &self.context.options.store;
        let recorded = store
            .record_death(&self.host.engine_key, &sandbox.id, name, &death)
            .await;
        self.context.ok_or_warn(recorded).await;
        self.found.insert(sandbox.id.clone(), death);
    }
}

fn fault(told: &Death) -> Fault {
    let is_image = |line: &String| {
        ["exec:", "no such file", "executable file", "OCI runtime"]
            .iter()
            .any(|part| line.contains(part))
    };
    if told.last_lines.iter().any(is_image) {
        Fault::Image
    } else {
        Fault::Engine
    }
}

pub(super) fn meant(intent: &LifecycleIntent) -> Option<Meant> {
    Some(match (intent.action.as_str(), intent.reason.as_str()) {
        ("stop" | "restart", _) => Meant::Stop,
        ("kill", _) => Meant::Kill,
        ("remove", _) => Meant::Remove,
        ("reap", "orphan") => Meant::ReapOrphan,
        ("reap", _) => Meant::ReapIdle,
        _ => return None,
    })
}

/// Adds what the last run in a sandbox left: its last lines and its peak, and the memory that was watched.
pub(super) async fn with_last_run(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    mut death: Death,
) -> Death {
    death.memory = context.recent_memory(sandbox);
    let store = &context.options.store;
    let Some(run) = last_run(context, host, &sandbox.id).await else {
        return death;
    };
    death.peak_memory_bytes = run
        .result
        .as_ref()
        .and_then(|result| result.peak_memory_bytes);
    death.run = Some(run.id.to_string());
    if death.last_lines.is_empty()
        && let Some(dir) = store.spools().map(std::path::Path::to_path_buf)
    {
        let id: ExecId = run.id;
        let reading = tokio::task::spawn_blocking(move || last_lines(&dir, &id, LINES));
        death.last_lines = reading.await.unwrap_or_default();
    }
    death
}

async fn last_run(context: &Context, host: &Host, id: &SandboxId) -> Option<Run> {
    let filter = RunFilter {
        sandbox: Some(id.as_str().to_owned()),
        under_way: false,
        limit: 1,
    };
    let runs = context.options.store.runs(&host.engine_key, &filter).await;
    runs.ok()?.into_iter().next()
}

/// Records that a sandbox lives again.
pub(super) async fn revive(context: &Context, host: &Host, id: &SandboxId) {
    let revived = context.options.store.revive(&host.engine_key, id).await;
    context.ok_or_warn(revived).await;
}

/// Takes what was started after its last known end, by whatever tool, for living: its next end has a cause of its own.
pub(super) async fn revive_started(
    context: &Context,
    host: &Host,
    events: impl Iterator<Item = &EngineEvent>,
) {
    let is_start = |event: &&EngineEvent| event.what == EngineEventKind::Started;
    let mut starts = events.filter(is_start).peekable();
    if starts.peek().is_none() {
        return;
    }
    let known = context.options.store.deaths(&host.engine_key).await;
    let Some(known) = context.ok_or_warn(known).await else {
        return;
    };
    for start in starts {
        let id = &start.sandbox.id;
        let end = known.get(id).and_then(|(_, death)| death.at);
        if end.is_some_and(|end| end < start.at) {
            revive(context, host, id).await;
        }
    }
}

/// Tells what is remembered of a sandbox that is gone: of several with one name, the last.
pub(super) async fn remember(
    context: Context,
    host: HostName,
    name: String,
) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    if let Ok(sandboxes) = host.list().await {
        reconcile(&context, host, &sandboxes).await;
    }
    let store = &context.options.store;
    let deaths = store.deaths(&host.engine_key).await?.into_iter();
    let is_meant = |id: &SandboxId, known: &str| {
        known == name || (name.len() >= 8 && id.as_str().starts_with(&name))
    };
    let meant = deaths.filter(|(id, (known, _))| is_meant(id, known));
    let Some((id, (name, death))) = meant.max_by_key(|(_, (_, death))| death.at) else {
        return Ok(Reply::Epitaph(None));
    };
    let last = last_run(&context, host, &id).await;
    let epitaph = Epitaph {
        sandbox: SandboxRef::new(host.name.clone(), id),
        name,
        death,
        last_end: last.as_ref().and_then(Run::last_end),
    };
    Ok(Reply::Epitaph(Some(Box::new(epitaph))))
}
