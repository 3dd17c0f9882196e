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
use crate::{processes, wire};

/// Ticks of the kernel's clock in a second; the same on every Linux.
const TICKS: f64 = 100.0;

/// Longest walk through the files of a sandbox.
const LONGEST_WALK: Duration = Duration::from_secs(2);

/// How much of a command line is told.
const LONGEST_COMMAND: usize = 4096;

/// `guest top`: prints a line for each process but this one: pid, parent, state, milliseconds of processor time and of age,
/// bytes of memory, user and command line, the last two escaped.
pub(crate) fn top() -> Result<(), Problem> {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let uptime: f64 = uptime
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut out = BufWriter::new(io::stdout().lock());
    for pid in processes::all()
        .into_iter()
        .filter(|pid| *pid != std::process::id())
    {
        // A process may end between the listing and the look at it; then it is not there.
        if let Some(line) = process(pid, uptime, &users) {
            out.write_all(line.as_bytes())
                .map_err(|e| Problem::io("writing", &e))?;
        }
    }
    out.flush().map_err(|e| Problem::io("writing", &e))
}

fn process(pid: u32, uptime: f64, users: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let (before, after) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let of_status = |key: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(key)?.split_whitespace().next())
    };
    let memory: u64 = of_status("VmRSS:")
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0);
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = match line.strip_suffix(b"\0").unwrap_or(&line) {
        // The kernel's own threads and zombies have no command line, only a name.
        b"" => format!("[{}]", before.split_once('(').map_or("", |(_, name)| name)).into_bytes(),
        words => words
            .iter()
            .take(LONGEST_COMMAND)
            .map(|byte| if *byte == 0 { b' ' } else { *byte })
            .collect(),
    };
    Some(format!(
        "{pid} {} {} {:.0} {:.0} {} {} {}\n",
        fields.get(1)?,
        fields.first()?,
        (ticks(11) + ticks(12)) / TICKS * 1000.0,
        (uptime - ticks(19) / TICKS).max(0.0) * 1000.0,
        memory * 1024,
        wire::escape(user(of_status("Uid:")?, users).as_bytes()),
        wire::escape(&command),
    ))
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

/// `guest changes MOST PATH…`: prints what below the paths is newer than the sandbox: `A` or `C`, kind, size, seconds, path;
/// and, if that is more than `MOST`, `more COUNT`. The paths themselves are not told, and other file systems not entered.
pub(crate) fn changes(words: &[String]) -> Result<(), Problem> {
    let (most, roots) = words
        .split_first()
        .ok_or_else(|| Problem::invalid("no path was given"))?;
    // The engine puts the guest in last, when everything that came with the image is in its place.
    let born =
        fs::metadata(wire::GUEST_PATH).map_err(|e| Problem::on(wire::GUEST_PATH.as_bytes(), &e))?;
    let mut walk = Walk {
        born: moment(&born),
        made: born.created().ok(),
        most: most.parse().unwrap_or(0),
        told: 0,
        more: 0,
        out: BufWriter::new(io::stdout().lock()),
    };
    for root in roots {
        let root = wire::unescape(root);
        let root = crate::files::path(&root);
        if let Ok(meta) = fs::metadata(root) {
            walk.folder(root, meta.dev())
                .map_err(|e| Problem::on(root.as_os_str().as_bytes(), &e))?;
        }
    }
    walk.finish().map_err(|e| Problem::io("writing", &e))
}

/// `guest size PATH`: prints how many bytes the files below the path take on its disk. A walk that takes too long ends early
/// and tells what it has found: at least so much.
pub(crate) fn size(words: &[String]) -> Result<(), Problem> {
    let root = wire::unescape(words.first().map(String::as_str).unwrap_or_default());
    let top = fs::metadata(crate::files::path(&root)).map_err(|e| Problem::on(&root, &e))?;
    let end = Instant::now() + LONGEST_WALK;
    let (mut bytes, mut counted) = (0, HashSet::new());
    let mut folders = vec![crate::files::path(&root).to_path_buf()];
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
        let (letter, kind) = (if is_new { 'A' } else { 'C' }, char::from(kind_of(meta)));
        let path = wire::escape(place.as_os_str().as_bytes());
        writeln!(
            self.out,
            "{letter} {kind} {} {} {path}",
            meta.len(),
            meta.mtime()
        )
    }

    fn finish(mut self) -> io::Result<()> {
        if self.more > 0 {
            writeln!(self.out, "more {}", self.more)?;
        }
        self.out.flush()
    }
}
