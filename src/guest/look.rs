//! Tells what goes on in the sandbox without changing it: its processes, and files that are not as they were.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::files::kind_of;
use crate::finish::Problem;
use crate::processes::{self, PROC};
use crate::wire::{
    self,
    report::{ChangeLine, ProcessLine},
};

/// A tick of the kernel's clock; the same on every Linux.
const MILLIS_PER_TICK: u64 = 10;

/// Longest walk through the files of a sandbox.
const LONGEST_WALK: Duration = Duration::from_secs(2);

/// How much of a command line is told.
const LONGEST_COMMAND: usize = 4096;

/// `guest top`: prints a line for each process but this one.
pub(crate) fn top() -> Result<(), Problem> {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let table = ProcessTable {
        proc: Path::new(PROC),
        uptime_millis: uptime_millis(&uptime),
        users: &users,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let others = processes::all();
    for pid in others.into_iter().filter(|pid| *pid != std::process::id()) {
        // A process may end between the listing and the look at it; then it is not there.
        if let Some(line) = table.process(pid) {
            writeln!(out, "{}", line.encode()).map_err(|e| Problem::io("writing", &e))?;
        }
    }
    out.flush().map_err(|e| Problem::io("writing", &e))
}

/// Reads how long the machine runs, which the kernel tells in seconds and hundredths.
fn uptime_millis(text: &str) -> u64 {
    let (seconds, rest) = text.split_once('.').unwrap_or((text, ""));
    let hundredths = rest.get(..2).and_then(|digits| digits.parse().ok());
    let seconds: u64 = seconds.trim().parse().unwrap_or(0);
    seconds * 1000 + hundredths.unwrap_or(0) * 10
}

/// What is needed to describe processes.
struct ProcessTable<'a> {
    proc: &'a Path,
    uptime_millis: u64,
    /// The text of `/etc/passwd`.
    users: &'a str,
}

impl ProcessTable<'_> {
    fn process(&self, pid: u32) -> Option<ProcessLine> {
        let folder = self.proc.join(pid.to_string());
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let status = fs::read_to_string(folder.join("status")).ok()?;
        // The name in between may hold anything, so the fields are found from behind it.
        let (before, after) = stat.rsplit_once(')')?;
        let name = before.split_once('(').map_or("", |(_, name)| name);
        let fields: Vec<&str> = after.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let millis = |at: usize| number(at).unwrap_or(0) * MILLIS_PER_TICK;
        let of_status = |key: &str| {
            let mut lines = status.lines();
            lines.find_map(|line| line.strip_prefix(key)?.split_whitespace().next())
        };
        let memory = of_status("VmRSS:").and_then(|kib| kib.parse::<u64>().ok());
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        Some(ProcessLine {
            pid,
            parent: u32::try_from(number(1)?).ok()?,
            state: fields.first()?.chars().next()?,
            cpu_millis: millis(11) + millis(12),
            age_millis: self.uptime_millis.saturating_sub(millis(19)),
            memory_bytes: memory.unwrap_or(0) * 1024,
            user: user(of_status("Uid:")?, self.users).to_owned(),
            command: command(&line, name),
        })
    }
}

/// Writes a command line for people. The kernel's own threads and zombies have none, only a name.
fn command(line: &[u8], name: &str) -> Vec<u8> {
    match line.strip_suffix(b"\0").unwrap_or(line) {
        b"" => format!("[{name}]").into_bytes(),
        words => {
            let words = words.iter().take(LONGEST_COMMAND);
            words
                .map(|byte| if *byte == 0 { b' ' } else { *byte })
                .collect()
        }
    }
}

/// Finds the name of a user.
fn user<'a>(uid: &'a str, users: &'a str) -> &'a str {
    let line = users
        .lines()
        .find(|line| line.split(':').nth(2) == Some(uid));
    line.and_then(|line| line.split(':').next())
        .filter(|name| !name.is_empty())
        .unwrap_or(uid)
}

/// `guest changes MOST PATH…`: prints what below the paths is newer than the sandbox, and how much more there is than `MOST`.
/// The paths themselves are not told, and other file systems not entered.
pub(crate) fn changes(most: u64, roots: &[Vec<u8>]) -> Result<(), Problem> {
    // The engine puts the guest in last, when everything that came with the image is in its place.
    let born =
        fs::metadata(wire::GUEST_PATH).map_err(|e| Problem::on(wire::GUEST_PATH.as_bytes(), &e))?;
    let mut walk = Walk {
        born: moment(&born),
        made: born.created().ok(),
        most,
        told: 0,
        more: 0,
        out: BufWriter::new(io::stdout().lock()),
    };
    for root in roots {
        let root = crate::files::path(root);
        if let Ok(meta) = fs::metadata(root) {
            walk.folder(root, meta.dev())
                .map_err(|e| Problem::on(root.as_os_str().as_bytes(), &e))?;
        }
    }
    walk.finish().map_err(|e| Problem::io("writing", &e))
}

/// `guest size PATH`: prints how many bytes the files below the path take on its disk. A walk that takes too long ends early
/// and tells what it has found: at least so much.
pub(crate) fn size(root: &[u8]) -> Result<(), Problem> {
    let top = fs::metadata(crate::files::path(root)).map_err(|e| Problem::on(root, &e))?;
    let end = Instant::now() + LONGEST_WALK;
    let (mut bytes, mut counted) = (0, HashSet::new());
    let mut folders = vec![crate::files::path(root).to_path_buf()];
    while let Some(folder) = folders.pop().filter(|_| Instant::now() < end) {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            // A file with several names is there once.
            if meta.is_dir() || meta.nlink() == 1 || counted.insert(meta.ino()) {
                bytes += meta.blocks() * 512;
            }
            if meta.is_dir() && meta.dev() == top.dev() {
                folders.push(entry.path());
            }
        }
    }
    println!("{bytes}");
    Ok(())
}

/// When the kernel last noted a change of content, mode, owner or name; nobody can set it.
fn moment(meta: &Metadata) -> (i64, i64) {
    (meta.ctime(), meta.ctime_nsec())
}

struct Walk<W: Write> {
    born: (i64, i64),
    made: Option<SystemTime>,
    most: u64,
    told: u64,
    more: u64,
    out: W,
}

impl<W: Write> Walk<W> {
    /// Goes through a folder and those below it; one that may not be read, or is gone by now, is passed over.
    fn folder(&mut self, top: &Path, device: u64) -> io::Result<()> {
        let mut folders = vec![top.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(meta) = entry.metadata() else { continue };
                let place = entry.path();
                self.look(&place, &meta)?;
                if meta.is_dir() && meta.dev() == device {
                    folders.push(place);
                }
            }
        }
        Ok(())
    }

    fn look(&mut self, place: &Path, meta: &Metadata) -> io::Result<()> {
        // Where the file system keeps no birth times, as in memory, there was nothing before.
        let is_new = meta
            .created()
            .ok()
            .zip(self.made)
            .is_none_or(|(made, born)| made > born);
        // A folder changes with what is in it, which is told itself.
        if moment(meta) <= self.born || (meta.is_dir() && !is_new) {
            return Ok(());
        }
        if self.told == self.most {
            self.more += 1;
            return Ok(());
        }
        self.told += 1;
        let change = ChangeLine::File {
            is_new,
            kind: kind_of(meta),
            size: meta.len(),
            seconds: meta.mtime(),
            path: place.as_os_str().as_bytes().to_vec(),
        };
        writeln!(self.out, "{}", change.encode())
    }

    fn finish(mut self) -> io::Result<()> {
        if self.more > 0 {
            writeln!(self.out, "{}", ChangeLine::More(self.more).encode())?;
        }
        self.out.flush()
    }
}
