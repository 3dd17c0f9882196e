//! Idle time, reaping, orphans and causes of death, with a real engine.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, busybox, until};

fn one(list: &Value, name: &str) -> Value {
    let all = list.as_array().unwrap().iter();
    let mut found = all.filter(|one| one["name"] == name);
    found
        .next()
        .cloned()
        .unwrap_or_else(|| panic!("{name} in {list}"))
}

fn create(place: &Place, word: &str) -> String {
    let name = place.name(word);
    place.run(&["create", &name, "--image", &busybox()]).ok();
    name
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_idle_go_and_the_busy_and_pinned_stay() {
    let place = Place::docker();
    let [idle, busy, pinned, other] =
        ["idle", "busy", "pinned", "other"].map(|w| create(&place, w));
    place.run(&["pin", &pinned]).ok();
    let run = place
        .run(&["exec", &busy, "--detach", "--", "sleep", "300"])
        .ok();
    // Something that another tool runs counts as well.
    place.docker_says(&["exec", "--detach", &other, "sleep", "300"]);
    let list = place.json_ok(&["ls"]);
    assert_eq!(one(&list, &busy)["busy"], true);
    assert_eq!(one(&list, &other)["busy"], true);
    assert_eq!(one(&list, &pinned)["pinned"], true);
    assert_eq!(one(&list, &pinned)["reap_in_s"], Value::Null);
    let left = one(&list, &idle)["reap_in_s"].as_u64().unwrap();
    assert!((3000..=3600).contains(&left), "{left}");
    let plan = place.json_ok(&["reap", "--dry-run", "--idle", "0"]);
    let verdicts = [&idle, &busy, &pinned, &other].map(|name| {
        let one = one(&plan, name);
        (one["action"].clone(), one["reason"].clone())
    });
    let stays = |why: &str| (json!("keep"), json!(why));
    let expected = [
        (json!("remove"), json!("idle")),
        stays("busy"),
        stays("pinned"),
        stays("busy"),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(
        place.json_ok(&["ls"]).as_array().map(Vec::len),
        Some(4),
        "a dry run does nothing"
    );
    let done = place.json_ok(&["reap", "--idle", "0"]);
    assert_eq!(one(&done, &idle)["done"], true);
    let list = place.json_ok(&["ls", "--all"]);
    let left: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(left, [&busy, &pinned, &other]);
    let (code, gone) = place.json(&["inspect", &idle]);
    assert_eq!(
        (code, &gone["death"]["cause"], &gone["phase"]),
        (4, &json!("idle"), &json!("lost"))
    );
    // When the reason to stay is gone, so are they.
    place.run(&["cancel", run.text().trim()]).ok();
    place.run(&["unpin", &pinned]).ok();
    place.run(&["reap", "--idle", "0"]).ok();
    let left = place.json_ok(&["ls", "--all"]);
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn two_reapers_at_once_do_no_harm() {
    let place = Place::docker();
    for n in 0..3 {
        create(&place, &format!("n{n}"));
    }
    let reapers: Vec<_> = (0..3)
        .map(|_| place.start(&["--json", "reap", "--idle", "0"]))
        .collect();
    let mut removed = 0;
    for reaper in reapers {
        let ran = reaper.wait();
        let found = ran.json();
        removed += found
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["done"] == true)
            .count();
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    }
    assert_eq!(removed, 3, "each is removed once");
    assert_eq!(place.json_ok(&["ls", "--all"]), json!([]));
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn without_a_record_nothing_is_reaped() {
    let place = Place::docker();
    let name = create(&place, "s");
    // Somebody lost the store: nobody knows when anything was used, so all time counts from now.
    fs::remove_dir_all(place.path("state")).unwrap();
    let plan = place.json_ok(&["reap", "--dry-run", "--idle", "30"]);
    assert_eq!(one(&plan, &name)["action"], "later");
    // And with a store that cannot be used, nothing is ever due.
    fs::remove_dir_all(place.path("state")).unwrap();
    fs::create_dir_all(place.path("state/sandtop/store.db")).unwrap();
    let plan = place.json_ok(&["reap", "--idle", "0"]);
    assert_eq!(
        (&one(&plan, &name)["action"], &one(&plan, &name)["reason"]),
        (&json!("keep"), &json!("unknown"))
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn every_end_has_its_cause_also_afterwards() {
    let place = Place::docker();
    let words = [
        "bomb", "slow", "removed", "stopped", "killed", "ours", "exit",
    ];
    let [bomb, slow, removed, stopped, killed, ours, exit] = words.map(|word| create(&place, word));
    let script = "echo before; x=a; while :; do x=$x$x; done";
    place.docker_says(&["update", "--memory", "32m", "--memory-swap", "32m", &bomb]);
    place
        .run(&["exec", &bomb, "--", "sh", "-c", script])
        .exits(137);
    place
        .run(&["exec", &slow, "--timeout", "0.3", "--", "sleep", "9"])
        .exits(124);
    place.docker_says(&["rm", "-f", "-v", &removed]);
    place.docker_says(&["stop", "-t", "1", &stopped]);
    place.docker_says(&["kill", &killed]);
    place.run(&["kill", &ours]).ok();
    place
        .run(&["exec", &exit, "--", "sh", "-c", "echo last words"])
        .ok();
    place.run(&["exec", &exit, "--", "kill", "1"]);
    until("its end", || {
        place
            .docker_says(&["ps", "-q", "--filter", &format!("name={exit}")])
            .is_empty()
    });
    let list = place.json_ok(&["ls", "--all"]);
    assert_eq!(one(&list, &bomb)["last_end"]["cause"], "oom");
    assert_eq!(one(&list, &slow)["last_end"]["cause"], "timeout");
    let cause = |name: &str| place.json(&["inspect", name]).1["death"]["cause"].clone();
    let expected = [
        (&removed, "removed_outside"),
        (&stopped, "stopped_outside"),
        (&killed, "killed_outside"),
        (&ours, "killed"),
        (&exit, "exit"),
    ];
    for (name, word) in expected {
        assert_eq!(cause(name), word, "{name}");
    }
    place
        .run(&["rm", "-f", &bomb, &slow, &stopped, &killed, &ours, &exit])
        .ok();
    for (name, word) in expected {
        assert_eq!(cause(name), word, "{name} afterwards");
    }
    let (code, gone) = place.json(&["inspect", &bomb]);
    assert_eq!((code, &gone["last_end"]["cause"]), (4, &json!("oom")));
    assert_eq!(gone["death"]["last_lines"], json!(["before"]));
    assert!(
        gone["death"]["by"]
            .as_str()
            .is_some_and(|by| by.contains("cli"))
    );
    let events = place.json_ok(&["events"]);
    let told = |name: &str, what: &str, key: &str, value: &str| {
        let all = events.as_array().unwrap();
        all.iter()
            .any(|e| e["name"] == name && e["what"] == what && e[key] == value)
    };
    assert!(told(&bomb, "exec", "status", "oom") && told(&slow, "exec", "status", "timeout"));
    for (name, word) in expected {
        assert!(told(name, "death", "cause", word), "{name}: {events}");
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_sandbox_that_is_started_again_lives() {
    let place = Place::docker();
    let name = create(&place, "s");
    place.run(&["stop", &name]).ok();
    assert_eq!(
        place.json_ok(&["inspect", &name])["death"]["cause"],
        "stopped"
    );
    place.run(&["start", &name]).ok();
    assert_eq!(place.json_ok(&["inspect", &name])["death"], Value::Null);
    // The second end has a cause of its own.
    place.docker_says(&["kill", &name]);
    assert_eq!(
        place.json_ok(&["inspect", &name])["death"]["cause"],
        "killed_outside"
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_reaper_that_is_killed_leaves_no_claim_behind() {
    let place = Place::docker();
    let name = create(&place, "s");
    for round in 0..4 {
        let reaper = place.start(&["reap", "--idle", "3600", "--watch"]);
        std::thread::sleep(std::time::Duration::from_millis(40 * round));
        reaper.signal(Signal::KILL);
        reaper.wait();
        place.run(&["exec", &name, "--", "true"]).ok();
    }
}

/// Tells for how many seconds nothing was done in a sandbox.
fn idle(place: &Place, name: &str) -> u64 {
    let list = place.json_ok(&["ls", "--all"]);
    one(&list, name)["idle_s"].as_u64().unwrap()
}

fn look_without_using(place: &Place, image: &[&str]) {
    place.run(&[&["create", "a"], image].concat()).ok();
    place.feed(b"x", &["files", "put", "a", "f"]).ok();
    until("it is idle", || idle(place, "a") >= 4);
    for look in [
        &["files", "ls", "a", "."][..],
        &["files", "cat", "a", "f"],
        &["files", "stat", "a", "f"],
        &["inspect", "a"],
        &["stats", "a"],
        &["top", "a"],
        &["changes", "a"],
        &["cp", "a:f", "."],
    ] {
        place.run(look).ok();
        let seconds = idle(place, "a");
        assert!(seconds >= 4, "{look:?} is taken for a use: {seconds} s");
    }
    place.run(&["files", "mkdir", "a", "d"]).ok();
    assert!(idle(place, "a") < 4, "a change is a use");
    place.run(&["rm", "-f", "a"]).ok();
}

#[test]
fn looking_is_not_use() {
    look_without_using(&Place::local(), &[]);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn looking_is_not_use_in_docker_either() {
    look_without_using(&Place::docker(), &["--image", &busybox()]);
}

#[test]
fn what_is_stopped_is_reaped_in_its_time() {
    let place = Place::local();
    place.run(&["create", "a"]).ok();
    place.run(&["stop", "a"]).ok();
    let plan = place.json_ok(&["reap", "--dry-run", "--idle", "0"]);
    assert_eq!(one(&plan, "a")["action"], "remove", "{plan}");
    place.run(&["reap", "--idle", "0"]).ok();
    assert_eq!(place.json_ok(&["ls", "--all"]), json!([]));
}

#[test]
fn what_create_and_runs_say_is_what_the_lists_say() {
    let place = Place::local();
    let made = place.json_ok(&["create", "a"]);
    let left = made["reap_in_s"].as_u64().unwrap();
    assert!((3500..=3600).contains(&left), "{made}");
    assert_eq!(made["busy"], false);
    let ran = place.json(&["exec", "a", "--", "true"]).1;
    let listed = place.json_ok(&["runs"]);
    let known = one_run(&listed);
    let fields = "run sandbox status exit_code signal truncated duration_ms peak_memory_bytes started_at source by";
    for field in fields.split(' ') {
        assert!(known.get(field).is_some(), "{field} in {known}");
        assert!(ran.get(field).is_some(), "{field} in {ran}");
    }
    assert!(
        known["by"].as_str().is_some_and(|by| by.contains("cli")),
        "{known}"
    );
}

fn one_run(list: &Value) -> Value {
    let all = list.as_array().unwrap();
    assert_eq!(all.len(), 1, "{list}");
    all[0].clone()
}
