//! What is really in force in a container: its configuration read back and, while it runs, the kernel's own account.

use std::collections::HashMap;

use bollard::models::{
    ContainerInspectResponse, ContainerState, ContainerStateStatusEnum, HostConfig,
};

use super::{Client, capabilities, convert, filter_file};
use crate::domain::{
    Access, Death, Details, EngineKind, HostName, Limits, MountInfo, Phase, Posture, Sandbox,
    SandboxId, SandboxRef,
};
use crate::engine::guest::Guests;
use crate::engine::{Result, host_mounts, posture};

/// Tells everything about a sandbox.
pub(super) async fn details(
    client: &Client,
    guests: &Guests,
    host: &HostName,
    id: &SandboxId,
) -> Result<Details> {
    let found = client
        .docker
        .inspect_container(id.as_str(), None)
        .await
        .map_err(|e| convert::error("inspecting the sandbox", e))?;
    let sandbox = sandbox(host, id, &found);
    let probe = match sandbox.phase {
        // Looking at a foreign one puts nothing into it, so it is only judged by its configuration.
        Phase::Running if sandbox.owner.is_some() => guests.probe(id).await.ok(),
        _ => None,
    };
    let config = found.config.as_ref();
    let env = config.and_then(|c| c.env.clone()).unwrap_or_default();
    Ok(Details {
        posture: posture(&found, &sandbox.limits, probe.as_ref()),
        death: found
            .state
            .as_ref()
            .filter(|_| !sandbox.phase.is_live())
            .and_then(death),
        env_names: env
            .iter()
            .filter_map(|pair| pair.split('=').next().map(str::to_owned))
            .collect(),
        work_dir: config
            .and_then(|c| c.working_dir.clone())
            .unwrap_or_default(),
        sandbox,
    })
}

/// Reads the phase of a container.
pub(super) fn phase(state: Option<&ContainerState>) -> Phase {
    use ContainerStateStatusEnum as Status;
    match state.and_then(|state| state.status) {
        Some(Status::CREATED) => Phase::Creating,
        Some(Status::RUNNING | Status::RESTARTING) => Phase::Running,
        Some(Status::PAUSED) => Phase::Paused,
        Some(Status::REMOVING) => Phase::Removing,
        Some(Status::DEAD) => Phase::Dead,
        Some(_) => Phase::Stopped,
        None => Phase::Lost,
    }
}

fn sandbox(host: &HostName, id: &SandboxId, found: &ContainerInspectResponse) -> Sandbox {
    let config = found.config.as_ref();
    let labels: HashMap<String, String> = config.and_then(|c| c.labels.clone()).unwrap_or_default();
    let asked = convert::limits(&labels);
    let state = found.state.as_ref();
    let network = found
        .host_config
        .as_ref()
        .and_then(|c| c.network_mode.clone())
        .unwrap_or_default();
    Sandbox {
        reference: SandboxRef::new(
            host.clone(),
            found.id.clone().map_or_else(|| id.clone(), SandboxId::new),
        ),
        name: convert::sandbox_name(found.name.as_deref().unwrap_or_default()),
        engine: EngineKind::Docker,
        image: config.and_then(|c| c.image.clone()).unwrap_or_default(),
        phase: phase(state),
        created_at: convert::time(found.created.as_deref()).unwrap_or_default(),
        started_at: convert::time(state.and_then(|s| s.started_at.as_deref())),
        owner: convert::owner(&labels),
        limits: found
            .host_config
            .as_ref()
            .map_or(asked, |config| effective_limits(config, asked)),
        network,
        work_dir: convert::work_dir(config.and_then(|c| c.working_dir.as_ref())),
        labels: convert::own_labels(&labels),
    }
}

/// Reads limits from what the engine enforces, not from what was asked for.
#[allow(clippy::cast_precision_loss)] // Quotas are small numbers.
fn effective_limits(config: &HostConfig, asked: Limits) -> Limits {
    let positive = |n: Option<i64>| n.filter(|n| *n > 0).and_then(|n| u64::try_from(n).ok());
    let quota = match (config.cpu_quota, config.cpu_period) {
        (Some(quota), period) if quota > 0 => {
            Some(quota as f64 / period.filter(|p| *p > 0).unwrap_or(100_000) as f64)
        }
        _ => None,
    };
    Limits {
        memory_bytes: positive(config.memory),
        cpus: config
            .nano_cpus
            .filter(|n| *n > 0)
            .map(|n| n as f64 / 1e9)
            .or(quota),
        pids: positive(config.pids_limit),
        timeout_s: asked.timeout_s,
    }
}

fn posture(
    found: &ContainerInspectResponse,
    limits: &Limits,
    probe: Option<&HashMap<String, String>>,
) -> Posture {
    let default = HostConfig::default();
    let config = found.host_config.as_ref().unwrap_or(&default);
    let options = config.security_opt.clone().unwrap_or_default();
    let user = found
        .config
        .as_ref()
        .and_then(|c| c.user.clone())
        .filter(|u| !u.is_empty())
        .unwrap_or_else(|| "root".to_owned());
    let mut posture = Posture {
        caps: capabilities::configured(config),
        no_new_privileges: options
            .iter()
            .any(|o| o.starts_with("no-new-privileges") && !o.ends_with("false")),
        read_only_root: config.readonly_rootfs.unwrap_or(false),
        seccomp: seccomp(config, &options),
        open_calls: Vec::new(),
        user,
        init: config.init.unwrap_or(false),
        interfaces: None,
        mounts: mounts(found),
        verified: probe.is_some(),
        gaps: Vec::new(),
    };
    if let Some(probe) = probe {
        posture::overrule(&mut posture, probe);
    }
    posture.gaps = gaps(&posture, config, limits);
    posture.gaps.extend(posture::filter_gap(&posture));
    posture.gaps.extend(host_mounts::gaps(&posture.mounts));
    posture
}

fn seccomp(config: &HostConfig, options: &[String]) -> String {
    let given = options
        .iter()
        .find_map(|option| option.strip_prefix(filter_file::OPTION));
    match given {
        Some("unconfined") => "none",
        Some(given) if filter_file::is_ours(given) => posture::DEFAULT_FILTER,
        Some(_) => "custom",
        None if config.privileged == Some(true) => "none",
        None => "engine",
    }
    .to_owned()
}

/// Lists everything that is mounted in a container.
pub(super) fn mounts(found: &ContainerInspectResponse) -> Vec<MountInfo> {
    let listed = found.mounts.iter().flatten().map(|mount| MountInfo {
        kind: mount.typ.clone().unwrap_or_default(),
        source: mount
            .name
            .clone()
            .or_else(|| mount.source.clone())
            .unwrap_or_default(),
        target: mount.destination.clone().unwrap_or_default(),
        access: if mount.rw == Some(false) {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        },
    });
    let tmpfs = found
        .host_config
        .iter()
        .filter_map(|config| config.tmpfs.as_ref())
        .flatten();
    let memory = tmpfs.map(|(target, options)| MountInfo {
        kind: "tmpfs".to_owned(),
        source: options.clone(),
        target: target.clone(),
        access: Access::ReadWrite,
    });
    let mut all: Vec<MountInfo> = listed.chain(memory).collect();
    all.sort_by(|a, b| a.target.cmp(&b.target));
    all
}

/// Names everything that is weaker than the hardened default.
fn gaps(posture: &Posture, config: &HostConfig, limits: &Limits) -> Vec<String> {
    let shared = |mode: &Option<String>| mode.as_deref() == Some("host");
    let socket = posture.mounts.iter().any(|mount| {
        std::path::Path::new(&mount.source)
            .extension()
            .is_some_and(|e| e == "sock")
    });
    let writable_bind = posture
        .mounts
        .iter()
        .any(|m| m.kind == "bind" && m.access == Access::ReadWrite);
    let root = matches!(posture.user.split(':').next(), Some("root" | "0" | ""));
    let more_interfaces = posture
        .interfaces
        .as_ref()
        .is_some_and(|names| names.iter().any(|name| name != "lo"));
    let networked = config.network_mode.as_deref() != Some("none") || more_interfaces;
    let checks = [
        (
            config.privileged == Some(true),
            "privileged: nothing keeps it from the host".to_owned(),
        ),
        (
            socket,
            "an engine socket is mounted: it can control the host".to_owned(),
        ),
        (
            shared(&config.network_mode),
            "it shares the host's network".to_owned(),
        ),
        (
            shared(&config.pid_mode),
            "it sees the host's processes".to_owned(),
        ),
        (
            shared(&config.ipc_mode),
            "it shares the host's memory segments".to_owned(),
        ),
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
        (root, "processes run as root".to_owned()),
        (
            networked && !shared(&config.network_mode),
            "the network is on".to_owned(),
        ),
        (
            writable_bind,
            "a host folder is mounted writable".to_owned(),
        ),
        (limits.memory_bytes.is_none(), "no memory limit".to_owned()),
        (
            limits.memory_bytes.is_some() && config.memory_swap != config.memory,
            "swap is allowed on top of the memory limit".to_owned(),
        ),
        (limits.cpus.is_none(), "no cpu limit".to_owned()),
        (limits.pids.is_none(), "no process limit".to_owned()),
        (
            true,
            "disk use of the work directory is not limited".to_owned(),
        ),
    ];
    checks
        .into_iter()
        .filter(|(is_gap, _)| *is_gap)
        .map(|(_, text)| text)
        .collect()
}

fn death(state: &ContainerState) -> Option<Death> {
    let at = convert::time(state.finished_at.as_deref())?;
    let cause = match state.exit_code {
        _ if state.oom_killed == Some(true) => "oom",
        _ if state.error.as_ref().is_some_and(|text| !text.is_empty()) => "error",
        Some(code) if code > 128 => "signal",
        _ => "exit",
    };
    let last_lines = state
        .error
        .iter()
        .filter(|text| !text.is_empty())
        .cloned()
        .collect();
    Some(Death {
        cause: cause.to_owned(),
        exit_code: state.exit_code,
        at: Some(at),
        last_lines,
        ..Death::default()
    })
}
