//! Making sandboxes and moving them from phase to phase.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use tokio::time::sleep;

use super::faults::CreateStep;
use super::journal::Journal;
use super::world::{Inner, Simulated, World, scramble, unknown};
use crate::domain::{Death, EngineEventKind, Phase, Sandbox, SandboxId, SandboxPath, SandboxSpec};
use crate::engine::{EngineError, Notes, Result};
use crate::protocol::{FailureKind, LifecycleOp};

/// In how many pieces a simulated image arrives.
const LAYERS: u64 = 4;

/// Makes and starts a sandbox; it appears at once and whole, or not at all.
pub(super) async fn create(
    world: &Arc<World>,
    spec: &SandboxSpec,
    notes: &Notes,
) -> Result<Sandbox> {
    check_name(&world.lock(), spec)?;
    pull(world, &spec.image, notes).await?;
    let delay = world.lock().faults.create_delay;
    if !delay.is_zero() {
        sleep(delay).await;
    }
    let mut inner = world.lock();
    inner.faults.pass(CreateStep::Create)?;
    inner.faults.pass(CreateStep::Start)?;
    check_name(&inner, spec)?;
    Ok(add(world, &mut inner, spec.clone()))
}

/// Adds a running sandbox.
pub(super) fn add(world: &World, inner: &mut Inner, spec: SandboxSpec) -> Sandbox {
    let id = inner.next_id();
    inner.images.insert(spec.image.clone());
    let mut simulated = Simulated::new(&world.host, id.clone(), spec);
    inner
        .journal
        .record(&simulated.sandbox, EngineEventKind::Created);
    start(&mut simulated, &mut inner.journal);
    let sandbox = simulated.sandbox.clone();
    inner.sandboxes.insert(id, simulated);
    sandbox
}

/// Removes what an interrupted create left: a sandbox with the same token, or nothing.
pub(super) fn discard(world: &World, spec: &SandboxSpec) -> Result<()> {
    let inner = &mut *world.lock();
    let left = inner.sandboxes.iter();
    let mut left = left.filter(|(_, sandbox)| sandbox.spec.token == spec.token);
    match left.next().map(|(id, _)| id.clone()) {
        Some(id) => remove(inner, &id, true),
        None => Ok(()),
    }
}

/// Changes a phase.
pub(super) fn act(world: &World, id: &SandboxId, action: LifecycleOp) -> Result<()> {
    let inner = &mut *world.lock();
    if matches!(action, LifecycleOp::Remove { .. }) && inner.removed.contains(id) {
        return Ok(());
    }
    let sandbox = inner.sandboxes.get_mut(id).ok_or_else(|| unknown(id))?;
    let journal = &mut inner.journal;
    match action {
        LifecycleOp::Start => begin(sandbox, journal)?,
        LifecycleOp::Stop => stop(sandbox, journal),
        LifecycleOp::Restart => restart(sandbox, journal),
        LifecycleOp::Kill => kill(sandbox, journal),
        LifecycleOp::Pause => pause(sandbox, journal)?,
        LifecycleOp::Resume => resume(sandbox, journal)?,
        LifecycleOp::Remove { force } => remove(inner, id, force)?,
    }
    Ok(())
}

/// Ends a live sandbox with all its processes.
pub(super) fn die(sandbox: &mut Simulated, journal: &mut Journal, death: Death) {
    if !sandbox.sandbox.phase.is_live() {
        return;
    }
    let exit_code = death.exit_code;
    sandbox.death = Some(death);
    sandbox.processes.clear();
    if let Ok(tmp) = SandboxPath::parse(b"/tmp") {
        sandbox.files.clear(&tmp);
    }
    set_phase(sandbox, Phase::Stopped);
    journal.record(&sandbox.sandbox, EngineEventKind::Died { exit_code });
}

/// Refuses work that needs a running sandbox.
pub(super) fn require_running(sandbox: &Sandbox, what: &str) -> Result<()> {
    let hint = match sandbox.phase {
        Phase::Running => return Ok(()),
        Phase::Paused => "resume it first",
        Phase::Creating | Phase::Stopped | Phase::Dead | Phase::Removing | Phase::Lost => {
            "start it first"
        }
    };
    Err(conflict(sandbox, what).with_hint(hint))
}

/// Refuses looks that need processes, frozen or not.
pub(super) fn require_live(sandbox: &Sandbox, what: &str) -> Result<()> {
    match sandbox.phase {
        Phase::Paused => Ok(()),
        _ => require_running(sandbox, what),
    }
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

/// Pretends to fetch an image that was not used before.
async fn pull(world: &World, image: &str, notes: &Notes) -> Result<()> {
    if image.is_empty() || image.starts_with("missing/") || image.contains("no-such") {
        let message = format!("the image {image} is not here and cannot be had");
        return Err(EngineError::new(FailureKind::ImageMissing, message)
            .with_hint("check its name; the demo engine takes any that is not called missing"));
    }
    world.lock().faults.pass(CreateStep::Pull)?;
    if world.lock().images.contains(image) {
        return Ok(());
    }
    let seed = image.bytes().fold(7, |sum, b| scramble(sum + u64::from(b)));
    let total = (40 + seed % 60) << 20;
    for layer in 1..=LAYERS {
        notes.send(
            format!("pulling {image} (simulated)"),
            total / LAYERS * layer,
            Some(total),
        );
        sleep(Duration::from_millis(3)).await;
    }
    world.lock().images.insert(image.to_owned());
    Ok(())
}

fn start(sandbox: &mut Simulated, journal: &mut Journal) {
    sandbox.sandbox.started_at = Some(Utc::now());
    sandbox.death = None;
    sandbox.life.send_modify(|life| life.starts += 1);
    set_phase(sandbox, Phase::Running);
    journal.record(&sandbox.sandbox, EngineEventKind::Started);
}

fn begin(sandbox: &mut Simulated, journal: &mut Journal) -> Result<()> {
    match sandbox.sandbox.phase {
        Phase::Running => {}
        Phase::Paused => {
            return Err(conflict(&sandbox.sandbox, "start").with_hint("resume it instead"));
        }
        Phase::Creating | Phase::Stopped | Phase::Dead | Phase::Removing | Phase::Lost => {
            start(sandbox, journal);
        }
    }
    Ok(())
}

fn stop(sandbox: &mut Simulated, journal: &mut Journal) {
    if sandbox.sandbox.phase.is_live() {
        signal(sandbox, journal, 15);
        journal.record(&sandbox.sandbox, EngineEventKind::Stopped);
    }
}

fn kill(sandbox: &mut Simulated, journal: &mut Journal) {
    if sandbox.sandbox.phase.is_live() {
        signal(sandbox, journal, 9);
    }
}

fn restart(sandbox: &mut Simulated, journal: &mut Journal) {
    stop(sandbox, journal);
    start(sandbox, journal);
    journal.record(&sandbox.sandbox, EngineEventKind::Restarted);
}

fn pause(sandbox: &mut Simulated, journal: &mut Journal) -> Result<()> {
    if sandbox.sandbox.phase != Phase::Paused {
        require_running(&sandbox.sandbox, "pause")?;
        set_phase(sandbox, Phase::Paused);
        journal.record(&sandbox.sandbox, EngineEventKind::Paused);
    }
    Ok(())
}

fn resume(sandbox: &mut Simulated, journal: &mut Journal) -> Result<()> {
    if sandbox.sandbox.phase != Phase::Paused {
        return require_running(&sandbox.sandbox, "resume");
    }
    set_phase(sandbox, Phase::Running);
    journal.record(&sandbox.sandbox, EngineEventKind::Resumed);
    Ok(())
}

fn remove(inner: &mut Inner, id: &SandboxId, force: bool) -> Result<()> {
    let sandbox = inner.sandboxes.get_mut(id).ok_or_else(|| unknown(id))?;
    if sandbox.sandbox.phase.is_live() && !force {
        return Err(conflict(&sandbox.sandbox, "remove").with_hint("stop it first or use -f"));
    }
    kill(sandbox, &mut inner.journal);
    set_phase(sandbox, Phase::Removing);
    inner
        .journal
        .record(&sandbox.sandbox, EngineEventKind::Removed);
    inner.sandboxes.remove(id);
    inner.removed.insert(id.clone());
    Ok(())
}

fn signal(sandbox: &mut Simulated, journal: &mut Journal, number: i64) {
    let signal = Some(number.to_string());
    journal.record(&sandbox.sandbox, EngineEventKind::Killed { signal });
    let death = Death {
        cause: "signal".into(),
        exit_code: Some(128 + number),
        at: Some(Utc::now()),
        ..Death::default()
    };
    die(sandbox, journal, death);
}

fn set_phase(sandbox: &mut Simulated, phase: Phase) {
    sandbox.sandbox.phase = phase;
    sandbox.life.send_modify(|life| life.phase = phase);
}

fn conflict(sandbox: &Sandbox, what: &str) -> EngineError {
    let message = format!("cannot {what} {}: it is {}", sandbox.name, sandbox.phase);
    EngineError::new(FailureKind::Conflict, message)
}
