//! Where few files may be open at once, sandtop says so instead of breaking.

use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::pty::Terminal;
use crate::support::{Place, Ran, Running};

const F9: &str = "\x1b[20~";

/// Runs the program where so many files may be open.
fn run_within(place: &Place, limit: &str, args: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_sandtop")])
        .args(args)
        .env_clear()
        .envs(place.variables())
        .current_dir(place.home.path());
    Running::start(command).wait()
}

#[test]
fn too_few_descriptors_are_told() {
    let place = Place::local();
    for limit in [8, 10, 12, 14, 20, 30, 40, 60] {
        for args in [&["ls"][..], &["--engine", "demo", "ls"], &["doctor"]] {
            let ran = run_within(&place, &format!("-n {limit}"), args);
            ran.exits(1).says("may be open at once").says("ulimit -n");
        }
    }
    for limit in [80, 100] {
        let limit = format!("-n {limit}");
        run_within(&place, &limit, &["ls"]).exits(0);
    }
    // A limit that we may raise is raised.
    run_within(&place, "-S -n 12", &["ls"]).exits(0);
}

#[test]
fn the_dashboard_tells_it_too_and_works_with_few() {
    let place = Place::demo();
    let by = |limit: &str| format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
    let few = by("16");
    let terminal = Terminal::start_by(&place, &["sh", "-c", &few], &[], (24, 80));
    let (code, bytes) = terminal.end();
    let told = String::from_utf8_lossy(&bytes);
    assert!(code == 1 && told.contains("may be open at once"), "{told}");
    let enough = by("80");
    let mut terminal = Terminal::start_by(&place, &["sh", "-c", &enough], &[], (24, 80));
    terminal.until_seen("demo-python");
    terminal.type_in("q");
    assert_eq!(terminal.end().0, 0);
}

/// Allows a running program so many open files more.
fn allow_more(pid: Pid, more: u64) {
    let open = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).unwrap();
    let limit = Rlimit {
        current: Some(open.count() as u64 + more),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    prlimit(Some(pid), Resource::Nofile, limit).unwrap();
}

#[test]
fn a_dashboard_that_runs_out_of_descriptors_says_so_and_goes_on() {
    let place = Place::local();
    let name = place.sandbox_of("host", &[]);
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen(&name);
    terminal.until_seen("running");
    allow_more(terminal.pid(), 0);
    terminal.type_in(F9);
    terminal.until_seen("Too many open f");
    allow_more(terminal.pid(), 100);
    terminal.type_in(F9);
    terminal.until_seen("\u{2713} ok");
    terminal.type_in("q");
    assert_eq!(terminal.end().0, 0);
}
