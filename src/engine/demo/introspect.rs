//! What the engine says of itself and of a sandbox, without pretending to protect anything.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::lifecycle::require_live;
use super::state::{Inner, Simulated};
use crate::domain::{Check, Details, EngineInfo, EngineKind, Image, Posture, Process};
use crate::engine::Result;

/// Memory that a simulated process is said to take.
const PROCESS_MEMORY: u64 = 3 << 20;

/// Tells who the engine is.
pub(super) fn info() -> EngineInfo {
    EngineInfo {
        kind: EngineKind::Demo,
        endpoint: "demo (simulated, nothing runs)".into(),
        version: "demo".into(),
        api_version: "demo".into(),
        cpus: 4,
        memory_bytes: 8 << 30,
    }
}

/// Tells the one thing that matters.
pub(super) fn checks() -> Vec<Check> {
    vec![Check::warn(
        "engine",
        "this is the demo engine: sandboxes are simulated, nothing is really run or isolated",
        "use a real engine, for example with --engine docker",
    )]
}

/// Tells everything about a sandbox.
pub(super) fn details(sandbox: &Simulated) -> Details {
    let env = sandbox.spec.env.iter();
    Details {
        sandbox: sandbox.sandbox.clone(),
        posture: Posture {
            seccomp: "none".into(),
            user: sandbox.spec.user.clone(),
            gaps: vec!["simulated: nothing is really run, mounted or isolated".to_owned()],
            ..Posture::default()
        },
        death: sandbox.death.clone(),
        env_names: env.map(|(name, _)| name.clone()).collect(),
        work_dir: sandbox.spec.work_dir.to_string(),
    }
}

/// Lists the processes, with a first one that every sandbox has.
pub(super) fn processes(sandbox: &Simulated) -> Result<Vec<Process>> {
    require_live(&sandbox.sandbox, "list the processes of")?;
    let now = Utc::now();
    let process = |pid, started_at: DateTime<Utc>, command: &str| Process {
        pid,
        parent: u32::from(pid != 1),
        user: sandbox.spec.user.clone(),
        state: 'S',
        cpu_time: Duration::ZERO,
        memory_bytes: PROCESS_MEMORY,
        age: (now - started_at).to_std().unwrap_or_default(),
        command: command.to_owned(),
    };
    let started_at = sandbox.sandbox.started_at.unwrap_or(now);
    let init = process(1, started_at, "init (simulated)");
    let execs = sandbox.execs.iter();
    let execs = execs.map(|(pid, exec)| process(*pid, exec.started_at, &exec.command));
    Ok(std::iter::once(init).chain(execs).collect())
}

/// Adds up the files in the work directory.
pub(super) fn disk_use(sandbox: &Simulated) -> Result<u64> {
    require_live(&sandbox.sandbox, "measure the files of")?;
    Ok(sandbox.files.size(&sandbox.spec.work_dir))
}

/// Lists the images that were ever asked for.
pub(super) fn images(inner: &Inner) -> Vec<Image> {
    let image = |name: &String| Image {
        name: name.clone(),
        id: "simulated".to_owned(),
        size_bytes: None,
        created_at: None,
    };
    inner.images.iter().map(image).collect()
}
