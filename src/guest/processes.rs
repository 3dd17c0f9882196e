//! Finds processes in `/proc`: below this one, or marked as part of an exec; and tells what the kernel grants them.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::abi::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM};
use crate::ends;
use crate::finish::Problem;
use crate::sys;
use crate::wire;

/// Longest wait for a guest that has only begun.
const HEARING: Duration = Duration::from_millis(500);
/// How long a guest gets to end its command before it is ended itself; longer than its own grace.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How long it may take in all.
const GIVE_UP: Duration = Duration::from_secs(6);

/// Lists the pids of all processes that this one may see.
pub(crate) fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Reads parent and state of a process; the name in between may hold anything, so they are found from behind it.
fn parent_and_state(pid: u32) -> Option<(u32, char)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// Lists every living process below this one.
pub(crate) fn descendants() -> Vec<u32> {
    below(std::process::id())
}

fn below(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in all() {
        if let Some((parent, state)) = parent_and_state(pid)
            && state != 'Z'
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// Freezes what `find` finds until nothing new appears, so that a fork bomb cannot outrun us, and then kills it.
pub(crate) fn freeze_and_kill(find: impl Fn() -> Vec<u32>) {
    let mut known = 0;
    for _ in 0..20 {
        let found = find();
        for pid in &found {
            sys::kill(*pid, SIGSTOP);
        }
        if found.len() == known {
            break;
        }
        known = found.len();
    }
    for pid in find() {
        sys::kill(pid, SIGKILL);
    }
}

/// Tells whether a guest has taken its signals over by now. While it waits for them the kernel shows them as not blocked; but
/// then its command runs.
fn hears(guest: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{guest}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    blocked.is_none_or(|bits| bits >> (SIGTERM - 1) & 1 == 1) || !below(guest).is_empty()
}

/// `guest kill ID`: ends an exec from outside: first through its guest, then by what carries its id.
pub(crate) fn kill_exec(words: &[String]) -> Result<(), Problem> {
    let id = words
        .first()
        .filter(|id| !id.is_empty())
        .ok_or_else(|| Problem::invalid("no exec was named"))?;
    let started = Instant::now();
    let mut guests = guests_of(id);
    if guests.is_empty() {
        // It may be about to begin. It looks for our word after it can be seen, so one of us finds the other.
        ends::call_off(id);
        guests = guests_of(id);
    }
    for guest in &guests {
        sys::kill(*guest, SIGCONT);
        // One that has only begun would die of the signal instead of hearing it, and nobody would know why.
        while !hears(*guest) && started.elapsed() < HEARING {
            std::thread::sleep(Duration::from_millis(1));
        }
        sys::kill(*guest, SIGTERM);
    }
    while started.elapsed() < PATIENCE && !guests.is_empty() {
        std::thread::sleep(Duration::from_millis(5));
        guests.retain(|guest| parent_and_state(*guest).is_some_and(|(_, state)| state != 'Z'));
    }
    for guest in guests {
        let find = || below(guest);
        freeze_and_kill(find);
        sys::kill(guest, SIGKILL);
    }
    while started.elapsed() < GIVE_UP && !marked(id).is_empty() {
        freeze_and_kill(|| marked(id));
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Finds the guests that run an exec, by their command line.
///
/// The command has that line too until it is executed. Signalled in that moment it would end before its guest has heard, and
/// a cancelled command would look like one that ended by a signal.
fn guests_of(id: &str) -> Vec<u32> {
    let wanted = format!("{}\0exec\0--id\0{id}\0", wire::GUEST_PATH);
    let runs = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.starts_with(wanted.as_bytes()))
    };
    let found: Vec<u32> = all().into_iter().filter(runs).collect();
    let is_command =
        |pid: &u32| parent_and_state(*pid).is_some_and(|(parent, _)| found.contains(&parent));
    found
        .iter()
        .copied()
        .filter(|pid| !is_command(pid))
        .collect()
}

/// Lists the execs whose guests run.
pub(crate) fn running_execs() -> Vec<String> {
    let start = format!("{}\0exec\0--id\0", wire::GUEST_PATH);
    let id_of = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let id = line
            .strip_prefix(start.as_bytes())?
            .split(|b| *b == 0)
            .next()?;
        let lives = parent_and_state(pid).is_some_and(|(_, state)| state != 'Z');
        lives.then(|| String::from_utf8_lossy(id).into_owned())
    };
    all().into_iter().filter_map(id_of).collect()
}

/// Finds living processes that carry the id of an exec in their environment.
fn marked(id: &str) -> Vec<u32> {
    let wanted = format!("{}={id}", wire::EXEC_VARIABLE);
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let alive = parent_and_state(*pid).is_some_and(|(_, state)| state != 'Z');
        alive
            && environment
                .split(|b| *b == 0)
                .any(|variable| variable == wanted.as_bytes())
    };
    all().into_iter().filter(carries).collect()
}

/// `guest probe`: prints what the kernel grants to processes here, one `key=value` a line.
pub(crate) fn probe() -> Result<(), Problem> {
    let status = fs::read_to_string("/proc/self/status")
        .map_err(|e| Problem::io("reading /proc/self/status", &e))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    // Not every sandbox has /sys; this is the same list.
    let devices = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let names = devices.lines().filter_map(|line| line.split_once(':'));
    let interfaces: Vec<&str> = names.map(|(name, _)| name.trim()).collect();
    let lines = [
        format!("caps={}", field("CapEff:")),
        format!("bounding={}", field("CapBnd:")),
        format!("no_new_privileges={}", field("NoNewPrivs:")),
        format!("seccomp={}", field("Seccomp:")),
        format!("uid={}", sys::uid()),
        format!("root_options={}", root_options()),
        format!("interfaces={}", interfaces.join(",")),
    ];
    let text = lines.join("\n");
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Problem::io("writing", &e))
}

/// Reads the mount options of `/`.
fn root_options() -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let root = mounts
        .lines()
        .rfind(|line| line.split(' ').nth(1) == Some("/"));
    root.and_then(|line| line.split(' ').nth(3))
        .unwrap_or_default()
        .to_owned()
}
