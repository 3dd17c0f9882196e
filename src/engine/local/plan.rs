//! The plan that a keeper carries out: everything about a sandbox that is policy, as lines of words.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::cgroups::Cgroups;
use super::filter::{self, Memory};
use super::image::Image;
use super::limits;
use super::record::Record;
use crate::domain::{HOST_IMAGE, Limits, Network, SandboxPath};
use crate::guest::wire;

const READ_ONLY: u64 = 1;
const NOSUID: u64 = 2;
const NODEV: u64 = 4;
const NOEXEC: u64 = 8;

/// How programs of an image are shown.
pub(super) const READ_ONLY_TREE: u64 = READ_ONLY | NOSUID | NODEV;
const WRITABLE_TREE: u64 = NOSUID | NODEV;
const DEVICE: u64 = NOSUID | NOEXEC;
const SCRATCH: u64 = NOSUID | NODEV | NOEXEC;

/// What the smallest file with something in it takes.
const PAGE: u64 = 4096;
/// Names that even the smallest memory has.
const LEAST_NAMES: u64 = 1024;
const RLIMIT_DATA: &str = "2";
const RLIMIT_NPROC: &str = "6";

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

/// Lines for a keeper.
#[derive(Debug, Default)]
pub(super) struct Plan(Vec<String>);

impl Plan {
    fn line(&mut self, words: &[&[u8]]) {
        let words: Vec<String> = words.iter().map(|word| wire::escape(word)).collect();
        self.0.push(words.join(" "));
    }

    /// Shows a file or folder of the host.
    pub(super) fn tree(&mut self, source: &Path, target: &Path, flags: u64) {
        let flags = flags.to_string();
        self.line(&[b"tree", bytes(source), bytes(target), flags.as_bytes()]);
    }

    /// Makes a link.
    pub(super) fn link(&mut self, text: &Path, target: &Path) {
        self.line(&[b"link", bytes(text), bytes(target)]);
    }

    /// Makes a folder.
    pub(super) fn folder(&mut self, target: &Path, mode: u32) {
        self.line(&[b"folder", bytes(target), mode.to_string().as_bytes()]);
    }

    fn file(&mut self, target: &str, content: &str) {
        self.line(&[b"file", target.as_bytes(), content.as_bytes()]);
    }

    /// Puts files in memory there, of at most so many bytes. Names cost memory of the kernel's own, which no size limits: so
    /// there are as many as there could be files with something in them.
    fn memory(&mut self, target: &str, flags: u64, mode: u32, bytes: u64) {
        let names = (bytes / PAGE).max(LEAST_NAMES);
        let options = format!("mode={mode:04o},size={bytes},nr_inodes={names}");
        self.mount("tmpfs", target, flags, &options);
    }

    fn mount(&mut self, kind: &str, target: &str, flags: u64, options: &str) {
        let flags = flags.to_string();
        let words = [
            kind.as_bytes(),
            target.as_bytes(),
            flags.as_bytes(),
            options.as_bytes(),
        ];
        self.line(&[&[&b"new"[..]], &words[..]].concat());
    }

    /// Returns the text that the keeper reads.
    pub(super) fn text(&self) -> String {
        format!("{}\nend\n", self.0.join("\n"))
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn as_path(path: &SandboxPath) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

/// What a plan is made from.
pub(super) struct Parts<'a> {
    pub(super) record: &'a Record,
    pub(super) image: &'a Image,
    pub(super) cgroups: &'a Cgroups,
    /// The sandbox's folder.
    pub(super) folder: &'a Path,
    /// The guest program.
    pub(super) guest: &'a Path,
}

/// Writes the plan of a sandbox.
pub(super) fn plan(parts: &Parts<'_>) -> Plan {
    let mut plan = Plan::default();
    let record = parts.record;
    plan.line(&[b"id", record.id.as_bytes()]);
    plan.line(&[b"name", record.asked.name.as_bytes()]);
    identity(&mut plan, record);
    if record.asked.network != Network::None {
        plan.line(&[b"host-network"]);
    }
    bounds(&mut plan, parts);
    parts.image.show(&mut plan, &taken(record));
    if record.asked.image == HOST_IMAGE {
        accounts(&mut plan, record);
    }
    devices(&mut plan);
    kernel_files(&mut plan);
    memory(&mut plan, record);
    own_files(&mut plan, parts);
    for mount in &record.asked.mounts {
        let flags = if mount.read_only {
            READ_ONLY_TREE
        } else {
            WRITABLE_TREE
        };
        plan.tree(&mount.source, &as_path(&mount.target()), flags);
    }
    plan.line(&[b"filter", &filter::program(memory_seen(parts))]);
    plan
}

fn identity(plan: &mut Plan, record: &Record) {
    match record.block {
        Some(base) => plan.line(&[b"block", base.to_string().as_bytes()]),
        None => plan.line(&[
            b"single",
            record.uid.to_string().as_bytes(),
            record.gid.to_string().as_bytes(),
        ]),
    }
}

/// Cgroups where there are, and otherwise what any process may limit for itself.
fn bounds(plan: &mut Plan, parts: &Parts<'_>) {
    for folder in parts.cgroups.folders() {
        plan.line(&[b"cgroup", bytes(&folder)]);
    }
    if let Some((file, on, off)) = parts.cgroups.freezer() {
        plan.line(&[b"freezer", bytes(&file), on.as_bytes(), off.as_bytes()]);
    }
    let Limits {
        memory_bytes,
        cpus,
        pids,
        ..
    } = parts.record.asked.limits;
    if let Some(bytes_allowed) = memory_bytes.filter(|_| !parts.cgroups.has("memory")) {
        let counter = memory_counter(parts.folder);
        plan.line(&[
            b"watch",
            bytes_allowed.to_string().as_bytes(),
            bytes(&counter),
        ]);
        // What asks for too much at once should die of it like what grows slowly, and not find out by an error that it handles
        // or not: so the watcher comes first, and this holds only what no machine could give.
        let most = limits::machine_memory().to_string();
        plan.line(&[b"limit", RLIMIT_DATA.as_bytes(), most.as_bytes()]);
    }
    if let Some(most) = pids.filter(|_| !parts.cgroups.has("pids")) {
        plan.line(&[
            b"limit",
            RLIMIT_NPROC.as_bytes(),
            most.to_string().as_bytes(),
        ]);
    }
    if let Some(cpus) = cpus.filter(|_| !parts.cgroups.has("cpu")) {
        plan.line(&[b"processors", cpus.ceil().to_string().as_bytes()]);
    }
}

fn memory_seen(parts: &Parts<'_>) -> Memory {
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
fn taken(record: &Record) -> BTreeSet<PathBuf> {
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
fn accounts(plan: &mut Plan, record: &Record) {
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

fn devices(plan: &mut Plan) {
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
    plan.line(&[b"seal", b"/dev"]);
}

fn kernel_files(plan: &mut Plan) {
    plan.mount("proc", "/proc", SCRATCH, "");
    for name in PROTECTED {
        plan.line(&[b"protect", format!("/proc/{name}").as_bytes()]);
    }
    for name in HIDDEN {
        plan.line(&[b"hide", format!("/proc/{name}").as_bytes()]);
    }
}

fn memory(plan: &mut Plan, record: &Record) {
    let size = record.asked.tmp_bytes;
    plan.memory("/tmp", SCRATCH, 0o1777, size);
    plan.memory("/run", SCRATCH, 0o755, 1 << 20);
    plan.memory("/run/sandtop", SCRATCH, 0o1777, 4 << 20);
    plan.line(&[b"seal", b"/run"]);
}

/// The work directory and sandtop's own files.
fn own_files(plan: &mut Plan, parts: &Parts<'_>) {
    let work_dir = parts.record.asked.work_dir();
    let mounts = &parts.record.asked.mounts;
    if !mounts.iter().any(|mount| mount.target() == work_dir) {
        plan.tree(
            &parts.folder.join(super::place::WORKSPACE),
            &as_path(&work_dir),
            WRITABLE_TREE,
        );
    }
    plan.tree(parts.guest, Path::new(wire::GUEST_PATH), READ_ONLY_TREE);
    let events = parts
        .cgroups
        .memory_events()
        .unwrap_or_else(|| memory_counter(parts.folder));
    plan.tree(
        &events,
        Path::new(wire::MEMORY_EVENTS),
        READ_ONLY_TREE | NOEXEC,
    );
}
