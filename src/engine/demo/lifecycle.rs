//! Making sandboxes and moving them from phase to phase.

use chrono::Utc;

use super::events::EventLog;
use super::state::{Control, Inner, Simulated, State};
use crate::domain::{
    Death, Ended, EngineEventKind, Phase, Sandbox, SandboxId, SandboxPath, SandboxSpec,
};
use crate::engine::{EngineError, Result};
use crate::protocol::{FailureKind, LifecycleOp};

/// Makes and starts a sandbox; it appears at once and whole, or not at all.
pub(super) fn create(state: &State, spec: SandboxSpec) -> Result<Sandbox> {
    let inner = &mut *state.lock();
    check_image(&spec.image)?;
    check_name(inner, &spec)?;
    inner.images.insert(spec.image.clone());
    let id = inner.next_id();
    let mut simulated = Simulated::new(&state.host, id.clone(), spec);
    inner
        .events
        .record(&simulated.sandbox, EngineEventKind::Created);
    start(&mut simulated, &mut inner.events);
    let sandbox = simulated.sandbox.clone();
    inner.sandboxes.insert(id, simulated);
    Ok(sandbox)
}

/// Changes a phase.
pub(super) fn act(state: &State, id: &SandboxId, action: LifecycleOp) -> Result<()> {
    if let LifecycleOp::Remove { force } = action {
        return remove(state, id, force);
    }
    state.with(id, |sandbox, events| {
        let phase = sandbox.sandbox.phase;
        match action {
            LifecycleOp::Start if phase == Phase::Paused => {
                return Err(conflict(&sandbox.sandbox, "start").with_hint("resume it instead"));
            }
            LifecycleOp::Start | LifecycleOp::Resume if phase == Phase::Running => {}
            LifecycleOp::Start => start(sandbox, events),
            LifecycleOp::Stop => stop(sandbox, events),
            LifecycleOp::Restart => {
                stop(sandbox, events);
                start(sandbox, events);
                events.record(&sandbox.sandbox, EngineEventKind::Restarted);
            }
            LifecycleOp::Kill => kill(sandbox, events, 9),
            LifecycleOp::Pause if phase == Phase::Paused => {}
            LifecycleOp::Pause => {
                require_live(&sandbox.sandbox, "pause")?;
                sandbox.sandbox.phase = Phase::Paused;
                sandbox.control_execs(Control::Pause);
                events.record(&sandbox.sandbox, EngineEventKind::Paused);
            }
            LifecycleOp::Resume => {
                require_live(&sandbox.sandbox, "resume")?;
                sandbox.sandbox.phase = Phase::Running;
                sandbox.control_execs(Control::Run);
                events.record(&sandbox.sandbox, EngineEventKind::Resumed);
            }
            LifecycleOp::Remove { .. } => {}
        }
        Ok(())
    })
}

/// Refuses work that needs a running sandbox.
pub(super) fn require_running(sandbox: &Sandbox, what: &str) -> Result<()> {
    if sandbox.phase == Phase::Paused {
        return Err(conflict(sandbox, what).with_hint("resume it first"));
    }
    require_live(sandbox, what)
}

/// Refuses work that needs processes, paused or not.
pub(super) fn require_live(sandbox: &Sandbox, what: &str) -> Result<()> {
    if sandbox.phase.is_live() {
        return Ok(());
    }
    Err(conflict(sandbox, what).with_hint("start it first"))
}

fn check_name(inner: &Inner, spec: &SandboxSpec) -> Result<()> {
    let name = spec.name.as_str();
    if inner.sandboxes.values().any(|s| s.sandbox.name == name) {
        let message = format!("the name {name} is in use");
        return Err(EngineError::new(FailureKind::Conflict, message)
            .with_hint("choose another name, or remove that sandbox first"));
    }
    Ok(())
}

fn check_image(image: &str) -> Result<()> {
    if image.is_empty() || image.starts_with("missing/") || image.contains("no-such") {
        let message = format!("the image {image} is not here and cannot be had");
        return Err(EngineError::new(FailureKind::ImageMissing, message)
            .with_hint("check its name; the demo engine takes any that is not called missing"));
    }
    Ok(())
}

fn start(sandbox: &mut Simulated, events: &mut EventLog) {
    sandbox.sandbox.started_at = Some(Utc::now());
    sandbox.sandbox.phase = Phase::Running;
    sandbox.death = None;
    sandbox.starts += 1;
    events.record(&sandbox.sandbox, EngineEventKind::Started);
}

fn stop(sandbox: &mut Simulated, events: &mut EventLog) {
    if sandbox.sandbox.phase.is_live() {
        kill(sandbox, events, 15);
        events.record(&sandbox.sandbox, EngineEventKind::Stopped);
    }
}

/// Ends a live sandbox with all its execs by a signal.
fn kill(sandbox: &mut Simulated, events: &mut EventLog, signal: i64) {
    if !sandbox.sandbox.phase.is_live() {
        return;
    }
    let exit_code = Some(128 + signal);
    let signal = Some(signal.to_string());
    events.record(&sandbox.sandbox, EngineEventKind::Killed { signal });
    sandbox.death = Some(Death {
        cause: "signal".into(),
        exit_code,
        at: Some(Utc::now()),
        ..Death::default()
    });
    sandbox.control_execs(Control::End(Ended::Lost));
    sandbox.execs.clear();
    if let Ok(tmp) = SandboxPath::parse(b"/tmp") {
        sandbox.files.clear(&tmp);
    }
    sandbox.sandbox.phase = Phase::Stopped;
    events.record(&sandbox.sandbox, EngineEventKind::Died { exit_code });
}

/// Removes a sandbox; one that is gone already is fine.
fn remove(state: &State, id: &SandboxId, force: bool) -> Result<()> {
    if !state.lock().sandboxes.contains_key(id) {
        return Ok(());
    }
    state.with(id, |sandbox, events| {
        if sandbox.sandbox.phase.is_live() && !force {
            return Err(conflict(&sandbox.sandbox, "remove").with_hint("stop it first or use -f"));
        }
        kill(sandbox, events, 9);
        events.record(&sandbox.sandbox, EngineEventKind::Removed { by: None });
        Ok(())
    })?;
    state.lock().sandboxes.remove(id);
    Ok(())
}

fn conflict(sandbox: &Sandbox, what: &str) -> EngineError {
    let message = format!("cannot {what} {}: it is {}", sandbox.name, sandbox.phase);
    EngineError::new(FailureKind::Conflict, message)
}
