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
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = writable_mounts(&table).into_iter().map(|place| {
        Attempt::new(Wall::Mounts, place.clone(), move |_| {
            can_write(Path::new(&place))
        })
    });
    written
        .chain(mounts)
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

/// Tries a folder by a file in it, and a file by opening it.
fn can_write(place: &Path) -> bool {
    if place.is_dir() {
        return can_write_in(place);
    }
    File::options().write(true).open(place).is_ok()
}

/// Lists mounts that are not read-only, but for those of the kernel itself.
fn writable_mounts(table: &str) -> Vec<String> {
    let place = |line: &str| {
        let mut words = line.split(' ').skip(1);
        let (place, _kind, options) = (words.next()?, words.next()?, words.next()?);
        let is_kernels = ["/proc", "/sys", "/dev"]
            .iter()
            .any(|own| Path::new(place).starts_with(own));
        let is_writable = options.split(',').any(|option| option == "rw");
        (is_writable && !is_kernels).then(|| place.replace("\\040", " "))
    };
    let mut places: Vec<String> = table.lines().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

fn can_read(path: &str) -> bool {
    let opened = File::options()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path);
    opened.is_ok_and(|mut file| matches!(file.read(&mut [0]), Ok(1..)))
}

/// Rights that nobody inside may have.
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
            kernel::make_socket(abi::AF_INET, abi::SOCK_RAW, abi::IPPROTO_ICMP).is_ok()
        }),
    ];
    if sys::uid() == 0 {
        all.push(Attempt::new(Wall::Privileges, "being root", |_| true));
    } else {
        all.push(Attempt::new(Wall::Privileges, "becoming root", |_| {
            kernel::become_user(0, 0, false).is_ok()
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_that_can_be_written_to_are_found() {
        let table = "overlay / overlay ro,nosuid 0 0\nproc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw,size=1k 0 0\n\
                     /dev/x /a\\040b ext4 noatime,rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n/dev/x /process ext4 rw 0 0\n";
        assert_eq!(writable_mounts(table), ["/a b", "/process", "/tmp"]);
    }

    #[test]
    fn a_folder_is_written_to_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(can_write(folder.path()));
        assert_eq!(fs::read_dir(folder.path()).expect("a list").count(), 0);
        let file = folder.path().join("f");
        fs::write(&file, "x").expect("a file");
        assert!(can_write(&file) && can_read(&file.to_string_lossy()));
        assert_eq!(fs::read(&file).expect("a file"), b"x");
        assert!(!can_write_in(&folder.path().join("missing")));
    }
}
