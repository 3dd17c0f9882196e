//! Paths that no program should write over or delete, for the rules of all languages.

use super::shell;

/// Tells whether a path is a disk, a partition or the machine's memory.
pub(super) fn is_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let disks = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "md", "dm-", "loop", "mem",
        "kmem", "port", "nbd", "rbd",
    ];
    disks.iter().any(|disk| name.starts_with(disk))
}

/// Tells whether a file decides who may log in or become root.
pub(super) fn is_account_file(path: &str) -> bool {
    let files = [
        "/etc/passwd",
        "/etc/shadow",
        "/etc/sudoers",
        "/etc/group",
        "/etc/ld.so.preload",
    ];
    files.contains(&path) || path.starts_with("/etc/sudoers.d/")
}

/// Says what is lost with all below a path; nothing if that is nobody's loss.
pub(super) fn loss(path: &str) -> Option<&'static str> {
    shell::loss(path)
}
