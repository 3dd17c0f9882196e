//! What is really in force in a local sandbox: how it was made and, while it runs, the kernel's own account from inside.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use chrono::DateTime;

use super::lifecycle::SandboxState;
use super::record::{MountRecord, SandboxRecord};
use super::state_dir::{StateDir, WORKSPACE};
use crate::domain::{
    Access, Death, Details, HOST_IMAGE, HostName, MountInfo, Network, Phase, Posture,
};
use crate::engine::guest::Guests;
use crate::engine::{host_mounts, posture};
use crate::guest::wire::{self, report::ProbeKey};

/// Tells everything about a sandbox.
pub(super) async fn details(
    state: SandboxState,
    guests: &Guests,
    state_dir: &StateDir,
    host: &HostName,
) -> Details {
    let sandbox = state.record.sandbox(host, state.phase, state.run.as_ref());
    let probe = match state.phase {
        Phase::Running | Phase::Paused => guests.probe(&sandbox.reference.id).await.ok(),
        _ => None,
    };
    let image = state.record.unpacked.iter().flat_map(|image| &image.env);
    let env = image.chain(&state.record.asked.env);
    Details {
        posture: in_force(&state, state_dir, probe.as_ref()),
        death: death(&state, state_dir),
        env_names: env.map(|(key, _)| key.clone()).collect(),
        work_dir: sandbox.work_dir.to_string(),
        sandbox,
    }
}

fn in_force(
    state: &SandboxState,
    state_dir: &StateDir,
    probe: Option<&HashMap<String, String>>,
) -> Posture {
    let record = &state.record;
    let mut posture = Posture {
        caps: Vec::new(),
        no_new_privileges: true,
        read_only_root: true,
        seccomp: posture::DEFAULT_FILTER.to_owned(),
        open_calls: Vec::new(),
        user: format!("{}:{}", record.uid, record.gid),
        init: true,
        interfaces: None,
        mounts: mounts(state, state_dir),
        verified: probe.is_some(),
        gaps: Vec::new(),
    };
    if let Some(probe) = probe {
        posture::overrule(&mut posture, probe);
    }
    posture.gaps = gaps(&posture, state);
    posture.gaps.extend(posture::filter_gap(&posture));
    posture
        .gaps
        .extend(probe.and_then(|probe| socket_gap(record, probe)));
    posture.gaps.extend(host_mounts::gaps(&posture.mounts));
    posture
}

fn mounts(state: &SandboxState, state_dir: &StateDir) -> Vec<MountInfo> {
    let asked = &state.record.asked;
    let image = if asked.image == HOST_IMAGE {
        "the host's /usr, /bin, /lib…"
    } else {
        &asked.image
    };
    let mut all = vec![
        memory_mount("/tmp", asked.tmp_bytes),
        memory_mount("/dev/shm", 64 << 20),
        memory_mount("/run/sandtop", 4 << 20),
        MountInfo {
            kind: "bind".to_owned(),
            source: image.to_owned(),
            target: "/".to_owned(),
            access: Access::ReadOnly,
        },
    ];
    let work_dir = asked.work_dir();
    if !asked.mounts.iter().any(|mount| mount.target() == work_dir) {
        let folder = state_dir.folder(&state.record.id).join(WORKSPACE);
        all.push(MountInfo {
            kind: "volume".to_owned(),
            source: folder.display().to_string(),
            target: work_dir.to_string(),
            access: Access::ReadWrite,
        });
    }
    all.extend(asked.mounts.iter().map(host_mount));
    all.sort_by(|a, b| a.target.cmp(&b.target));
    all
}

fn memory_mount(target: &str, size: u64) -> MountInfo {
    MountInfo {
        kind: "tmpfs".to_owned(),
        source: format!("size={size}"),
        target: target.to_owned(),
        access: Access::ReadWrite,
    }
}

fn host_mount(mount: &MountRecord) -> MountInfo {
    MountInfo {
        kind: "bind".to_owned(),
        source: mount.source.display().to_string(),
        target: mount.target().to_string(),
        access: if mount.read_only {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        },
    }
}

/// Names everything that is weaker than the hardened default.
fn gaps(posture: &Posture, state: &SandboxState) -> Vec<String> {
    let asked = &state.record.asked;
    let writable = asked.mounts.iter().any(|mount| !mount.read_only);
    let checks = [
        (
            !posture.caps.is_empty(),
            format!("capabilities: {}", posture.caps.join(", ")),
        ),
        (
            !posture.no_new_privileges,
            "processes can gain privileges".to_owned(),
        ),
        (
            !posture.read_only_root,
            "the root file system is writable".to_owned(),
        ),
        (
            state.record.uid == 0,
            "processes run as root of the sandbox".to_owned(),
        ),
        (
            asked.network != Network::None,
            "it shares the host's network".to_owned(),
        ),
        (writable, "a host folder is mounted writable".to_owned()),
        (
            asked.limits.memory_bytes.is_none(),
            "no memory limit".to_owned(),
        ),
        (asked.limits.cpus.is_none(), "no cpu limit".to_owned()),
        (asked.limits.pids.is_none(), "no process limit".to_owned()),
        (asked.image == HOST_IMAGE, host_programs()),
        (
            true,
            "disk use of the work directory is not limited".to_owned(),
        ),
    ];
    let open = checks.into_iter().filter(|(is_gap, _)| *is_gap);
    let limits = state.run.iter().flat_map(|run| run.gaps.iter().cloned());
    open.map(|(_, text)| text).chain(limits).collect()
}

/// Names the folders of the host that its programs are shown from.
fn host_programs() -> String {
    let also = if Path::new("/opt").is_dir() {
        " and /opt"
    } else {
        ""
    };
    format!("the host's programs (/usr{also}) are visible, read-only")
}

/// Says where sockets without a file lead out of a sandbox that has the host's network; known from a try inside.
fn socket_gap(record: &SandboxRecord, probe: &HashMap<String, String>) -> Option<String> {
    let is_closed = probe
        .get(ProbeKey::AbstractSockets.word())
        .is_some_and(|open| open == "0");
    (record.asked.network != Network::None && !is_closed).then(|| {
        "abstract sockets of the host's programs can be reached: this kernel has no Landlock scope (Linux 6.12)".to_owned()
    })
}

fn death(state: &SandboxState, state_dir: &StateDir) -> Option<Death> {
    if state.phase.is_live() {
        return None;
    }
    let file = state_dir.folder(&state.record.id).join(wire::KEEPER_DEATH);
    let at = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    Some(Death {
        cause: "signal".to_owned(),
        exit_code: Some(137),
        at: DateTime::from_timestamp_millis(at),
        ..Death::default()
    })
}
