//! Lists the processes of the sandbox, as `ps` would.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::finish::Problem;
use crate::processes::{self, PROC};
use crate::wire::report::ProcessLine;

/// A tick of the kernel's clock; the same on every Linux.
const MILLIS_PER_TICK: u64 = 10;

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
        // A process may end between the listing and the reading; then it is not there.
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
