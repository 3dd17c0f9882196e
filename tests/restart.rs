//! An engine that goes away and comes back in the middle of things; alone in its binary, because no other test may need
//! the engine then.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)] // A test that cannot go on says so by panicking.

#[path = "cli/pty.rs"]
mod pty;
#[path = "cli/support.rs"]
mod support;

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pty::Terminal;
use rustix::process::Signal;
use serde_json::Value;
use support::{Place, Running, until};

/// An engine that this test, and no other meanwhile, may stop and start; and a place on it, cleaned before it is let go.
struct Engine {
    place: Place,
    _alone: MutexGuard<'static, ()>,
}

impl Engine {
    /// Takes it; its scripts are in the environment.
    fn take() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        // A test that failed has said so itself.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            // Without colours, dim is an attribute of the cells.
            place: Place::docker().with("SANDTOP_THEME", "mono"),
            _alone: alone,
        }
    }

    /// Starts, stops or restarts it.
    #[track_caller]
    #[allow(clippy::unused_self)] // Only who has taken it may.
    fn ask_to(&self, verb: &str) {
        let program = std::env::var(format!("SANDTOP_TEST_DOCKERD_{verb}")).unwrap();
        Running::start(Command::new(program)).wait().ok();
    }
}

impl Drop for Engine {
    /// The next test needs it, and the cleaning up.
    fn drop(&mut self) {
        self.ask_to("START");
    }
}

#[test]
#[ignore = "needs a Docker engine that may be stopped: tests/run"]
fn the_dashboard_outlives_a_stop_of_the_engine() {
    let engine = Engine::take();
    let place = &engine.place;
    let name = place.sandbox(&[]);
    let mut terminal = Terminal::start_by(place, &[], &[], (30, 100));
    terminal.until_seen(&name);
    terminal.until_seen("▶ running");
    assert!(!terminal.is_dim(&name), "{}", terminal.screen());

    engine.ask_to("STOP");
    let endpoint = std::env::var("DOCKER_HOST").unwrap();
    terminal.until_seen(&format!("Lost the engine at {endpoint}"));
    terminal.until_seen("Next try in");
    for part in ["Tried: connecting to", "Do: start the engine"] {
        assert!(terminal.screen().contains(part), "{}", terminal.screen());
    }
    assert!(terminal.is_dim(&name), "{}", terminal.screen());
    // It can be used meanwhile.
    terminal.type_in("?");
    terminal.until_seen("Create a sandbox");
    terminal.escape("Create a sandbox");

    engine.ask_to("START");
    terminal.until_gone("Lost the engine");
    // Whether the sandbox has survived is up to the engine's settings; here it has not, and is started from the list.
    terminal.until_seen("■ stopped");
    terminal.type_in("S");
    terminal.until_seen("▶ running");
    assert!(!terminal.is_dim(&name), "{}", terminal.screen());
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
#[ignore = "needs a Docker engine that may be stopped: tests/run"]
fn events_and_figures_go_on_after_a_restart_of_the_engine() {
    let engine = Engine::take();
    let place = &engine.place;
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
    let [lost, set, mark] = ["lost", "shelf", "mark"].map(|word| place.name(word));
    let of = format!("sandtop.shelf.of={set}");
    leave_volume(place, &lost, &[]);
    leave_volume(place, &set, &["--label", "sandtop.shelf=1"]);
    leave_volume(
        place,
        &mark,
        &["--label", "sandtop.shelf=1", "--label", &of],
    );
    let foreign = place.name("foreign");
    place.docker_says(&["volume", "create", &foreign]);

    engine.ask_to("RESTART");
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
    sweep(place, &lost);
    let volumes = place.docker_says(&["volume", "ls", "-q"]);
    for spared in [&set, &mark, &foreign] {
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
