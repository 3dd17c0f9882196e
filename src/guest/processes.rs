//! Finds processes in `/proc`: below this one, or marked as part of an exec.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::abi::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM};
use crate::ends;
use crate::finish::Problem;
use crate::sys;
use crate::wire::{self, ExecCall, Verb};

/// Longest wait for a guest that has only begun.
const HEARING: Duration = Duration::from_millis(500);
/// How long a guest gets to end its command before it is ended itself; longer than its own grace.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How long it may take in all.
const GIVE_UP: Duration = Duration::from_secs(6);

/// Where the kernel shows processes.
pub(crate) const PROC: &str = "/proc";

/// Lists the pids of all processes that this one may see.
pub(crate) fn all() -> Vec<u32> {
    pids_in(Path::new(PROC))
}

fn pids_in(proc: &Path) -> Vec<u32> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Reads parent and state of a process; the name in between may hold anything, so they are found from behind it.
fn parent_and_state(proc: &Path, pid: u32) -> Option<(u32, char)> {
    let stat = fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// Tells whether a process is there and has not ended.
fn is_alive(pid: u32) -> bool {
    parent_and_state(Path::new(PROC), pid).is_some_and(|(_, state)| state != 'Z')
}

/// Lists every living process below this one.
pub(crate) fn descendants() -> Vec<u32> {
    below(Path::new(PROC), std::process::id())
}

fn below(proc: &Path, root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in pids_in(proc) {
        if let Some((parent, state)) = parent_and_state(proc, pid)
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
fn takes_signals(guest: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{guest}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    blocked.is_none_or(|bits| bits >> (SIGTERM - 1) & 1 == 1)
        || !below(Path::new(PROC), guest).is_empty()
}

/// `guest kill ID`: ends an exec from outside: first through its guest, then by what carries its id.
pub(crate) fn kill_exec(id: &str) -> Result<(), Problem> {
    if id.is_empty() {
        return Err(Problem::invalid("no exec was named"));
    }
    let started = Instant::now();
    let mut guests = guests_of(id);
    if guests.is_empty() {
        // It may be about to begin. It looks for our word after it can be seen, so one of us finds the other.
        ends::cancel_unstarted(id);
        guests = guests_of(id);
    }
    for guest in &guests {
        sys::kill(*guest, SIGCONT);
        // One that has only begun would die of the signal instead of hearing it, and nobody would know why.
        while !takes_signals(*guest) && started.elapsed() < HEARING {
            std::thread::sleep(Duration::from_millis(1));
        }
        sys::kill(*guest, SIGTERM);
    }
    while started.elapsed() < PATIENCE && !guests.is_empty() {
        std::thread::sleep(Duration::from_millis(5));
        guests.retain(|guest| is_alive(*guest));
    }
    for guest in guests {
        let find = || below(Path::new(PROC), guest);
        freeze_and_kill(find);
        sys::kill(guest, SIGKILL);
    }
    while started.elapsed() < GIVE_UP && !processes_of_exec(id).is_empty() {
        freeze_and_kill(|| processes_of_exec(id));
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// What the command lines of execs start with, as the kernel shows them; the id follows.
fn exec_line_start() -> String {
    let words = [wire::GUEST_PATH, Verb::Exec.word(), ExecCall::ID, ""];
    words.join("\0")
}

/// Reads the id of an exec from the command line of its guest.
fn exec_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(exec_line_start().as_bytes())?;
    rest.split(|byte| *byte == 0).next()
}

/// Finds the guests that run an exec, by their command line.
///
/// The command has that line too until it is executed. Signalled in that moment it would end before its guest has heard, and
/// a cancelled command would look like one that ended by a signal.
fn guests_of(id: &str) -> Vec<u32> {
    let runs = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline"));
        line.is_ok_and(|line| exec_of(&line) == Some(id.as_bytes()))
    };
    let found: Vec<u32> = all().into_iter().filter(runs).collect();
    let parent = |pid: u32| parent_and_state(Path::new(PROC), pid).map(|(parent, _)| parent);
    let is_command = |pid: &u32| parent(*pid).is_some_and(|parent| found.contains(&parent));
    found
        .iter()
        .copied()
        .filter(|pid| !is_command(pid))
        .collect()
}

/// Lists the execs whose guests run.
pub(crate) fn running_execs() -> Vec<String> {
    let id_of = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let id = exec_of(&line)?;
        is_alive(pid).then(|| String::from_utf8_lossy(id).into_owned())
    };
    all().into_iter().filter_map(id_of).collect()
}

/// Finds what was started for an exec among the processes below this one: below its guest, or with its id.
pub(crate) fn below_of_exec(guest: u32, id: &str) -> Vec<u32> {
    let proc = Path::new(PROC);
    let mut found = below(proc, guest);
    let own = descendants();
    let marked = with_exec_id(own.into_iter().filter(|pid| *pid != guest), id);
    found.extend(marked.iter().flat_map(|pid| below(proc, *pid)));
    found.extend(marked);
    found.sort_unstable();
    found.dedup();
    found
}

/// Finds living processes that carry the id of an exec in their environment.
fn processes_of_exec(id: &str) -> Vec<u32> {
    with_exec_id(all().into_iter(), id)
}

fn with_exec_id(pids: impl Iterator<Item = u32>, id: &str) -> Vec<u32> {
    let wanted = format!("{}={id}", wire::EXEC_VARIABLE);
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        is_alive(*pid) && variables.any(|variable| variable == wanted.as_bytes())
    };
    pids.filter(carries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder that looks like `/proc`: pid, parent, state and name of each process.
    fn fake_proc(processes: &[(u32, u32, char, &str)]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().expect("a folder");
        fs::create_dir(proc.path().join("self")).expect("a folder");
        for (pid, parent, state, name) in processes {
            let folder = proc.path().join(pid.to_string());
            fs::create_dir(&folder).expect("a folder");
            let stat = format!("{pid} ({name}) {state} {parent} 1 1 0");
            fs::write(folder.join("stat"), stat).expect("a file");
        }
        proc
    }

    #[test]
    fn the_living_below_a_process_are_found_at_any_depth() {
        let proc = fake_proc(&[
            (1, 0, 'S', "init"),
            (10, 1, 'S', "guest"),
            (11, 10, 'R', "a ) S 1 b"),
            (12, 11, 'T', "(deep)"),
            (13, 10, 'Z', "gone"),
            (20, 1, 'S', "other"),
        ]);
        let mut found = below(proc.path(), 10);
        found.sort_unstable();
        assert_eq!(found, [11, 12]);
        assert_eq!(below(proc.path(), 20), []);
        assert_eq!(below(proc.path(), 99), []);
    }

    #[test]
    fn names_of_processes_cannot_lie_about_their_parents() {
        let proc = fake_proc(&[(7, 3, 'S', "x) Z 1 (")]);
        assert_eq!(parent_and_state(proc.path(), 7), Some((3, 'S')));
        assert_eq!(parent_and_state(proc.path(), 8), None);
    }

    #[test]
    fn execs_are_known_by_their_command_lines() {
        let line = b"/.sandtop/guest\0exec\0--id\0a4f2\0--\0true\0";
        assert_eq!(exec_of(line), Some(&b"a4f2"[..]));
        assert_eq!(exec_of(b"/.sandtop/guest\0top\0"), None);
        assert_eq!(exec_of(b"/bin/guest\0exec\0--id\0a4f2\0"), None);
        assert_ne!(exec_of(line), Some(&b"a4"[..]), "an id is whole");
    }

    #[test]
    fn a_process_sees_itself() {
        assert!(all().contains(&std::process::id()));
        assert!(is_alive(std::process::id()));
    }
}
