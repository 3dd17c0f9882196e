//! Tells what the kernel grants to processes of the sandbox, as the kernel itself has it.

use std::fs;
use std::io::Write;

use crate::attempts;
use crate::finish::Problem;
use crate::sys;
use crate::wire::report::ProbeKey;

/// `guest probe`: prints what the kernel grants to processes here, one `key=value` a line.
pub(crate) fn probe() -> Result<(), Problem> {
    let status = fs::read_to_string("/proc/self/status")
        .map_err(|e| Problem::io("reading /proc/self/status", &e))?;
    // Not every sandbox has /sys; this is the same list.
    let devices = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let lines = [
        (ProbeKey::Capabilities, field(&status, "CapEff:")),
        (ProbeKey::BoundingCapabilities, field(&status, "CapBnd:")),
        (ProbeKey::NoNewPrivileges, field(&status, "NoNewPrivs:")),
        (ProbeKey::Seccomp, field(&status, "Seccomp:")),
        (ProbeKey::Uid, sys::uid().to_string()),
        (ProbeKey::RootOptions, root_options(&mounts)),
        (ProbeKey::Interfaces, interfaces(&devices)),
        (ProbeKey::OpenCalls, attempts::open_calls().join(",")),
        (
            ProbeKey::AbstractSockets,
            flag(attempts::abstract_sockets()),
        ),
    ];
    let lines = lines.map(|(key, value)| format!("{}={value}", key.word()));
    std::io::stdout()
        .write_all(lines.join("\n").as_bytes())
        .map_err(|e| Problem::io("writing", &e))
}

fn flag(known: Option<bool>) -> String {
    known.map_or_else(String::new, |is_so| u8::from(is_so).to_string())
}

/// Finds a field of a process's status.
fn field(status: &str, name: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim().to_owned()
}

/// Lists the network interfaces.
fn interfaces(devices: &str) -> String {
    let names = devices.lines().filter_map(|line| line.split_once(':'));
    let names: Vec<&str> = names.map(|(name, _)| name.trim()).collect();
    names.join(",")
}

/// Finds the mount options of `/`; of several mounts the last is the one that is seen.
fn root_options(mounts: &str) -> String {
    let mut lines = mounts.lines();
    let root = lines.rfind(|line| line.split(' ').nth(1) == Some("/"));
    let options = root.and_then(|line| line.split(' ').nth(3));
    options.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        let status = "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
        assert_eq!(field(status, "NoNewPrivs:"), "1");
        assert_eq!(field(status, "Seccomp:"), "2");
        assert_eq!(field(status, "CapEff:"), "");
        let devices = "Inter-|   Receive\n face |bytes\n    lo: 0 0\n  eth0: 1 2\n";
        assert_eq!(interfaces(devices), "lo,eth0");
    }

    #[test]
    fn the_last_root_is_the_one_that_is_seen() {
        let mounts =
            "rootfs / rootfs rw 0 0\ntmpfs / tmpfs ro,nosuid 0 0\nproc /proc proc rw 0 0\n";
        assert_eq!(root_options(mounts), "ro,nosuid");
        assert_eq!(root_options(""), "");
    }
}
