//! What happened, told once: one event for each end of a sandbox, with its cause, and one for each run.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, busybox, until};

/// The words of everything that happened to a sandbox; of an end its cause, of a command how it ended.
fn story(place: &Place, name: &str) -> Vec<String> {
    let events = place.json_ok(&["events"]);
    let own = events.as_array().unwrap().iter();
    let own = own.filter(|event| event["name"] == name);
    own.map(told).collect()
}

fn told(event: &Value) -> String {
    let more = [&event["cause"], &event["status"]];
    let more = more.iter().find_map(|word| word.as_str());
    let what = event["what"].as_str().unwrap();
    more.map_or_else(|| what.to_owned(), |more| format!("{what} {more}"))
}

fn cause(place: &Place, name: &str) -> Value {
    place.json(&["inspect", name]).1["death"]["cause"].clone()
}

/// Lets one sandbox live several times, each time ended in another way.
fn live_and_die(place: &Place, image: &[&str]) {
    let name = place.name("s");
    place.run(&[&["create", &name], image].concat()).ok();
    place
        .run(&["exec", &name, "--", "sh", "-c", "exit 3"])
        .exits(3);
    place.run(&["stop", &name]).ok();
    assert_eq!(cause(place, &name), "stopped");
    place.run(&["start", &name]).ok();
    place.run(&["kill", &name]).ok();
    assert_eq!(
        cause(place, &name),
        "killed",
        "the second end has its own cause"
    );
    place.run(&["start", &name]).ok();
    place.run(&["restart", &name]).ok();
    place.run(&["rm", "-f", &name]).ok();
    assert_eq!(cause(place, &name), "removed");
    let lives = [
        "created",
        "started",
        "exec nonzero",
        "death stopped",
        "started",
        "death killed",
        "started",
        "death stopped",
        "restarted",
        "death removed",
    ];
    assert_eq!(story(place, &name), lives);
    let text = place.run(&["events"]).ok();
    assert!(text.text().contains("was removed by "), "{}", text.text());
    assert!(
        !text.text().contains("killed or out of memory"),
        "{}",
        text.text()
    );
}

#[test]
fn each_end_and_each_run_is_one_event() {
    live_and_die(&Place::local(), &[]);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn each_end_and_each_run_is_one_event_in_docker_too() {
    live_and_die(&Place::docker(), &["--image", &busybox()]);
}

#[test]
fn a_removal_of_what_had_ended_says_by_whom() {
    let place = Place::local();
    place.run(&["create", "a"]).ok();
    place.run(&["stop", "a"]).ok();
    place.run(&["rm", "a"]).ok();
    assert_eq!(
        story(&place, "a"),
        ["created", "started", "death stopped", "removed"]
    );
    let events = place.json_ok(&["events"]);
    let last = events.as_array().unwrap().last().unwrap();
    assert!(
        last["by"].as_str().is_some_and(|by| by.contains("cli")),
        "{last}"
    );
    assert_eq!(cause(&place, "a"), json!("stopped"));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn ends_by_other_tools_are_one_event_also_for_followers() {
    let place = Place::docker();
    let mut events = place.start(&["--json", "events", "--follow"]);
    until("it is connected", || {
        events.stderr_so_far().contains("connected")
    });
    let name = place.sandbox(&[]);
    place.run(&["exec", &name, "--", "true"]).ok();
    place.docker_says(&["stop", "-t", "1", &name]);
    events.until_stdout("stopped_outside");
    place.docker_says(&["start", &name]);
    place.docker_says(&["rm", "-f", "-v", &name]);
    events.until_stdout("removed_outside");
    events.signal(Signal::INT);
    let followed = events.wait().exits(130);
    let lines = followed.text().lines();
    let lines: Vec<String> = lines
        .map(|line| told(&serde_json::from_str(line).unwrap()))
        .collect();
    let expected = [
        "created",
        "started",
        "exec ok",
        "death stopped_outside",
        "started",
        "death removed_outside",
    ];
    assert_eq!(lines, expected);
    assert_eq!(story(&place, &name), expected);
}

fn bomb(place: &Place, image: &[&str]) {
    let name = place.name("b");
    place
        .run(&[&["create", &name, "--pids", "24"], image].concat())
        .ok();
    let script = "i=0; while [ $i -lt 60 ]; do sleep 9 & i=$((i+1)); done; sleep 9";
    place.run(&["exec", &name, "--timeout", "1.5", "--", "sh", "-c", script]);
    let events = place.json_ok(&["events"]);
    let all = events.as_array().unwrap().iter();
    let told: Vec<&Value> = all.filter(|event| event["what"] == "pids_limit").collect();
    assert_eq!(told.len(), 1, "{events}");
    assert!(told[0]["refused"].as_u64().is_some_and(|count| count > 0));
    let list = place.run(&["ls"]).ok();
    assert!(list.text().contains(" pids "), "{}", list.text());
    place.run(&["rm", "-f", &name]).ok();
}

/// Tells whether this process may limit processes by the kernel's groups, which is what counts refusals.
fn has_cgroups() -> bool {
    rustix::process::getuid().is_root()
}

#[test]
fn processes_that_the_kernel_refused_are_told() {
    if has_cgroups() {
        bomb(&Place::local(), &[]);
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn processes_that_the_kernel_refused_are_told_in_docker_too() {
    bomb(&Place::docker(), &["--image", &busybox()]);
}
