//! What the engine says of itself and of a sandbox, without pretending to protect anything.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::files::Node;
use super::lifecycle::require_live;
use super::state::{Inner, Simulated};
use crate::domain::{
    Change, ChangeKind, ChangedFile, Changes, Check, Details, EngineInfo, EngineKind, Image,
    Posture, Process, SandboxPath,
};
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

/// Compares the files with what they were first.
pub(super) fn changes(sandbox: &Simulated) -> Changes {
    let (before, now) = (&sandbox.original.nodes, &sandbox.files.nodes);
    let differs = |old: &Node, new: &Node| old.content != new.content || old.mode != new.mode;
    let found = now.iter().filter_map(|(path, node)| {
        let kind = match before.get(path) {
            None => ChangeKind::Added,
            Some(old) if differs(old, node) => ChangeKind::Changed,
            Some(_) => return None,
        };
        let entry = node.entry(b"");
        let now = ChangedFile {
            kind: entry.kind,
            size: entry.size,
            modified_at: entry.modified_at,
        };
        Some((path, kind, Some(now)))
    });
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let gone = gone.map(|path| (path, ChangeKind::Deleted, None));
    let change = |(path, kind, now): (&SandboxPath, _, _)| Change {
        path: path.clone(),
        kind,
        now,
    };
    Changes {
        files: found.chain(gone).map(change).collect(),
        looked_at: vec!["all simulated files".to_owned()],
        ..Changes::default()
    }
    .tidied()
}

/// Adds up the files in the work directory.
pub(super) fn disk_use(sandbox: &Simulated) -> Result<u64> {
    require_live(&sandbox.sandbox, "measure the files of")?;
    let nodes = sandbox.files.below(&sandbox.spec.work_dir);
    Ok(nodes.map(|(_, node)| node.entry(b"").size).sum())
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
