//! Where few files may be open at once, sandtop says so instead of breaking.

use std::process::Command;

use crate::pty::Terminal;
use crate::support::{Place, Ran, Running};

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
