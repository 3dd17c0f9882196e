//! What of a sandbox's limits the kernel enforces here, and in words what it does not.

use super::cgroups::Cgroups;
use super::record::SandboxRecord;
use super::users;
use crate::domain::Network;

/// Tells how much memory this machine has.
pub(super) fn machine_memory() -> u64 {
    let machine = rustix::system::sysinfo();
    machine.totalram.saturating_mul(machine.mem_unit.into())
}

/// Names each limit that is weaker than asked for.
pub(super) fn gaps(record: &SandboxRecord, cgroups: &Cgroups) -> Vec<String> {
    let limits = &record.asked.limits;
    let why = if users::may_give_blocks() || cgroups.has("freezer") {
        "no cgroup of that kind can be written to"
    } else {
        "no cgroup delegation"
    };
    // With the host's network they would be everybody's.
    let sockets = if record.asked.network == Network::None {
        "counts what sockets hold"
    } else {
        "does not count what sockets hold"
    };
    let weak = |asked: bool, controller: &str| asked && !cgroups.has(controller);
    let checks = [
        (
            weak(limits.memory_bytes.is_some(), "memory"),
            format!(
                "memory limit not enforced by the kernel: {why}; a watcher kills the largest process instead, {sockets}, and refuses memory without a process (memfd_create); what pipes hold is not counted"
            ),
        ),
        (
            weak(limits.cpus.is_some(), "cpu"),
            format!(
                "cpu limit not enforced: {why}; processes are kept to as many cores, rounded up"
            ),
        ),
        (
            weak(limits.pids.is_some(), "pids"),
            format!(
                "process limit counted by the kernel for each user, not for the sandbox: {why}"
            ),
        ),
        (
            !cgroups.has("freezer"),
            format!("pausing stops processes by signals, which they can see: {why}"),
        ),
        (
            cgroups.swap_is_open(),
            "swap is allowed on top of the memory limit".to_owned(),
        ),
    ];
    let open = checks.into_iter().filter(|(is_gap, _)| *is_gap);
    open.map(|(_, text)| text).collect()
}
