//! What `doctor` looks at in a Docker engine: is it there, is it safe enough, will the limits hold?

use bollard::models::SystemInfo;

use super::{Client, convert};
use crate::domain::Check;
use crate::guest;

/// Engines from this version on carry the fixes of 2026 for copying into containers.
const SAFE_ENGINE: (u64, u64, u64) = (29, 5, 1);

/// Looks at everything.
pub(super) async fn checks(client: &Client) -> Vec<Check> {
    let info = match client.docker.info().await {
        Ok(info) => info,
        Err(error) => {
            let failed = convert::error("asking the engine", error);
            return vec![Check::fail(
                "engine",
                failed.message,
                failed.hint.unwrap_or_default(),
            )];
        }
    };
    let mut found = vec![reachable(client, &info), version(&info), platform(&info)];
    found.extend(limits(&info));
    found.push(seccomp(&info));
    found.push(runtimes(&info));
    found.extend(
        info.warnings
            .iter()
            .flatten()
            .map(|text| Check::warn("engine warning", text.clone(), "see the engine's manual")),
    );
    found
}

fn reachable(client: &Client, info: &SystemInfo) -> Check {
    let version = info.server_version.as_deref().unwrap_or("?");
    let driver = info.driver.as_deref().unwrap_or("?");
    let cgroup = info
        .cgroup_version
        .map(|v| v.to_string())
        .unwrap_or_default();
    let name = format!(
        "Docker {version} at {}, API {}, storage {driver}, cgroup v{cgroup}",
        client.endpoint, client.api_version
    );
    Check::ok("engine", name)
}

fn version(info: &SystemInfo) -> Check {
    let text = info.server_version.as_deref().unwrap_or_default();
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok());
    let found = (
        numbers.next().unwrap_or(0),
        numbers.next().unwrap_or(0),
        numbers.next().unwrap_or(0),
    );
    if found >= SAFE_ENGINE {
        return Check::ok("engine version", format!("{text} has the known fixes"));
    }
    Check::warn(
        "engine version",
        format!("{text} is older than 29.5.1, which fixed holes in copying files into containers"),
        "update the engine unless your distribution has patched it; sandtop never sends compressed archives",
    )
}

fn platform(info: &SystemInfo) -> Check {
    let machine = info.architecture.as_deref().unwrap_or_default();
    let engine = match machine {
        "x86_64" | "amd64" => "amd64",
        "aarch64" | "arm64" => "arm64",
        other => other,
    };
    if guest::is_available() && engine == guest::PLATFORM {
        return Check::ok("guest program", format!("built for {}", guest::PLATFORM));
    }
    let message = format!(
        "the engine runs on {machine}, the guest program was built for {}",
        guest::PLATFORM
    );
    Check::fail(
        "guest program",
        message,
        "build sandtop on a machine of the engine's kind",
    )
}

fn limits(info: &SystemInfo) -> Vec<Check> {
    let table = [
        ("memory limit", info.memory_limit),
        ("swap limit", info.swap_limit),
        ("cpu limit", info.cpu_cfs_quota),
        ("process limit", info.pids_limit),
    ];
    let check = |(name, supported): (&str, Option<bool>)| match supported {
        Some(true) => Check::ok(name, "enforced by the kernel"),
        _ => Check::warn(
            name,
            "the engine's kernel does not enforce it",
            "enable the cgroup controller on the engine's machine",
        ),
    };
    table.into_iter().map(check).collect()
}

fn seccomp(info: &SystemInfo) -> Check {
    let mut options = info.security_options.iter().flatten();
    if options.any(|option| option.contains("seccomp")) {
        return Check::ok("system call filter", "seccomp is on");
    }
    Check::warn(
        "system call filter",
        "the engine runs without seccomp",
        "use a kernel and engine with seccomp",
    )
}

fn runtimes(info: &SystemInfo) -> Check {
    let mut names: Vec<&str> = info
        .runtimes
        .iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    Check::ok("runtimes", names.join(", "))
}
