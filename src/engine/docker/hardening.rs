//! A sandbox's specification as a container: everything off that is not asked for.

use std::collections::HashMap;

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig, Mount,
    MountType, MountVolumeOptions, ResourcesUlimits,
};
use chrono::{SecondsFormat, Utc};

use super::{convert, guest_volume};
use crate::domain::{Access, Network, PackageMount, SandboxSpec};
use crate::engine::filter;
use crate::engine::guest::command_line;

/// Describes the container of a sandbox; `guest` is the volume with the guest program.
pub(super) fn container(spec: &SandboxSpec, scope: &str, guest: &str) -> ContainerCreateBody {
    ContainerCreateBody {
        hostname: Some("sandbox".to_owned()),
        user: Some(spec.user.clone()),
        image: Some(spec.image.clone()),
        entrypoint: Some(command_line(vec!["init".to_owned()])),
        cmd: Some(Vec::new()),
        env: Some(environment(spec)),
        working_dir: Some(spec.work_dir.to_string()),
        labels: Some(labels(spec, scope)),
        tty: Some(false),
        stop_timeout: Some(2),
        host_config: Some(host_config(spec, scope, guest)),
        ..ContainerCreateBody::default()
    }
}

fn host_config(spec: &SandboxSpec, scope: &str, guest: &str) -> HostConfig {
    let memory = spec
        .limits
        .memory_bytes
        .and_then(|bytes| i64::try_from(bytes).ok());
    HostConfig {
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec![
            "no-new-privileges:true".to_owned(),
            format!("seccomp={}", filter::profile()),
        ]),
        readonly_rootfs: Some(true),
        init: Some(true),
        memory,
        // The same figure as memory means: no swap on top.
        memory_swap: memory,
        nano_cpus: spec.limits.cpus.map(nano_cpus),
        pids_limit: spec.limits.pids.and_then(|pids| i64::try_from(pids).ok()),
        ulimits: Some(vec![ulimit("nofile", 1024), ulimit("core", 0)]),
        oom_score_adj: Some(500),
        network_mode: Some(match &spec.network {
            Network::None => "none".to_owned(),
            Network::Default => "bridge".to_owned(),
            Network::Named(name) => name.clone(),
        }),
        ipc_mode: Some("private".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        shm_size: Some(16 << 20),
        tmpfs: Some(tmpfs(spec)),
        mounts: Some(mounts(spec, scope, guest)),
        log_config: Some(HostConfigLogConfig {
            typ: Some("json-file".to_owned()),
            config: Some(HashMap::from([
                ("max-size".into(), "1m".into()),
                ("max-file".into(), "1".into()),
            ])),
        }),
        auto_remove: Some(false),
        ..HostConfig::default()
    }
}

#[allow(clippy::cast_possible_truncation)] // The configuration allows at most 512 cores.
fn nano_cpus(cpus: f64) -> i64 {
    (cpus * 1e9).round() as i64
}

fn ulimit(name: &str, value: i64) -> ResourcesUlimits {
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(value),
        hard: Some(value),
    }
}

/// Folders in memory: `/tmp`, and a small one for named sessions.
fn tmpfs(spec: &SandboxSpec) -> HashMap<String, String> {
    let tmp = format!("rw,noexec,nosuid,nodev,mode=1777,size={}", spec.tmp_bytes);
    let state = "rw,noexec,nosuid,nodev,mode=1777,size=4m";
    HashMap::from([
        ("/tmp".to_owned(), tmp),
        ("/run/sandtop".to_owned(), state.to_owned()),
    ])
}

/// The guest, the work directory as a volume that goes with the container, then what the user asked for.
fn mounts(spec: &SandboxSpec, scope: &str, guest: &str) -> Vec<Mount> {
    let mut mounts = vec![guest_volume::mount(guest)];
    if !spec
        .mounts
        .iter()
        .any(|mount| mount.target == spec.work_dir)
    {
        mounts.push(volume(&spec.work_dir.to_string(), scope));
    }
    mounts.extend(spec.mounts.iter().map(|mount| Mount {
        target: Some(mount.target.to_string()),
        source: Some(mount.source.display().to_string()),
        typ: Some(MountType::BIND),
        read_only: Some(mount.access == Access::ReadOnly),
        ..Mount::default()
    }));
    mounts.extend(spec.packages.as_ref().map(set));
    mounts
}

/// a package set, which outlives the container; what the image has in its place is hidden, not copied.
fn set(set: &PackageMount) -> Mount {
    Mount {
        target: Some(set.target.to_string()),
        source: Some(set.name.clone()),
        typ: Some(MountType::VOLUME),
        read_only: Some(set.access == Access::ReadOnly),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    }
}

/// A volume without a name: the engine makes it with the container and removes it with the container.
fn volume(target: &str, scope: &str) -> Mount {
    Mount {
        target: Some(target.to_owned()),
        typ: Some(MountType::VOLUME),
        volume_options: Some(MountVolumeOptions {
            labels: Some(HashMap::from([(
                convert::SCOPE.to_owned(),
                scope.to_owned(),
            )])),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    }
}

/// The sandbox's variables over defaults.
fn environment(spec: &SandboxSpec) -> Vec<String> {
    let mut all = vec![
        ("HOME".to_owned(), spec.work_dir.to_string()),
        ("PYTHONUNBUFFERED".to_owned(), "1".to_owned()),
    ];
    all.retain(|(key, _)| !spec.env.iter().any(|(given, _)| given == key));
    all.extend(spec.env.iter().cloned());
    all.into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

fn labels(spec: &SandboxSpec, scope: &str) -> HashMap<String, String> {
    let ours = [
        (convert::SCOPE, scope.to_owned()),
        (convert::PROFILE, spec.profile.clone()),
        (convert::WORK_DIR, spec.work_dir.to_string()),
        (convert::TOKEN, spec.token.clone()),
        (
            convert::LIMITS,
            serde_json::to_string(&spec.limits).unwrap_or_default(),
        ),
        (
            convert::CREATED,
            Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
        ),
        (convert::OWNER_HOST, spec.owner.host.clone()),
        (convert::OWNER_PID, spec.owner.pid.to_string()),
        (convert::OWNER_START, spec.owner.started.to_string()),
        (
            convert::OWNER_USER,
            spec.owner.user.clone().unwrap_or_default(),
        ),
        (convert::OWNER_KIND, spec.owner.kind.word().to_owned()),
    ];
    let given = spec
        .labels
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    given
        .chain(ours.map(|(key, value)| (key.to_owned(), value)))
        .collect()
}
