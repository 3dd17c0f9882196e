//! What the engine says of itself and of a sandbox, without pretending to protect anything.

use super::world::Simulated;
use crate::domain::{Check, Details, EngineInfo, EngineKind, MountInfo, Posture};

/// Where the engine is said to be.
const ENDPOINT: &str = "demo (simulated, nothing runs)";

/// Tells who the engine is.
pub(super) fn info() -> EngineInfo {
    EngineInfo {
        kind: EngineKind::Demo,
        endpoint: ENDPOINT.into(),
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
        posture: posture(sandbox),
        death: sandbox.death.clone(),
        env_names: env.map(|(name, _)| name.clone()).collect(),
        work_dir: sandbox.spec.work_dir.to_string(),
    }
}

fn posture(sandbox: &Simulated) -> Posture {
    let mounts = sandbox.spec.mounts.iter().map(|mount| MountInfo {
        kind: "bind".into(),
        source: mount.source.display().to_string(),
        target: mount.target.to_string(),
        access: mount.access,
    });
    let mut gaps = vec!["simulated: nothing is really run or isolated".to_owned()];
    if !sandbox.spec.mounts.is_empty() {
        gaps.push("simulated: host folders are listed, but not visible inside".into());
    }
    Posture {
        seccomp: "none".into(),
        user: sandbox.spec.user.clone(),
        mounts: mounts.collect(),
        gaps,
        ..Posture::default()
    }
}
