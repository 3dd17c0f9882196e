//! The local engine with its processes killed at any moment: the next command finds its way, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Chance, Place, until};

/// Kills in one run; each is at another moment of another command.
const TURNS: usize = 40;
/// The moments: within so many milliseconds of a command's start.
const LATEST: u64 = 150;

/// Whom a turn kills.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// The command itself.
    Command,
    /// Any process that keeps, begins or watches something in a sandbox.
    Helper,
}

/// What the engine has left on this machine, as the kernel and the disk tell.
struct Traces {
    scope: PathBuf,
    guests: PathBuf,
    /// Every sandbox that was ever there.
    ids: BTreeSet<String>,
}

impl Traces {
    fn of(place: &Place) -> Self {
        let guests = place.path("state/sandtop/local");
        let scope = guests.join(format!("scope-{}", place.scope));
        let ids = BTreeSet::new();
        Self { scope, guests, ids }
    }

    fn folders(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.scope).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        folders
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    fn learn(&mut self) {
        let found = self.folders();
        let ids = found.iter().filter_map(|name| name.split('.').next());
        self.ids.extend(ids.map(str::to_owned));
    }

    /// Processes that run our guest program, recognised by the file and not by a name.
    fn helpers(&self) -> Vec<i32> {
        let entries = fs::read_dir(&self.guests).into_iter().flatten().flatten();
        let files: BTreeSet<_> = entries
            .filter_map(|entry| fs::metadata(entry.path()).ok())
            .filter(fs::Metadata::is_file)
            .map(|meta| (meta.dev(), meta.ino()))
            .collect();
        let runs_one = |pid: &i32| {
            let program = fs::metadata(format!("/proc/{pid}/exe"));
            program.is_ok_and(|meta| files.contains(&(meta.dev(), meta.ino())))
        };
        pids().into_iter().filter(runs_one).collect()
    }

    fn groups(&self) -> Vec<PathBuf> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let roots = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (at, kind) = (words.nth(1)?, words.next()?);
            kind.starts_with("cgroup")
                .then(|| Path::new(at).join("sandtop"))
        });
        let below = roots.flat_map(|root| fs::read_dir(root).into_iter().flatten().flatten());
        let ours = below.filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            self.ids.iter().any(|id| name.contains(id.as_str()))
        });
        ours.map(|entry| entry.path()).collect()
    }

    /// Names everything that is left.
    fn left(&self, mark: &str) -> Vec<String> {
        let mut left = self.folders();
        left.extend(
            self.helpers()
                .iter()
                .map(|pid| format!("our process {pid}")),
        );
        left.extend(self.groups().iter().map(|path| path.display().to_string()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let scope = self.scope.display().to_string();
        left.extend(
            mounts
                .lines()
                .filter(|line| line.contains(&scope))
                .map(str::to_owned),
        );
        let marked = pids().into_iter().filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&format!("sleep\0{mark}"))
        });
        left.extend(marked.map(|pid| format!("a command's process {pid}")));
        left
    }
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[test]
#[ignore = "needs root, who sees whose program a process runs: tests/run"]
fn killed_anywhere_nothing_is_left_after_the_next_command() {
    let place = Place::local();
    let mut traces = Traces::of(&place);
    // Whoever looks for traces must be able to see them.
    place.run(&["create", "box"]).ok();
    traces.learn();
    assert!(!traces.helpers().is_empty() && !traces.folders().is_empty());
    place.run(&["rm", "-f", "box"]).ok();
    let seed = u64::from(std::process::id()) | 1 << 32;
    eprintln!("the moments follow from {seed}");
    let mut chance = Chance(seed);
    for turn in 0..TURNS {
        let mark = format!("31{turn:04}.{}", std::process::id());
        let target = [Target::Command, Target::Helper][turn % 2];
        interrupted(&place, &mut traces, &mut chance, (turn / 2, target), &mark);
        let listed = place.run(&["ls", "--all"]).ok();
        if listed.text().contains("box") {
            place.run(&["rm", "-f", "box"]).ok();
        }
        until("nothing is left", || {
            let left = traces.left(&mark);
            if !left.is_empty() {
                eprintln!("turn {turn}, {target:?}: {left:?}");
            }
            left.is_empty()
        });
    }
}

/// Starts a command and kills somebody in the middle of it.
fn interrupted(
    place: &Place,
    traces: &mut Traces,
    chance: &mut Chance,
    (which, target): (usize, Target),
    mark: &str,
) {
    let script = format!("setsid sleep {mark} & sleep {mark}");
    let commands: [&[&str]; 5] = [
        &["create", "box"],
        &["exec", "box", "--", "sh", "-c", &script],
        &["restart", "box"],
        &["stop", "box"],
        &["rm", "-f", "box"],
    ];
    let command = commands[which % commands.len()];
    if command[0] != "create" {
        place.run(&["create", "box"]).ok();
    }
    let running = place.start(command);
    std::thread::sleep(Duration::from_millis(chance.below(LATEST)));
    traces.learn();
    match target {
        Target::Command => kill(i32::try_from(running.child.id()).unwrap()),
        Target::Helper => {
            let helpers = traces.helpers();
            let at = chance.below(helpers.len().max(1) as u64);
            helpers
                .get(usize::try_from(at).unwrap())
                .copied()
                .into_iter()
                .for_each(kill);
        }
    }
    // A command that nobody has killed ends by itself, with whatever it has to say; but this one would wait for its sleep.
    if command[0] == "exec" && traces.left(mark).iter().any(|l| l.starts_with("a command")) {
        kill(i32::try_from(running.child.id()).unwrap());
    }
    running.wait();
    traces.learn();
}
