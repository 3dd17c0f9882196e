//! Files that must not be written or read from inside, and rights that its user must not get.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Attempt;
use crate::abi::{self, O_NONBLOCK};
use crate::wire::GUEST_DIR;
use crate::wire::attempts::Wall;
use crate::{kernel, sys};

/// Folders of the root file system and our own.
const READ_ONLY: [&str; 5] = ["/", "/etc", "/usr", "/bin", GUEST_DIR];
/// What the kernel tells of the whole machine, and its disks.
const SECRET: [&str; 11] = [
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/keys",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/latency_stats",
    "/dev/kmsg",
    "/dev/mem",
    "/dev/sda",
    "/dev/vda",
    "/dev/nvme0n1",
];
/// What changes the whole machine, or the sandbox's limits.
const PROTECTED: [&str; 6] = [
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/drop_caches",
    "/proc/irq/default_smp_affinity",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
];
/// What an attempt writes, and takes away again.
const TRIED: &str = ".sandtop-attempt";

pub(super) fn attempts() -> Vec<Attempt<'static>> {
    let written = READ_ONLY
        .into_iter()
        .filter(|path| Path::new(path).is_dir());
    let written = written.map(|path| {
        Attempt::new(Wall::Root, format!("writing in {path}"), move |_| {
            can_write_in(Path::new(path))
        })
    });
    let secret = SECRET.into_iter().map(|path| {
        Attempt::new(Wall::Kernel, format!("reading {path}"), move |_| {
            can_read(path)
        })
    });
    let protected = PROTECTED.into_iter().map(|path| {
        Attempt::new(
            Wall::Kernel,
            format!("opening {path} to write"),
            move |_| File::options().write(true).open(path).is_ok(),
        )
    });
    written
        .chain(secret)
        .chain(protected)
        .chain(privileges())
        .collect()
}

fn can_write_in(folder: &Path) -> bool {
    let file = folder.join(TRIED);
    let written = File::options().write(true).create_new(true).open(&file);
    written.is_ok() && fs::remove_file(file).is_ok()
}

fn can_read(path: &str) -> bool {
    let opened = File::options()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path);
    opened.is_ok_and(|mut file| matches!(file.read(&mut [0]), Ok(1..)))
}

/// Rights that nobody inside may have; who is root of the sandbox already does not become it.
fn privileges() -> Vec<Attempt<'static>> {
    let mut all = vec![
        Attempt::new(Wall::Privileges, "making a device", |_| {
            let place = Path::new("/tmp").join(TRIED);
            kernel::make_device(&place).is_ok() && fs::remove_file(&place).is_ok()
        }),
        Attempt::new(Wall::Privileges, "a higher priority", |_| {
            kernel::raise_priority().is_ok()
        }),
        Attempt::new(Wall::Privileges, "a raw socket", |_| {
            kernel::make_socket(abi::AF_INET, abi::SOCK_RAW).is_ok()
        }),
    ];
    if sys::uid() != 0 {
        all.push(Attempt::new(Wall::Privileges, "becoming root", |_| {
            kernel::become_user(0, 0, false).is_ok()
        }));
    }
    all
}
