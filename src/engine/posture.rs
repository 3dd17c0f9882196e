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
    if probe
        .get(ProbeKey::Seccomp.word())
        .is_some_and(|mode| mode == "0")
    {
        "none".clone_into(&mut posture.seccomp);
    }
    let options = probe
        .get(ProbeKey::RootOptions.word())
        .map(String::as_str)
        .unwrap_or_default();
    posture.read_only_root = options.split(',').any(|option| option == "ro");
    let interfaces = probe
        .get(ProbeKey::Interfaces.word())
        .map(String::as_str)
        .unwrap_or_default();
    posture.interfaces = Some(
        interfaces
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    );
}

/// Names the capabilities of a mask, as `/proc` shows it.
fn named(mask: u64) -> Vec<String> {
    let set = CAPABILITIES
        .iter()
        .enumerate()
        .filter(|(bit, _)| mask & (1 << bit) != 0);
    set.map(|(_, name)| (*name).to_owned()).collect()
}
