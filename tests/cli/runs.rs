//! Runs as every process sees them: recorded, followed, fed, cancelled, and ended truly.

use std::os::unix::fs::DirBuilderExt;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, until};

/// Reads one run by the start of its id.
fn run(place: &Place, id: &str) -> Value {
    place.json_ok(&["output", id])
}

fn newest(place: &Place) -> Value {
    let runs = place.json_ok(&["runs", "-n", "1"]);
    runs[0].clone()
}

fn detach(place: &Place, name: &str, more: &[&str], script: &str) -> String {
    let args = [
        &["exec", name, "--detach"],
        more,
        &["--", "sh", "-c", script],
    ]
    .concat();
    let id = place.run(&args).ok().text().trim().to_owned();
    assert_eq!(id.len(), 16, "{id}");
    id
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn every_exec_is_recorded() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    place.run(&["runs"]).ok().says("No runs yet");
    let script = "echo out; echo err >&2; exit 3";
    let ran = place.json(&["exec", &name, "--", "sh", "-c", script]).1;
    let seen = run(&place, ran["run"].as_str().unwrap());
    for field in [
        "run",
        "sandbox",
        "status",
        "exit_code",
        "stdout",
        "stderr",
        "source",
        "signal",
    ] {
        assert_eq!(seen[field], ran[field], "{field}");
    }
    assert_eq!(seen["command"], json!(["sh", "-c", script]));
    assert_eq!(seen["bytes"], json!({"stdout": 4, "stderr": 4}));
    assert!(seen["peak_memory_bytes"].is_u64() && seen["ended_at"].is_string());
    place
        .run(&["exec", &name, "--timeout", "0.3", "--", "sleep", "9"])
        .exits(124);
    assert_eq!(newest(&place)["status"], "timeout");
    let by_name = place.json_ok(&["runs", &name]);
    assert_eq!(by_name.as_array().map(Vec::len), Some(2));
    assert_eq!(place.json_ok(&["runs", "nobody"]), json!([]));
    place.run(&["output", "zzzz"]).exits(4).says("sandtop runs");
    // Of a sandbox that was removed the history stays, but not what it printed.
    place.run(&["rm", "-f", &name]).ok();
    let left = place.json_ok(&["output", ran["run"].as_str().unwrap()]);
    assert_eq!(
        (&left["status"], &left["stdout"]),
        (&json!("nonzero"), &json!(""))
    );
    let spools = std::fs::read_dir(place.path("state/sandtop/runs")).unwrap();
    assert_eq!(spools.count(), 0);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn much_output_keeps_its_head_and_tail() {
    let place = Place::docker();
    let place = place.configured("[store]\nrun_output = '64k'\n");
    let name = place.sandbox(&[]);
    let script = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); echo line-$i; done";
    let all = place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    let seen = newest(&place);
    let kept = place
        .run(&["output", seen["run"].as_str().unwrap()])
        .ok()
        .says("not kept");
    assert!(kept.text().starts_with("line-1\n") && kept.text().ends_with("line-40000\n"));
    assert_eq!(seen["bytes"]["stdout"], all.stdout.len());
    assert_eq!(
        seen["truncated"]["stdout"],
        all.stdout.len() - kept.stdout.len()
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn how_much_a_run_prints_is_told_while_it_runs() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let id = detach(&place, &name, &[], "while echo line; do sleep 0.05; done");
    let printed = || newest(&place)["bytes"]["stdout"].as_u64().unwrap();
    until("some output", || printed() > 0);
    let some = printed();
    until("more output", || printed() > some);
    place.run(&["cancel", &id]).ok();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_detached_run_is_followed_fed_and_seen_from_other_processes() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let script = "while read line; do echo got $line; done; echo over; exit 4";
    let id = detach(&place, &name, &["-i"], script);
    assert_eq!(run(&place, &id)["status"], "running");
    let follower = place.start(&["output", &id, "--follow"]);
    place.feed(b"one\n", &["input", &id]).ok();
    until("the first answer", || {
        run(&place, &id)["stdout"] == "got one\n"
    });
    place.feed(b"two\n", &["input", &id, "--end"]).ok();
    let heard = follower.wait().ok();
    assert_eq!(heard.text(), "got one\ngot two\nover\n");
    let ended = run(&place, &id);
    assert_eq!(
        (&ended["status"], &ended["exit_code"]),
        (&json!("nonzero"), &json!(4))
    );
    assert_eq!(ended["detached"], true);
    place
        .feed(b"late\n", &["input", &id])
        .exits(1)
        .says("has ended already");
    let deaf = detach(&place, &name, &[], "sleep 30");
    place
        .feed(b"x", &["input", &deaf])
        .exits(1)
        .says("takes no input");
    let follower = place.start(&["--json", "output", &deaf, "--follow"]);
    let cancelled = place.json_ok(&["cancel", &deaf]);
    assert_eq!(cancelled["status"], "cancelled");
    let told = follower.wait().ok();
    let last: Value = serde_json::from_str(told.text().lines().last().unwrap()).unwrap();
    assert_eq!(last["status"], "cancelled");
    place
        .run(&["cancel", &deaf])
        .exits(1)
        .says("has ended already");
    place.run(&["stop", &name]).ok();
    place
        .run(&["exec", &name, "--detach", "--", "true"])
        .exits(125)
        .says("sandtop start");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_run_whose_holder_was_killed_gets_its_true_end() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let go = format!("/workspace/go-{}", place.scope);
    let script = format!("echo started; until [ -e {go} ]; do sleep 0.05; done; exit 6");
    let holder = place.start(&["exec", &name, "--", "sh", "-c", &script]);
    until("the run", || {
        let runs = place.json_ok(&["runs", "--running"]);
        runs.as_array().is_some_and(|runs| runs.len() == 1)
    });
    until("its output", || {
        newest(&place)["bytes"].is_object() && {
            let id = newest(&place)["run"].as_str().unwrap().to_owned();
            run(&place, &id)["stdout"] == "started\n"
        }
    });
    holder.signal(Signal::KILL);
    holder.wait();
    assert_eq!(newest(&place)["status"], "running", "its processes live on");
    place.run(&["exec", &name, "--", "touch", &go]).ok();
    until("the true end", || {
        let runs = place.json_ok(&["runs", "-n", "2"]);
        runs[1]["status"] == "nonzero" && runs[1]["exit_code"] == 6
    });
    // With its sandbox, nothing tells how it ended.
    let holder = place.start(&["exec", &name, "--", "sleep", "60"]);
    until("the run", || newest(&place)["status"] == "running");
    holder.signal(Signal::KILL);
    holder.wait();
    place.docker_says(&["rm", "-f", "-v", &name]);
    assert_eq!(newest(&place)["status"], "lost");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn ten_processes_at_once_are_all_recorded() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let running: Vec<_> = (0..10)
        .map(|n| place.start(&["exec", &name, "--", "echo", &n.to_string()]))
        .collect();
    for one in running {
        let ran = one.wait().ok();
        assert_eq!(ran.stderr, "");
    }
    let runs = place.json_ok(&["runs"]);
    let done = runs
        .as_array()
        .unwrap()
        .iter()
        .filter(|run| run["status"] == "ok");
    assert_eq!(done.count(), 10);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_broken_store_costs_the_record_and_nothing_else() {
    let place = Place::docker();
    let store = place.path("state/sandtop/store.db");
    let mut private = std::fs::DirBuilder::new();
    private.recursive(true).mode(0o700).create(&store).unwrap();
    let name = place.name("s");
    let image = crate::support::busybox();
    place
        .run(&["create", &name, "--image", &image])
        .ok()
        .says("store.db");
    let ran = place.run(&["exec", &name, "--", "echo", "hi"]).ok();
    assert_eq!(ran.text(), "hi\n");
    assert_eq!(ran.stderr.matches("note:").count(), 1, "{}", ran.stderr);
    std::fs::remove_dir(&store).unwrap();
    std::fs::write(&store, vec![b'x'; 9000]).unwrap();
    let ran = place.run(&["exec", &name, "--", "echo", "hi"]).ok();
    assert_eq!(ran.text(), "hi\n");
    let ran = ran.says("was damaged; it was set aside as");
    assert_eq!(ran.stderr.matches("note:").count(), 1, "{}", ran.stderr);
    let files = std::fs::read_dir(store.parent().unwrap()).unwrap();
    let set_aside = files.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("damaged")
    });
    assert_eq!(set_aside.count(), 1);
}

#[test]
fn detached_runs_of_a_sandbox_have_a_cap() {
    let place = Place::local().configured("[manager]\nmax_detached = 2\n");
    let name = place.sandbox_of("host", &[]);
    let first = detach(&place, &name, &[], "sleep 60");
    detach(&place, &name, &[], "sleep 60");
    let more = ["exec", &name, "--detach", "--", "sleep", "60"];
    let refused = place.run(&more).exits(5).says("2 detached runs already");
    assert!(
        refused.stderr.contains("max_detached"),
        "{}",
        refused.stderr
    );
    // Others are not counted, and one that has ended makes room.
    place.run(&["exec", &name, "--", "true"]).ok();
    place.run(&["cancel", &first]).ok();
    until("the first run has ended", || {
        run(&place, &first)["status"] == "cancelled"
    });
    place.run(&more).ok();
}

/// Takes every place for a process, and keeps it.
const FILL: &str = "import os, time
try:
    while os.fork(): pass
except OSError: print('full', flush=True)
time.sleep(300)";

/// At its process limit a sandbox answers alike, whatever engine runs it.
fn detaching_at_the_process_limit(place: &Place, more: &[&str]) {
    let name = place.name("full");
    let args = [&["create", &name, "--pids", "16"], more].concat();
    place.run(&args).ok();
    let fill = ["exec", &name, "--detach", "--", "python3", "-c", FILL];
    let filling = place.run(&fill).ok().text().trim().to_owned();
    until("there is no room", || {
        run(place, &filling)["stdout"] == "full\n"
    });
    // The engine itself may fail to start our guest there; then it says why in its own words, and the code is the same.
    let explains =
        |said: &str| said.starts_with("sandtop: true: ") && said.contains("process limit");
    let ran = place.run(&["exec", &name, "--", "true"]).exits(126);
    assert!(explains(&ran.stderr) && ran.text().is_empty(), "{ran:?}");
    let detached = place.run(&["exec", &name, "--detach", "--", "true"]).ok();
    let detached = detached.text().trim().to_owned();
    until("it has ended", || {
        run(place, &detached)["status"] == "nonzero"
    });
    let ended = run(place, &detached);
    assert_eq!(ended["exit_code"], 126);
    assert!(explains(ended["stderr"].as_str().unwrap()), "{ended}");
}

#[test]
#[ignore = "needs root: tests/run"]
fn local_runs_that_find_no_room_say_so() {
    detaching_at_the_process_limit(&Place::local(), &[]);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn runs_of_docker_that_find_no_room_say_so() {
    let image = crate::support::python();
    detaching_at_the_process_limit(&Place::docker(), &["--image", &image]);
}
