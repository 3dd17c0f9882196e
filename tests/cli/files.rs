//! Files of a sandbox and copies, as people expect them of `cp`, `rm` and `mkdir -p`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::json;

use crate::support::Place;

/// A place with the engine of this machine and one sandbox.
fn place() -> (Place, String) {
    let place = Place::local();
    let name = place.sandbox_of("host", &[]);
    (place, name)
}

#[test]
fn missing_folders_are_made() {
    let (place, name) = place();
    let name = name.as_str();
    let cat = |path| place.run(&["files", "cat", name, path]).ok().stdout;
    place
        .feed(b"one", &["files", "put", name, "new/deep/a"])
        .ok();
    assert_eq!(cat("new/deep/a"), b"one");
    fs::write(place.path("f"), "two").unwrap();
    let inside = |path: &str| format!("{name}:{path}");
    place.run(&["cp", "f", &inside("more/deep/b")]).ok();
    assert_eq!(cat("more/deep/b"), b"two");
    // With a slash, a file goes into the new folder, and a folder becomes it.
    place.run(&["cp", "f", &inside("slash/")]).ok();
    assert_eq!(cat("slash/f"), b"two");
    place.run(&["cp", &inside("slash"), "out/deep/c"]).ok();
    assert_eq!(fs::read(place.path("out/deep/c/f")).unwrap(), b"two");
    place.run(&["cp", &inside("slash/f"), "out/new/"]).ok();
    assert_eq!(fs::read(place.path("out/new/f")).unwrap(), b"two");
    place.run(&["cp", &inside("slash"), "out/whole/"]).ok();
    assert_eq!(fs::read(place.path("out/whole/f")).unwrap(), b"two");
    // What cannot be copied leaves no folder behind.
    place.run(&["cp", &inside("nope"), "none/deep/d"]).exits(4);
    assert!(!place.path("none").exists());
    place.run(&["cp", "f", &inside("slash/f/")]).exits(4);
    place.run(&["cp", &inside("slash/f"), "f/"]).exits(4);
}

#[test]
fn removing_by_force_does_not_mind_what_is_missing() {
    let (place, name) = place();
    place.run(&["files", "rm", &name, "nope"]).exits(4);
    place.feed(b"x", &["files", "put", &name, "there"]).ok();
    place
        .run(&["files", "rm", "-f", &name, "nope", "there"])
        .ok();
    place.run(&["files", "stat", &name, "there"]).exits(4);
    place
        .feed(b"x", &["files", "put", &name, "folder/file"])
        .ok();
    place
        .run(&["files", "rm", "-f", &name, "folder"])
        .exits(1)
        .says("files rm -r");
    place.run(&["files", "rm", "-rf", &name, "folder"]).ok();
    // The sandbox itself must be there.
    place.run(&["files", "rm", "-f", "nope", "x"]).exits(4);
}

#[test]
fn commands_start_where_they_are_told_relative_to_the_work_directory() {
    let (place, name) = place();
    place.run(&["files", "mkdir", &name, "a/b"]).ok();
    for (dir, expected) in [
        ("a/b", "/workspace/a/b\n"),
        (".", "/workspace\n"),
        ("/tmp", "/tmp\n"),
    ] {
        let ran = place.run(&["exec", &name, "--workdir", dir, "--", "pwd"]);
        assert_eq!(ran.ok().text(), expected);
    }
    place
        .run(&["exec", &name, "--workdir", "a/../b", "--", "pwd"])
        .exits(2)
        .says("--workdir");
}

#[test]
fn holes_stay_holes() {
    let (place, name) = place();
    let script = "truncate -s 300M hole; echo end >> hole";
    place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    place.run(&["cp", &format!("{name}:hole"), "hole"]).ok();
    let about = fs::metadata(place.path("hole")).unwrap();
    assert_eq!(about.len(), (300 << 20) + 4);
    assert!(about.blocks() * 512 < 1 << 20, "{} blocks", about.blocks());
}

#[test]
fn a_copy_moves_no_more_than_it_may() {
    let (place, name) = place();
    let script = "mkdir d; head -c 3000 /dev/zero > d/a; head -c 3000 /dev/zero > d/b";
    place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    let there = format!("{name}:d");
    place
        .run(&["cp", "--max-size", "5k", &there, "d"])
        .exits(5)
        .says("--max-size");
    assert!(!place.path("d").exists(), "nothing half-copied is left");
    place.run(&["cp", "--max-size", "6k", &there, "d"]).ok();
    // Into the sandbox, too.
    let (code, value) = place.json(&["cp", "--max-size", "5k", "d", &format!("{name}:e")]);
    assert_eq!((code, &value["error"]["kind"]), (5, &json!("refused")));
    place.run(&["files", "stat", &name, "e"]).exits(4);
    place
        .run(&["cp", "--max-size", "much", &there, "e"])
        .exits(2)
        .says("--max-size");
    let place = place.configured("[manager]\ncopy_limit = \"5k\"\n");
    place.run(&["cp", &there, "e"]).exits(5).says("copy_limit");
    place.run(&["cp", "--max-size", "0", &there, "e"]).ok();
}

#[test]
fn a_copy_goes_on_past_what_it_cannot_read() {
    let (place, name) = place();
    let script =
        "mkdir -p d/locked d/open; echo x > d/open/f; echo x > d/secret; chmod 0 d/locked d/secret";
    place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    let there = format!("{name}:d");
    let ran = place.run(&["cp", &there, "d"]).exits(1);
    let ran = ran.says("2 could not be read").says("locked");
    assert!(ran.stderr.contains("secret"), "{}", ran.stderr);
    assert_eq!(fs::read(place.path("d/open/f")).unwrap(), b"x\n");
    assert!(
        !place.path("d/secret").exists(),
        "no empty file stands for it"
    );
    let (code, value) = place.json(&["cp", &there, "e"]);
    assert_eq!((code, &value["unreadable"]), (1, &json!(2)));
    // What was asked for itself must be readable.
    place
        .run(&["cp", &format!("{name}:d/secret"), "s"])
        .exits(5);
}
