//! What programs know of the size of their sandbox, and what is said of those that did not keep to it.

use serde_json::Value;

use crate::support::{Place, busybox};

/// Variables that tell the number of cores, with what they say in a sandbox of one.
const HINTS: [(&str, &str); 10] = [
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("NUMEXPR_NUM_THREADS", "1"),
    ("GOMAXPROCS", "1"),
    ("PYTHON_CPU_COUNT", "1"),
    ("RAYON_NUM_THREADS", "1"),
    ("TOKIO_WORKER_THREADS", "1"),
    ("CARGO_BUILD_JOBS", "1"),
    ("UV_THREADPOOL_SIZE", "4"),
];

fn variable(place: &Place, sandbox: &str, name: &str) -> String {
    let script = format!("echo ${name}");
    let ran = place.run(&["exec", sandbox, "--", "sh", "-c", &script]);
    ran.ok().text().trim().to_owned()
}

fn programs_know_their_cores(place: &Place, more: &[&str]) {
    let create = |name: &str, own: &[&str]| {
        let args = [&["create", name, "--cpus", "0.5"], more, own].concat();
        place.run(&args).ok();
    };
    let [plain, own] = ["plain", "own"].map(|word| place.name(word));
    create(&plain, &[]);
    for (name, value) in HINTS {
        assert_eq!(variable(place, &plain, name), value, "{name}");
    }
    create(&own, &["--env", "GOMAXPROCS=3"]);
    assert_eq!(variable(place, &own, "GOMAXPROCS"), "3");
    assert_eq!(variable(place, &own, "OMP_NUM_THREADS"), "1");
    let args = [
        "exec",
        &own,
        "--env",
        "OMP_NUM_THREADS=5",
        "--",
        "sh",
        "-c",
        "echo $OMP_NUM_THREADS",
    ];
    assert_eq!(place.run(&args).ok().text(), "5\n");
}

#[test]
fn local_programs_know_their_cores() {
    let place = Place::local();
    programs_know_their_cores(&place, &[]);
    // Neither the program nor the C library is fooled by the cores of this machine.
    let count = [
        "exec",
        &place.name("plain"),
        "--",
        "getconf",
        "_NPROCESSORS_ONLN",
    ];
    assert_eq!(place.run(&count).ok().text(), "1\n");
    let count = ["exec", &place.name("plain"), "--", "nproc"];
    assert_eq!(place.run(&count).ok().text(), "1\n");
    let code = "import os; print(os.cpu_count())";
    let ran = place.feed(
        code.as_bytes(),
        &["run", "-l", "py", "-s", &place.name("plain")],
    );
    assert_eq!(ran.ok().text(), "1\n");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn programs_of_docker_know_their_cores() {
    programs_know_their_cores(&Place::docker(), &["--image", &busybox()]);
}

#[test]
fn hints_can_be_turned_off() {
    let place = Place::local().configured("[sandbox]\nsize_hints = false\n");
    place.run(&["create", "plain"]).ok();
    for (name, _) in HINTS {
        assert_eq!(variable(&place, "plain", name), "", "{name}");
    }
}

/// Starts more processes than there may be; those that were started stay.
const TOO_MANY: &str = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 30 & done; echo started";

fn the_process_limit_is_named(place: &Place, more: &[&str]) {
    let name = place.name("few");
    let args = [&["create", &name, "--pids", "24"], more].concat();
    place.run(&args).ok();
    let run = ["exec", &name, "--", "sh", "-c", TOO_MANY];
    let text = place.run(&run);
    assert!(
        text.stderr
            .contains("limit of 24 processes and threads was reached; "),
        "{text:?}"
    );
    place.run(&["restart", &name]).ok();
    let (_, value) = place.json(&run);
    let reached = &value["reached_limits"][0];
    assert_eq!(
        (reached["limit"].as_str(), reached["max"].as_u64()),
        (Some("pids"), Some(24))
    );
    assert!(
        reached["refused"]
            .as_u64()
            .is_some_and(|refused| refused > 0),
        "{value}"
    );
    place.run(&["restart", &name]).ok();
    let fine = place.json_ok(&["exec", &name, "--", "true"]);
    assert_eq!(fine["reached_limits"], Value::Array(Vec::new()));
}

fn the_memory_limit_is_named(place: &Place, more: &[&str]) {
    let name = place.name("small");
    let args = [&["create", &name, "--memory", "24m"], more].concat();
    place.run(&args).ok();
    let run = [
        "exec",
        &name,
        "--",
        "sh",
        "-c",
        "head -c 200m /dev/zero | tail -c 199m",
    ];
    let text = place.run(&run).exits(137);
    assert!(
        text.stderr.contains("limit of 24 MiB was reached"),
        "{text:?}"
    );
    let (code, value) = place.json(&run);
    assert_eq!((code, &value["status"]), (137, &Value::from("oom")));
    let reached = &value["reached_limits"][0];
    assert_eq!(reached["limit"], "memory");
    assert_eq!(reached["max_bytes"], 24 << 20);
}

#[test]
#[ignore = "needs root: tests/run"]
fn local_runs_name_the_limit_that_they_reached() {
    let place = Place::local();
    the_process_limit_is_named(&place, &[]);
    the_memory_limit_is_named(&place, &[]);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn runs_of_docker_name_the_limit_that_they_reached() {
    let place = Place::docker();
    the_process_limit_is_named(&place, &["--image", &busybox()]);
    the_memory_limit_is_named(&place, &["--image", &busybox()]);
}
