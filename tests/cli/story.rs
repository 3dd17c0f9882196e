//! Processes that write runs, killed at any moment; stores that are read-only, locked, full or damaged; the daily story.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::soak::soak;
use crate::support::{Place, Running, busybox, until};
use crate::terminal::Terminal;

/// Kills in the short version of the loop.
const KILLS: u64 = 16;

fn runs(place: &Place) -> Vec<Value> {
    let all = place.json_ok(&["runs", "-n", "1000"]);
    all.as_array().unwrap().clone()
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn killed_anywhere_no_run_is_lost_and_nothing_in_use_is_reaped() {
    killed_anywhere(&Ground::docker());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn killed_anywhere_before_a_slow_engine_that_cuts_connections() {
    killed_anywhere(&Ground::slow(seed()));
}

#[test]
#[ignore = "needs root: tests/run"]
fn killed_anywhere_as_an_ordinary_user_of_the_local_engine() {
    killed_anywhere(&Ground::ordinary());
}

#[test]
#[ignore = "needs root: tests/run"]
fn killed_anywhere_with_sandboxes_on_a_full_disk() {
    killed_anywhere(&Ground::full());
}

fn seed() -> u64 {
    u64::from(std::process::id()) << 20
}

fn killed_anywhere(ground: &Ground) {
    let seed = seed();
    let told = soak(ground, KILLS, seed);
    eprintln!("the moments follow from {seed}: {told:?}");
}

/// A small file system of its own at a path, until this is dropped.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    /// Mounts it, which takes root.
    fn mount(at: &'a Path, size: &str) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let mut command = Command::new("mount");
        let options = format!("size={size}");
        command
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at);
        Running::start(command).wait().ok();
        Self(at)
    }

    fn read_only(&self) {
        let mut command = Command::new("mount");
        command.args(["-o", "remount,ro"]).arg(self.0);
        Running::start(command).wait().ok();
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let mut command = Command::new("umount");
        command.arg("-l").arg(self.0);
        Running::start(command).wait();
    }
}

/// Checks that a command works, and says once what is wrong with the record.
fn works_and_says(place: &Place, name: &str) {
    let ran = place.run(&["exec", name, "--", "echo", "hi"]).ok();
    assert_eq!(ran.text(), "hi\n");
    assert_eq!(ran.stderr.matches("note:").count(), 1, "{}", ran.stderr);
    let list = place.json_ok(&["ls"]);
    assert_eq!(list[0]["name"], *name);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_store_that_cannot_be_written_costs_the_record_and_nothing_else() {
    let place = Place::docker();
    let state = place.path("state");
    let disk = Disk::mount(&state, "8m");
    let name = place.sandbox(&[]);
    place.run(&["exec", &name, "--", "echo", "before"]).ok();
    disk.read_only();
    works_and_says(&place, &name);
    let past = runs(&place);
    assert_eq!(past.len(), 1, "the past can still be read: {past:?}");
    // Nobody knows what else was used, so nothing is reaped.
    let (_, plan) = place.json(&["reap", "--idle", "0"]);
    assert_eq!(plan[0]["done"], false, "{plan}");
    assert_eq!(place.json_ok(&["ls"])[0]["phase"], "running");
    drop(disk);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_full_disk_costs_the_record_and_nothing_else() {
    let place = Place::docker();
    let state = place.path("state");
    let disk = Disk::mount(&state, "2m");
    let name = place.sandbox(&[]);
    place.run(&["exec", &name, "--", "echo", "before"]).ok();
    // As much as fits.
    let _ = std::fs::write(state.join("filler"), vec![1; 4 << 20]);
    let ran = place.run(&["exec", &name, "--", "seq", "20000"]).ok();
    assert!(
        ran.text().ends_with("20000\n"),
        "the output itself is whole"
    );
    assert!(ran.stderr.contains("note:"), "{}", ran.stderr);
    std::fs::remove_file(state.join("filler")).unwrap();
    let ran = place.run(&["exec", &name, "--", "echo", "after"]).ok();
    assert_eq!((ran.text(), ran.stderr.as_str()), ("after\n", ""));
    assert_eq!(runs(&place)[0]["status"], "ok", "it is recorded again");
    drop(disk);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_store_that_another_process_holds_is_waited_for_and_then_done_without() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let store = rusqlite::Connection::open(place.path("state/sandtop/store.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let running = place.start(&["exec", &name, "--", "echo", "hi"]);
    std::thread::sleep(Duration::from_millis(300));
    store.execute_batch("ROLLBACK").unwrap();
    let ran = running.wait().ok();
    assert_eq!(
        (ran.text(), ran.stderr.as_str()),
        ("hi\n", ""),
        "a short wait is not worth a word"
    );
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = place.run(&["exec", &name, "--", "echo", "hi"]).ok();
    assert_eq!(ran.text(), "hi\n");
    assert_eq!(ran.stderr.matches("note:").count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("database is locked"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn output_that_is_followed_as_json_comes_in_lines() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let go = format!("/workspace/go-{}", place.scope());
    let script = format!("echo one; echo oops >&2; until [ -e {go} ]; do sleep 0.05; done; exit 3");
    let started = place.run(&["exec", &name, "--detach", "--", "sh", "-c", &script]);
    let id = started.ok().text().trim().to_owned();
    let mut follower = place.start(&["--json", "output", &id, "--follow"]);
    follower.until_stdout("oops");
    place.run(&["exec", &name, "--", "touch", &go]).ok();
    let ran = follower.wait().ok();
    let lines: Vec<Value> = ran
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, pieces) = lines.split_last().unwrap();
    assert_eq!((&last["run"], &last["exit_code"]), (&json!(id), &json!(3)));
    let printed = |stream: &str| -> String {
        let pieces = pieces.iter().filter(|piece| piece["stream"] == stream);
        pieces.filter_map(|piece| piece["data"].as_str()).collect()
    };
    assert_eq!(
        (printed("stdout"), printed("stderr")),
        ("one\n".to_owned(), "oops\n".to_owned())
    );
}

/// Who takes part in the daily story: three sandboxes of ours, one of another tool, one whose owner died.
struct Cast {
    idle: String,
    busy: String,
    pinned: String,
    foreign: String,
    orphan: String,
}

impl Cast {
    fn enter(place: &Place) -> Self {
        let [idle, busy, pinned] = ["idle", "busy", "pinned"].map(|word| {
            let name = place.name(word);
            place.run(&["create", &name, "--image", &busybox()]).ok();
            name
        });
        let foreign = foreign(place);
        let label = format!("sandtop.test={}", place.scope());
        let words = ["run", "-d", "--name", &foreign, "--label", &label];
        place.docker_says(&[&words[..], &[&busybox(), "sleep", "600"]].concat());
        place.docker_says(&["exec", "--detach", &busy, "sleep", "600"]);
        place.run(&["pin", &pinned]).ok();
        Self {
            orphan: orphan(place),
            idle,
            busy,
            pinned,
            foreign,
        }
    }
}

/// A container of another tool goes with the story, whatever comes of it.
impl Drop for Cast {
    fn drop(&mut self) {
        let mut command = Command::new("docker");
        command.args(["rm", "-f", "-v", &self.foreign]);
        Running::start(command).wait();
    }
}

/// A place with rules of its own that adopts one foreign name; by default that is `sandbox_*`, which other tests would see.
fn stage(rules: &str) -> Place {
    let place = Place::docker();
    let adopted = foreign(&place);
    place.configured(&format!("{rules}\n[adopt]\nnames = ['{adopted}']\n"))
}

fn foreign(place: &Place) -> String {
    format!("story_{}", place.scope().replace('-', ""))
}

/// `run` answers for the sandbox that it makes; killed, it leaves an orphan.
fn orphan(place: &Place) -> String {
    let script = "until [ -e /workspace/go ]; do sleep 0.1; done";
    std::fs::write(place.path("long.sh"), script).unwrap();
    let owner = place.start(&["run", "long.sh", "--lang", "sh", "--image", &busybox()]);
    until("the orphan-to-be", || {
        place.json_ok(&["runs", "--running"])[0]["status"] == "running"
    });
    owner.signal(Signal::KILL);
    owner.wait();
    let run = place.json_ok(&["runs", "-n", "1"]);
    let name = run[0]["sandbox"].as_str().unwrap().to_owned();
    // While something runs in it, it stays.
    place.docker_says(&["exec", &name, "touch", "/workspace/go"]);
    name
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_daily_story() {
    let place = stage("");
    let cast = Cast::enter(&place);
    let Cast {
        idle,
        busy,
        pinned,
        foreign,
        orphan,
    } = &cast;
    let plan = place.json_ok(&["reap", "--dry-run", "--idle", "0"]);
    let verdict = |plan: &Value, name: &str| {
        let all = plan.as_array().unwrap().iter();
        let mut found = all.filter(|one| one["name"] == name);
        let one = found
            .next()
            .cloned()
            .unwrap_or_else(|| panic!("{name}: {plan}"));
        format!(
            "{} {}",
            one["action"].as_str().unwrap(),
            one["reason"].as_str().unwrap()
        )
    };
    assert_eq!(verdict(&plan, idle), "remove idle");
    assert_eq!(verdict(&plan, busy), "keep busy");
    assert_eq!(verdict(&plan, pinned), "keep pinned");
    assert_eq!(verdict(&plan, foreign), "keep foreign");
    let list = place.json_ok(&["ls", "--all"]);
    let of = |name: &str| {
        let all = list.as_array().unwrap().iter();
        let mut found = all.filter(|one| one["name"] == name);
        found
            .next()
            .cloned()
            .unwrap_or_else(|| panic!("{name}: {list}"))
    };
    assert_eq!(
        (of(orphan)["orphan"].clone(), of(foreign)["owned"].clone()),
        (json!(true), json!(false))
    );
    place.run(&["reap", "--idle", "0"]).ok();
    let left = place.json_ok(&["ls", "--all"]);
    let names: Vec<&str> = left
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert!(!names.contains(&idle.as_str()), "{names:?}");
    for spared in [busy, pinned, foreign] {
        assert!(names.contains(&spared.as_str()), "{spared}: {names:?}");
    }
    assert_eq!(place.json(&["inspect", idle]).1["death"]["cause"], "idle");
}

/// The same in the dashboard: who would go and why, one unticked, then one key.
#[test]
#[ignore = "needs Docker: tests/run"]
fn the_daily_story_in_the_dashboard() {
    let rules = "[manager]\nidle_timeout = 1\norphan_timeout = 1\n";
    let place = stage(rules);
    let spare = place.name("also");
    place.run(&["create", &spare, "--image", &busybox()]).ok();
    let cast = Cast::enter(&place);
    let mut terminal = Terminal::start_by(&place, &[], &[], (48, 160));
    terminal.until_seen("6 running");
    terminal.until_seen("orphan");
    until("all are idle for long enough", || {
        let plan = place.json_ok(&["reap", "--dry-run"]);
        let is_due = |one: &&Value| one["action"] == "remove";
        plan.as_array().unwrap().iter().filter(is_due).count() == 3
    });
    terminal.type_in("R");
    terminal.until_seen("Reap: Space unticks");
    let screen = terminal.screen();
    let told = [
        (&spare, "goes: nobody uses it"),
        (&cast.idle, "goes: nobody uses it"),
        (&cast.orphan, "goes: its owner"),
        (&cast.busy, "stays: something runs in it"),
        (&cast.pinned, "stays: pinned"),
        (&cast.foreign, "stays: made by another tool"),
    ];
    for (name, words) in told {
        let is_told = |line: &&str| line.contains(name.as_str()) && line.contains(words);
        let line = screen.lines().find(is_told);
        let line = line.unwrap_or_else(|| panic!("{name} {words}\n{screen}"));
        assert_eq!(line.contains("[x]"), words.starts_with("goes"), "{line}");
    }
    // The first one is chosen.
    terminal.type_in(" ");
    terminal.until_seen(&format!("[ ] {spare}"));
    terminal.type_in("\r");
    terminal.until_seen("4 running");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
    let left = place.json_ok(&["ls", "--all"]);
    let mut left: Vec<&str> = left
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    left.sort_unstable();
    let mut spared = [&spare, &cast.busy, &cast.pinned, &cast.foreign].map(String::as_str);
    spared.sort_unstable();
    assert_eq!(left, spared);
    for (name, cause) in [(&cast.idle, "idle"), (&cast.orphan, "orphan")] {
        assert_eq!(place.json(&["inspect", name]).1["death"]["cause"], cause);
    }
}

/// One process starts a run, a second follows it, a dashboard shows it live; all agree on its end.
#[test]
#[ignore = "needs Docker: tests/run"]
fn a_run_of_another_process_is_live_in_the_dashboard_and_in_the_history() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen(&name);
    terminal.until_seen("running");
    let script = "echo from-afar; sleep 600";
    let started = place.run(&["exec", &name, "--detach", "--", "sh", "-c", script]);
    let id = started.ok().text().trim().to_owned();
    terminal.until_seen("cli: sh -c");
    terminal.until_seen("from-afar");
    let mut follower = place.start(&["output", &id, "--follow"]);
    follower.until_stdout("from-afar");
    // Its tab is closed, and it goes on; the list of runs brings it back.
    terminal.type_in("3D");
    terminal.until_gone("cli: sh -c");
    assert_eq!(runs(&place)[0]["status"], "running");
    terminal.type_in("1h");
    terminal.until_seen("Runs of");
    terminal.type_in("\r");
    terminal.until_seen("cli: sh -c");
    place.run(&["cancel", &id]).ok();
    terminal.until_seen("cancelled");
    follower.wait();
    assert_eq!(runs(&place)[0]["status"], "cancelled");
    terminal.type_in("q");
    assert_eq!(terminal.end().0, 0, "nothing is lost, so nobody is asked");
}
