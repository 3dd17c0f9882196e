//! A restart of the engine in the middle of things; alone in its binary, because no other test may need the engine then.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)] // A test that cannot go on says so by panicking.

#[path = "cli/support.rs"]
mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use support::{Place, Running, until};

#[test]
fn events_and_figures_go_on_after_a_restart_of_the_engine() {
    let Ok(restart) = std::env::var("SANDTOP_TEST_DOCKERD_RESTART") else {
        eprintln!(
            "SKIPPED: SANDTOP_TEST_DOCKERD_RESTART is not set, so no engine may be restarted"
        );
        return;
    };
    let Some(place) = Place::docker() else { return };
    let name = place.sandbox(&[]);
    let mut events = place.start(&["--json", "events", "--follow"]);
    until("it is connected", || {
        events.stderr_so_far().contains("connected")
    });
    let mut stats = place.start(&["--json", "stats", "--watch"]);
    stats.until_stdout(&name);
    let mut exec = place.start(&["exec", &name, "--", "sh", "-c", "echo begun; sleep 54321"]);
    exec.until_stdout("begun");

    // Nothing makes an engine forget these, but `reap` finds those of ours that nobody needs.
    let [lost, shelf, mark] = ["lost", "shelf", "mark"].map(|word| place.name(word));
    let of = format!("sandtop.shelf.of={shelf}");
    leave_volume(&place, &lost, &[]);
    leave_volume(&place, &shelf, &["--label", "sandtop.shelf=1"]);
    leave_volume(
        &place,
        &mark,
        &["--label", "sandtop.shelf=1", "--label", &of],
    );
    let foreign = place.name("foreign");
    place.docker_says(&["volume", "create", &foreign]);

    Running::start(Command::new(restart)).wait().ok();
    exec.wait().exits(125).says("went away");
    let ended = place.json_ok(&["inspect", &name]);
    if ended["phase"] != "running" {
        assert_eq!(ended["death"]["cause"], "engine_restart", "{ended}");
        let told = place.json_ok(&["events"]);
        let told = told.as_array().unwrap().iter();
        let mut deaths = told.filter(|e| e["name"] == name.as_str() && e["what"] == "death");
        assert!(deaths.any(|e| e["cause"] == "engine_restart"));
    }

    // Whether the sandbox survives is up to the engine's settings; then it runs again.
    place.run(&["start", &name]).ok();
    let before = stats.stdout_so_far().len();
    until("figures come again", || {
        stats.stdout_so_far().len() > before
    });
    let later = place.name("later");
    place
        .run(&["create", &later, "--image", &support::busybox()])
        .ok();
    events.until_stdout(&later);
    stats.until_stdout(&later);
    place.run(&["rm", "-f", &later]).ok();
    events.until_stdout("\"removed\"");
    for running in [events, stats] {
        assert!(
            running.stderr_so_far().matches("connected").count() >= 2,
            "{}",
            running.stderr_so_far()
        );
        running.signal(Signal::INT);
        for line in running.wait().exits(130).text().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value["name"].is_string());
        }
    }
    sweep(&place, &lost);
    let volumes = place.docker_says(&["volume", "ls", "-q"]);
    for spared in [&shelf, &mark, &foreign] {
        assert!(
            volumes.lines().any(|name| name == spared),
            "{spared} is gone"
        );
    }
    place.docker_says(&["volume", "rm", &foreign]);
}

/// A volume that carries our label and belongs to no sandbox.
fn leave_volume(place: &Place, name: &str, more: &[&str]) {
    let scope = format!("sandtop.scope={}", place.scope());
    let label = ["--label", &scope];
    place.docker_says(&[&["volume", "create"], &label[..], more, &[name]].concat());
}

/// Reaps until a leftover is gone; one that is younger than a minute may belong to a sandbox that is being made.
fn sweep(place: &Place, lost: &str) {
    let begin = Instant::now();
    let is_there = || {
        let volumes = place.docker_says(&["volume", "ls", "-q"]);
        volumes.lines().any(|name| name == lost)
    };
    while is_there() {
        assert!(
            begin.elapsed() < Duration::from_secs(90),
            "{lost} is still there"
        );
        std::thread::sleep(Duration::from_secs(1));
        place.run(&["reap"]).ok();
    }
}
