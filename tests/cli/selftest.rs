//! `selftest`: what was declared of a sandbox against what trying finds, and nothing stays.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Place, Ran, busybox, until};

/// Checks that every measure was tried and holds, or is a gap that `inspect` names as well.
fn check(ran: &Ran) -> Value {
    let found = ran.json();
    assert_eq!(
        (ran.code, &found["ok"]),
        (0, &Value::Bool(true)),
        "{found:#}"
    );
    let measures = found["measures"].as_array().expect("measures");
    for name in [
        "capabilities",
        "privileges",
        "user",
        "system calls",
        "root file system",
        "writable mounts",
        "kernel files",
        "network",
        "sockets of the host",
        "memory limit",
        "process limit",
        "cpu limit",
        "size of /tmp",
    ] {
        let one = measures.iter().find(|one| one["measure"] == name);
        let finding = one.unwrap_or_else(|| panic!("{name} in {found:#}"))["finding"].clone();
        let fine = finding == "holds" || (finding == "named_gap" && name.ends_with("limit"));
        assert!(fine, "{name}: {finding} in {found:#}");
    }
    let attempts = found["attempts"].as_array().expect("attempts");
    assert!(attempts.len() > 40, "{found:#}");
    found
}

/// Small limits, so that going beyond them takes little of this machine.
fn small(place: Place, image: &str) -> Place {
    place.configured(&format!(
        "[profiles.small]\nimage = \"{image}\"\nmemory_limit = \"64m\"\ncpu_limit = 0.5\npids_limit = 40\ntmp_size = \"8m\"\n"
    ))
}

fn selftest(place: &Place, more: &[&str]) -> Ran {
    place.run(&[&["--json", "selftest", "--profile", "small"], more].concat())
}

#[test]
fn a_local_sandbox_is_what_it_is_said_to_be() {
    let place = small(Place::local(), "host");
    let found = check(&selftest(&place, &[]));
    assert_eq!(
        (&found["engine"], &found["profile"]),
        (&"local".into(), &"small".into())
    );
    // With the host's network, too: that was asked for, and nothing else opens with it.
    check(&selftest(&place, &["--network"]));
    assert_eq!(place.json_ok(&["ls", "--all"]), Value::Array(Vec::new()));
    let told = place.run(&["selftest", "--profile", "small"]).ok();
    assert!(told.text().contains("memory limit"), "{}", told.text());
    told.says("attempts in a sandbox of profile small on local");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_docker_sandbox_is_what_it_is_said_to_be() {
    let place = small(Place::docker(), &busybox());
    let found = check(&selftest(&place, &[]));
    assert_eq!(found["engine"], "docker");
    assert_eq!(place.belongings(), Vec::<String>::new());
}

/// An image that is gone in the end.
struct Image<'a>(&'a Place, String);

impl Drop for Image<'_> {
    fn drop(&mut self) {
        self.0.docker_says(&["rmi", "-f", &self.1]);
    }
}

/// Makes an image that brings a folder which everybody may write to, without a limit: no profile asks for that.
fn image_with_volume(place: &Place) -> Image<'_> {
    let (image, container) = (place.name("sandtop-test/volume"), place.name("volume"));
    let make = ["sh", "-c", "mkdir -m 777 /data"];
    let run = ["run", "--name", &container, &busybox()];
    place.docker_says(&[&run[..], &make].concat());
    let image = Image(place, image);
    place.docker_says(&["commit", "--change", "VOLUME /data", &container, &image.1]);
    place.docker_says(&["rm", "-f", &container]);
    image
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_gap_that_nobody_named_is_a_failure() {
    let place = small(Place::docker(), &busybox());
    let image = image_with_volume(&place);
    let ran = selftest(&place, &["--image", &image.1]).exits(1);
    let found = ran.json();
    assert_eq!(found["ok"], false);
    let measures = found["measures"].as_array().expect("measures").iter();
    let gaps = measures.filter(|one| one["finding"] == "gap");
    let gaps: Vec<_> = gaps
        .map(|one| (&one["measure"], &one["effective"]))
        .collect();
    assert_eq!(gaps, [(&"writable mounts".into(), &"/data".into())]);
    let told = place.run(&["selftest", "--profile", "small", "--image", &image.1]);
    assert!(told.exits(1).text().contains("GAP"));
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
fn an_interrupted_trial_leaves_nothing() {
    let place = small(Place::local(), "host");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let running = place.start(&["selftest", "--profile", "small"]);
        until("the sandbox is there", || {
            place
                .json_ok(&["ls"])
                .as_array()
                .is_some_and(|all| !all.is_empty())
        });
        running.signal(signal);
        running.wait().exits(code);
        assert_eq!(place.json_ok(&["ls", "--all"]), Value::Array(Vec::new()));
    }
}

#[test]
fn what_is_simulated_is_not_tried() {
    let place = Place::demo();
    place.run(&["selftest"]).exits(1).says("trying the walls");
    assert_eq!(
        place.run(&["--read-only", "selftest"]).exits(5).code,
        5,
        "a trial makes a sandbox"
    );
}
