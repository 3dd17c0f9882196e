//! The plan that a keeper carries out: everything about a sandbox that is policy, as lines of words.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::cgroups::Cgroups;
use super::image::ImageRoot;
use super::limits;
use super::plan_builder::{PlanBuilder, READ_ONLY_TREE, bytes};
use super::record::SandboxRecord;
use crate::domain::{HOST_IMAGE, Limits, Network, SandboxPath, told_cores};
use crate::engine::filter::{self, Memory};
use crate::guest::wire;
use crate::guest::wire::plan::{Freezer, Ids, MemoryWatch, NODEV, NOEXEC, NOSUID, Plan, Step};

const WRITABLE_TREE: u64 = NOSUID | NODEV;
const DEVICE: u64 = NOSUID | NOEXEC;
const SCRATCH: u64 = NOSUID | NODEV | NOEXEC;

const RLIMIT_DATA: i32 = libc::RLIMIT_DATA.cast_signed();
const RLIMIT_NPROC: i32 = libc::RLIMIT_NPROC.cast_signed();

/// Devices that harm nobody.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// What the kernel shows of the whole machine.
const HIDDEN: [&str; 13] = [
    "kcore",
    "keys",
    "kmsg",
    "kallsyms",
    "timer_list",
    "sched_debug",
    "latency_stats",
    "sysrq-trigger",
    "interrupts",
    "acpi",
    "asound",
    "scsi",
    "key-users",
];
/// What could change the whole machine.
const PROTECTED: [&str; 5] = ["sys", "irq", "bus", "fs", "mtrr"];

fn as_path(path: &SandboxPath) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

/// What a plan is made from.
pub(super) struct Parts<'a> {
    pub(super) record: &'a SandboxRecord,
    pub(super) image: &'a ImageRoot,
    pub(super) cgroups: &'a Cgroups,
    /// The sandbox's folder.
    pub(super) folder: &'a Path,
    /// The guest program.
    pub(super) guest: &'a Path,
}

/// Writes the plan of a sandbox.
pub(super) fn plan(parts: &Parts<'_>) -> Plan {
    let record = parts.record;
    let mut plan = PlanBuilder(Plan {
        id: record.id.clone().into(),
        name: record.asked.name.clone().into(),
        ids: match record.block {
            Some(base) => Ids::Block(base),
            None => Ids::Single(record.uid, record.gid),
        },
        own_network: record.asked.network == Network::None,
        filter: filter::program(memory_kind(parts)),
        ..Plan::default()
    });
    bounds(&mut plan.0, parts);
    parts.image.show(&mut plan, &reserved_paths(record));
    if record.asked.image == HOST_IMAGE {
        accounts(&mut plan, record);
    }
    devices(&mut plan);
    kernel_files(&mut plan);
    processor_list(&mut plan, record);
    memory(&mut plan, record);
    own_files(&mut plan, parts);
    for mount in &record.asked.mounts {
        let flags = if mount.read_only {
            READ_ONLY_TREE
        } else {
            WRITABLE_TREE
        };
        plan.tree_without_links(&mount.source, &as_path(&mount.target()), flags);
    }
    plan.0
}

/// Cgroups where there are, and otherwise what any process may limit for itself.
fn bounds(plan: &mut Plan, parts: &Parts<'_>) {
    let folders = parts.cgroups.folders();
    plan.cgroups = folders.iter().map(|folder| bytes(folder)).collect();
    plan.freezer = parts.cgroups.freezer().map(|(file, on, off)| Freezer {
        file: bytes(&file),
        on: on.into(),
        off: off.into(),
    });
    let Limits {
        memory_bytes,
        cpus,
        pids,
        ..
    } = parts.record.asked.limits;
    if let Some(limit) = memory_bytes.filter(|_| !parts.cgroups.has("memory")) {
        plan.watch = Some(MemoryWatch {
            limit,
            counter: bytes(&memory_counter(parts.folder)),
        });
        // What asks for too much at once should die of it like what grows slowly, and not find out by an error that it handles
        // or not: so the watcher comes first, and this holds only what no machine could give.
        let most = limits::machine_memory();
        plan.limits.push((RLIMIT_DATA, most));
    }
    if let Some(most) = pids.filter(|_| !parts.cgroups.has("pids")) {
        plan.limits.push((RLIMIT_NPROC, most));
    }
    if let Some(cpus) = cpus.filter(|_| !parts.cgroups.has("cpu")) {
        plan.processors = processors(cpus);
    }
}

/// Counts processors; a part of one is one. A text on the way keeps the conversion exact.
fn processors(cpus: f64) -> Option<usize> {
    cpus.ceil().to_string().parse().ok()
}

fn memory_kind(parts: &Parts<'_>) -> Memory {
    let is_limited = parts.record.asked.limits.memory_bytes.is_some();
    if is_limited && !parts.cgroups.has("memory") {
        return Memory::Watched;
    }
    Memory::Counted
}

/// Where the watcher counts its kills.
pub(super) fn memory_counter(folder: &Path) -> PathBuf {
    folder.join("memory.events")
}

/// Places that belong to the sandbox itself; the image gives way.
fn reserved_paths(record: &SandboxRecord) -> BTreeSet<PathBuf> {
    let fixed = ["/proc", "/sys", "/dev", "/tmp", "/run", wire::GUEST_DIR];
    let mounts = record
        .asked
        .mounts
        .iter()
        .map(|mount| as_path(&mount.target()));
    let own = [as_path(&record.asked.work_dir())];
    fixed
        .iter()
        .map(PathBuf::from)
        .chain(own)
        .chain(mounts)
        .collect()
}

/// Users and names as programs look them up; nothing of the host's.
fn accounts(plan: &mut PlanBuilder, record: &SandboxRecord) {
    let (uid, gid) = (record.uid, record.gid);
    let home = record.asked.work_dir();
    let others = |list: &[(&str, u32)], own: u32, line: fn(&str, u32) -> String| -> String {
        let others = list.iter().filter(|(_, number)| *number != own);
        others.map(|(name, number)| line(name, *number)).collect()
    };
    let users = others(&[("root", 0), ("nobody", 65534)], uid, |name, number| {
        format!("{name}:x:{number}:{number}:{name}:/:/bin/sh\n")
    });
    let groups = others(
        &[("root", 0), ("tty", 5), ("nogroup", 65534)],
        gid,
        |name, number| format!("{name}:x:{number}:\n"),
    );
    let users = format!("{users}sandbox:x:{uid}:{gid}:sandbox:{home}:/bin/sh\n");
    let groups = format!("{groups}sandbox:x:{gid}:\n");
    plan.file("/etc/passwd", &users);
    plan.file("/etc/group", &groups);
    let name = &record.asked.name;
    plan.file("/etc/hostname", &format!("{name}\n"));
    plan.file(
        "/etc/hosts",
        &format!("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {name}\n"),
    );
    plan.file(
        "/etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files dns\n",
    );
    if record.asked.network != Network::None
        && let Ok(servers) = fs::read_to_string("/etc/resolv.conf")
    {
        plan.file("/etc/resolv.conf", &servers);
    }
}

fn devices(plan: &mut PlanBuilder) {
    plan.memory("/dev", NOSUID | NOEXEC, 0o755, 64 << 10);
    for name in DEVICES {
        let place = Path::new("/dev").join(name);
        plan.tree(&place, &place, DEVICE);
    }
    plan.mount(
        "devpts",
        "/dev/pts",
        NOSUID | NOEXEC,
        "newinstance,ptmxmode=0666,mode=0620",
    );
    for (text, name) in [
        ("pts/ptmx", "ptmx"),
        ("/proc/self/fd", "fd"),
        ("/proc/self/fd/0", "stdin"),
        ("/proc/self/fd/1", "stdout"),
        ("/proc/self/fd/2", "stderr"),
    ] {
        plan.link(Path::new(text), &Path::new("/dev").join(name));
    }
    plan.memory("/dev/shm", SCRATCH, 0o1777, 64 << 20);
    plan.seal("/dev");
}

fn kernel_files(plan: &mut PlanBuilder) {
    plan.mount("proc", "/proc", SCRATCH, "");
    for name in PROTECTED {
        let place = format!("/proc/{name}").into_bytes();
        plan.0.steps.push(Step::Protect(place));
    }
    for name in HIDDEN {
        let place = format!("/proc/{name}").into_bytes();
        plan.0.steps.push(Step::Hide(place));
    }
}

/// Programs that ask the C library for processors, and not a variable, find the same number; it reads this file.
fn processor_list(plan: &mut PlanBuilder, record: &SandboxRecord) {
    if let Some(cores) = told_cores(&record.asked.env) {
        let list = format!("0-{}\n", cores - 1);
        plan.file("/sys/devices/system/cpu/online", &list);
    }
}

fn memory(plan: &mut PlanBuilder, record: &SandboxRecord) {
    let size = record.asked.tmp_bytes;
    plan.memory("/tmp", SCRATCH, 0o1777, size);
    plan.memory("/run", SCRATCH, 0o755, 1 << 20);
    plan.memory("/run/sandtop", SCRATCH, 0o1777, 4 << 20);
    plan.seal("/run");
}

/// The work directory and sandtop's own files.
fn own_files(plan: &mut PlanBuilder, parts: &Parts<'_>) {
    let work_dir = parts.record.asked.work_dir();
    let mounts = &parts.record.asked.mounts;
    if !mounts.iter().any(|mount| mount.target() == work_dir) {
        plan.tree(
            &parts.folder.join(super::state_dir::WORKSPACE),
            &as_path(&work_dir),
            WRITABLE_TREE,
        );
    }
    plan.tree(parts.guest, Path::new(wire::GUEST_PATH), READ_ONLY_TREE);
    let events = parts
        .cgroups
        .memory_events()
        .unwrap_or_else(|| memory_counter(parts.folder));
    let counters = [
        (Some(events), wire::MEMORY_EVENTS),
        (parts.cgroups.pids_events(), wire::PIDS_EVENTS),
    ];
    for (file, target) in counters {
        if let Some(file) = file {
            plan.tree(&file, Path::new(target), READ_ONLY_TREE | NOEXEC);
        }
    }
}
