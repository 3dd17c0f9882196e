//! The kernel's own account of what it grants to processes in a sandbox, as the guest's `probe` prints it.

use std::collections::HashMap;

use crate::domain::Posture;
use crate::guest::wire::report::ProbeKey;

/// Names of capabilities by their bit.
pub(super) const CAPABILITIES: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// The word for a filter that is ours.
pub(super) const DEFAULT_FILTER: &str = "default";

/// Lets the kernel's account win over the configuration.
pub(super) fn overrule(posture: &mut Posture, probe: &HashMap<String, String>) {
    let flag = |key: ProbeKey| probe.get(key.word()).is_some_and(|value| value == "1");
    if let Some(mask) = probe
        .get(ProbeKey::Capabilities.word())
        .and_then(|hex| u64::from_str_radix(hex, 16).ok())
    {
        posture.caps = named(mask);
    }
    posture.no_new_privileges = flag(ProbeKey::NoNewPrivileges);
    posture.open_calls = listed(probe, ProbeKey::OpenCalls);
    filter_in_force(posture, probe);
    let options = probe
        .get(ProbeKey::RootOptions.word())
        .map(String::as_str)
        .unwrap_or_default();
    posture.read_only_root = options.split(',').any(|option| option == "ro");
    posture.interfaces = Some(listed(probe, ProbeKey::Interfaces));
}

/// Reads a list with commas in between.
fn listed(probe: &HashMap<String, String>, key: ProbeKey) -> Vec<String> {
    let names = probe.get(key.word()).map(String::as_str);
    let names = names.unwrap_or_default().split(',');
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Says which filter of system calls is in force: what is open counts, not what was asked for.
fn filter_in_force(posture: &mut Posture, probe: &HashMap<String, String>) {
    let mode = probe.get(ProbeKey::Seccomp.word()).map(String::as_str);
    if mode == Some("0") {
        "none".clone_into(&mut posture.seccomp);
    } else if posture.seccomp == DEFAULT_FILTER && !posture.open_calls.is_empty() {
        "custom".clone_into(&mut posture.seccomp);
    }
}

/// Names what is open of the system call filter, if anything is.
pub(super) fn filter_gap(posture: &Posture) -> Option<String> {
    if posture.seccomp == "none" {
        return Some("no system call filter".to_owned());
    }
    let open = posture.open_calls.join(", ");
    if !open.is_empty() {
        return Some(format!(
            "the system call filter is not sandtop's own; open are: {open}"
        ));
    }
    (posture.seccomp != DEFAULT_FILTER && !posture.verified).then(|| {
        "the system call filter is not sandtop's own; start it to see what is open".to_owned()
    })
}

/// Names the capabilities of a mask, as `/proc` shows it.
fn named(mask: u64) -> Vec<String> {
    let set = CAPABILITIES
        .iter()
        .enumerate()
        .filter(|(bit, _)| mask & (1 << bit) != 0);
    set.map(|(_, name)| (*name).to_owned()).collect()
}
