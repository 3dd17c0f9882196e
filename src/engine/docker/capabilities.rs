//! Capabilities of the kernel: their names, and which ones a container has.

use bollard::models::HostConfig;

/// Names of capabilities by their bit.
const CAPABILITIES: [&str; 41] = [
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

/// What Docker grants when nothing is dropped.
const DOCKER_DEFAULT: [&str; 14] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SYS_CHROOT",
    "MKNOD",
    "AUDIT_WRITE",
    "SETFCAP",
];

/// Names the capabilities of a mask, as `/proc` shows it.
pub(super) fn named(mask: u64) -> Vec<String> {
    let set = CAPABILITIES
        .iter()
        .enumerate()
        .filter(|(bit, _)| mask & (1 << bit) != 0);
    set.map(|(_, name)| (*name).to_owned()).collect()
}

/// Works out the capabilities that a configuration grants.
pub(super) fn configured(config: &HostConfig) -> Vec<String> {
    let bare = |names: &Option<Vec<String>>| -> Vec<String> {
        let names = names.iter().flatten();
        names
            .map(|name| name.trim_start_matches("CAP_").to_uppercase())
            .collect()
    };
    if config.privileged == Some(true) {
        return CAPABILITIES.map(str::to_owned).to_vec();
    }
    let (added, dropped) = (bare(&config.cap_add), bare(&config.cap_drop));
    let all = |names: &[String]| names.iter().any(|name| name == "ALL");
    let mut caps: Vec<String> = if all(&added) {
        CAPABILITIES.map(str::to_owned).to_vec()
    } else {
        DOCKER_DEFAULT.map(str::to_owned).to_vec()
    };
    if all(&dropped) {
        caps.clear();
    }
    caps.retain(|cap| !dropped.contains(cap));
    caps.extend(added.into_iter().filter(|cap| cap != "ALL"));
    caps.sort();
    caps.dedup();
    caps
}
