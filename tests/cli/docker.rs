//! The story of a sandbox on a real engine, in text and in JSON.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Running, busybox, python, tree, until};

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_whole_story_in_text() {
    let place = Place::docker();
    assert_eq!(place.belongings(), Vec::<String>::new());
    let name = place.name("story");
    place.run(&["ls"]).ok().says("No sandboxes");
    let made = place.run(&["create", &name, "--image", &busybox(), "--label", "who=me"]);
    assert_eq!(made.ok().text(), format!("{name}\n"));
    assert_eq!(place.belongings().len(), 2, "a container and a volume");
    let list = place.run(&["ls"]).ok();
    assert!(list.text().contains(&name) && list.text().contains("running"));
    let ran = place.run(&[
        "exec",
        &name,
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2; exit 7",
    ]);
    let ran = ran.exits(7);
    assert_eq!((ran.text(), ran.stderr.as_str()), ("out\n", "err\n"));
    place
        .feed(b"content\n", &["files", "put", &name, "a.txt"])
        .ok();
    assert_eq!(
        place.run(&["files", "cat", &name, "a.txt"]).ok().text(),
        "content\n"
    );
    let source = place.path("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("f"), "in").unwrap();
    place
        .run(&["cp", "source", &format!("{name}:/workspace/")])
        .ok()
        .says("2 entries");
    place.run(&["cp", &format!("{name}:source"), "back"]).ok();
    assert_eq!(tree(&source), tree(&place.path("back")));
    let top = place.run(&["top", &name]).ok();
    assert!(top.text().contains("COMMAND") && top.text().contains("guest init"));
    let changes = place.run(&["changes", &name]).ok().says("3 added");
    let expected = "A /workspace/a.txt\nA /workspace/source/\nA /workspace/source/f\n";
    assert_eq!(changes.text(), expected);
    let images = place.run(&["images"]).ok();
    assert!(images.text().contains(&busybox()), "{}", images.text());
    let stats = place.run(&["stats", &name]).ok();
    assert!(stats.text().contains("MEMORY") && stats.text().contains(&name));
    let about = place.run(&["inspect", &name]).ok();
    for part in [
        "read-only root     yes",
        "no new privileges  yes",
        "capabilities       none",
        "checked inside     yes",
        "network            none",
        "gap",
    ] {
        assert!(about.text().contains(part), "{part:?} in {}", about.text());
    }
    let events = place.run(&["events"]).ok();
    assert!(events.text().contains("created") && events.text().contains("exec"));
    place.run(&["rm", &name]).exits(1).says("rm -f");
    assert_eq!(
        place.run(&["rm", "-f", &name]).ok().text(),
        format!("{name}\n")
    );
    assert_eq!(place.belongings(), Vec::<String>::new());
    place.run(&["inspect", &name]).exits(4);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_whole_story_in_json() {
    let place = Place::docker();
    let name = place.name("story");
    let image = busybox();
    let flags = [
        "create",
        &name,
        "--image",
        &image,
        "--memory",
        "64m",
        "--cpus",
        "0.5",
        "--pids",
        "50",
        "--timeout",
        "20",
        "--env",
        "COLOUR=blue",
        "--label",
        "who=me",
    ];
    let made = place.json_ok(&flags);
    assert_eq!(made["name"], name.as_str());
    assert_eq!(made["phase"], "running");
    assert_eq!(made["engine"], "docker");
    assert_eq!(made["labels"], json!({"who": "me"}));
    assert_eq!(
        made["limits"],
        json!({"memory_bytes": 64 << 20, "cpus": 0.5, "pids": 50, "timeout_s": 20})
    );
    assert_eq!(made["owned"], true);
    assert_eq!(made["network"], "none");
    let list = place.json_ok(&["ls"]);
    assert_eq!(list[0]["id"], made["id"]);
    let (code, run) = place.json(&[
        "exec",
        &name,
        "--",
        "sh",
        "-c",
        "echo $COLOUR; echo err >&2; exit 7",
    ]);
    assert_eq!(code, 7);
    assert_eq!(run["status"], "nonzero");
    assert_eq!(run["exit_code"], 7);
    assert_eq!(
        (&run["stdout"], &run["stderr"]),
        (&json!("blue\n"), &json!("err\n"))
    );
    assert_eq!(run["truncated"], json!({"stdout": 0, "stderr": 0}));
    assert_eq!(
        (&run["source"], &run["sandbox"]),
        (&json!("cli"), &json!(name))
    );
    assert!(
        run["duration_ms"].is_u64() && run["peak_memory_bytes"].is_u64(),
        "{run}"
    );
    let put = place
        .feed(b"content\n", &["--json", "files", "put", &name, "a.txt"])
        .ok();
    assert_eq!(put.json(), json!({"ok": true, "path": "/workspace/a.txt"}));
    let cat = place.json_ok(&["files", "cat", &name, "a.txt"]);
    assert_eq!(cat["content"], "content\n");
    let stats = place.json_ok(&["stats", &name]);
    assert_eq!(stats.as_array().unwrap().len(), 1);
    assert_eq!(stats[0]["memory_limit_bytes"], 64 << 20);
    assert_eq!(stats[0]["cpus_limit"], 0.5);
    assert!(
        stats[0]["pids"].as_u64().is_some_and(|pids| pids > 0),
        "{stats}"
    );
    what_is_looked_at_in_json(&place, &name, &image);
    let about = place.json_ok(&["inspect", &name]);
    let posture = &about["posture"];
    assert_eq!(posture["caps"], json!([]));
    assert_eq!(posture["no_new_privileges"], true);
    assert_eq!(posture["read_only_root"], true);
    assert_eq!(posture["seccomp"], "default");
    assert_eq!(posture["user"], "65534:65534");
    assert!(posture["gaps"].is_array() && posture["mounts"].is_array());
    let events = place.json_ok(&["events"]);
    let words: Vec<&str> = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["id"] == made["id"])
        .filter_map(|event| event["what"].as_str())
        .collect();
    for word in ["created", "started", "exec"] {
        assert!(words.contains(&word), "{word} in {words:?}");
    }
    let (code, refused) = place.json(&["rm", &name]);
    assert_eq!((code, &refused["error"]["kind"]), (1, &json!("conflict")));
    assert_eq!(
        place.json_ok(&["rm", "-f", &name]),
        json!({"name": name, "ok": true})
    );
    assert_eq!(place.belongings(), Vec::<String>::new());
}

/// Processes, changed files and images.
fn what_is_looked_at_in_json(place: &Place, name: &str, image: &str) {
    let top = place.json_ok(&["top", name]);
    let commands = top.as_array().unwrap().iter();
    let commands: Vec<&str> = commands.filter_map(|p| p["command"].as_str()).collect();
    assert!(commands.contains(&"/.sandtop/guest init"), "{commands:?}");
    assert!(
        top[0]["pid"] == 1 && top[0]["memory_bytes"].is_u64(),
        "{top}"
    );
    let changes = place.json_ok(&["changes", name]);
    assert_eq!(changes["changes"][0]["path"], "/workspace/a.txt");
    assert_eq!(changes["changes"][0]["change"], "added");
    assert_eq!(changes["changes"][0]["size"], 8);
    assert!(changes["looked_at"].is_array() && changes["gaps"].is_array());
    let images = place.json_ok(&["images"]);
    let is_ours = |known: &Value| known["name"].as_str().is_some_and(|n| n.starts_with(image));
    assert!(images.as_array().unwrap().iter().any(is_ours), "{images}");
    assert_eq!(place.json_ok(&["sessions", name]), json!([]));
    assert_eq!(place.json_ok(&["doctor"])["ok"], true);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_command_gets_its_surroundings() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let script = "echo $A; echo $B; pwd; id -u";
    let args = [
        "exec",
        &name,
        "--env",
        "A=one two",
        "--env",
        "B=x=y",
        "--workdir",
        "/tmp",
        "--user",
        "1234:5",
        "--",
        "sh",
        "-c",
        script,
    ];
    assert_eq!(place.run(&args).ok().text(), "one two\nx=y\n/tmp\n1234\n");
    let plain = place
        .run(&["exec", &name, "--", "sh", "-c", "pwd; id -u; cat"])
        .ok();
    assert_eq!(
        plain.text(),
        "/workspace\n65534\n",
        "and standard input is empty"
    );
    place
        .run(&["exec", &name, "--", "nosuch"])
        .exits(127)
        .says("nosuch");
    place
        .run(&["exec", &name, "--", "/etc/passwd"])
        .exits(126)
        .says("/etc/passwd");
    place
        .run(&["exec", &name, "--workdir", "/nosuch", "--", "true"])
        .says("/nosuch");
    place
        .run(&["exec", &name, "--", "sh", "-c", "kill -TERM $$"])
        .exits(143);
    let (_, killed) = place.json(&["exec", &name, "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(
        (&killed["status"], &killed["signal"]),
        (&json!("signal"), &json!(15))
    );
    // Nothing is blocked or ignored that a program would not expect.
    let masks = place
        .run(&["exec", &name, "--", "grep", "SigBlk", "/proc/self/status"])
        .ok();
    assert_eq!(masks.text(), "SigBlk:\t0000000000000000\n");
    // The root cannot be written to, the work directory can.
    assert_ne!(place.run(&["exec", &name, "--", "touch", "/x"]).code, 0);
    place
        .run(&["exec", &name, "--", "touch", "/workspace/x"])
        .ok();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn input_goes_through_unchanged() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let input: Vec<u8> = (0..5u32 << 20)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let ran = place.feed(&input, &["exec", "-i", &name, "--", "cat"]).ok();
    assert!(ran.stdout == input, "{} bytes came back", ran.stdout.len());
    // One that does not read it all ends well, too.
    let ran = place
        .feed(&input, &["exec", "-i", &name, "--", "head", "-c", "3"])
        .ok();
    assert_eq!(ran.stdout, input[..3]);
    // A file of any bytes, too.
    place
        .feed(&input, &["files", "put", &name, "big", "--mode", "640"])
        .ok();
    assert!(place.run(&["files", "cat", &name, "big"]).ok().stdout == input);
    assert_eq!(
        place.json_ok(&["files", "stat", &name, "big"])["mode"],
        "0640"
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn files_can_be_worked_on() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let name = name.as_str();
    place.run(&["files", "mkdir", name, "a/b/c", "d"]).ok();
    place
        .feed(b"one", &["files", "put", name, "a/b/c/f.txt"])
        .ok();
    place
        .feed(b"two", &["files", "put", name, "a/b/c/f.txt"])
        .ok();
    assert_eq!(
        place
            .run(&["files", "cat", name, "a/b/c/f.txt"])
            .ok()
            .text(),
        "two"
    );
    place
        .run(&["files", "mv", name, "a/b/c/f.txt", "/workspace/g.txt"])
        .ok();
    place.run(&["files", "stat", name, "a/b/c/f.txt"]).exits(4);
    let stat = place.json_ok(&["files", "stat", name, "g.txt"]);
    assert_eq!((&stat["kind"], &stat["size"]), (&json!("file"), &json!(3)));
    assert_eq!((&stat["uid"], &stat["gid"]), (&json!(65534), &json!(65534)));
    place
        .run(&["exec", name, "--", "ln", "-s", "g.txt", "link"])
        .ok();
    let list = place.json_ok(&["files", "ls", name]);
    let kinds: Vec<(&str, &str)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["name"].as_str().unwrap(), e["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("a", "directory"),
            ("d", "directory"),
            ("g.txt", "file"),
            ("link", "symlink")
        ]
    );
    assert_eq!(
        place
            .run(&["files", "cat", name, "g.txt", "link"])
            .ok()
            .text(),
        "twotwo"
    );
    let both = place.json_ok(&["files", "cat", name, "g.txt", "link"]);
    assert_eq!(
        (&both[0]["content"], &both[1]["content"]),
        (&json!("two"), &json!("two"))
    );
    place
        .run(&["files", "rm", name, "a"])
        .exits(1)
        .says("rm -r");
    place.run(&["files", "rm", "-r", name, "a", "d"]).ok();
    place.run(&["files", "rm", name, "g.txt", "link"]).ok();
    assert_eq!(place.json_ok(&["files", "ls", name]), json!([]));
    place
        .run(&["files", "cat", name, "/workspace"])
        .exits(2)
        .says("is a directory");
    let denied = place.feed(b"x", &["files", "put", name, "/etc/x"]);
    assert!([1, 5].contains(&denied.code), "{denied:?}");
    // Any bytes are a name.
    let odd = OsStr::from_bytes(b"odd \xff\n'\"name");
    let put = [OsStr::new("files"), "put".as_ref(), name.as_ref(), odd];
    place.feed(b"odd", &put).ok();
    let cat = [OsStr::new("files"), "cat".as_ref(), name.as_ref(), odd];
    assert_eq!(place.run(&cat).ok().text(), "odd");
    let list = place.json_ok(&["files", "ls", name]);
    assert!(list[0]["name_base64"].is_string(), "{list}");
    let rm = [OsStr::new("files"), "rm".as_ref(), name.as_ref(), odd];
    let (code, value) = place.json(&rm);
    assert_eq!((code, &value["ok"]), (0, &json!(true)));
}

/// A folder with everything that copies get wrong.
fn awkward(root: &Path) {
    let file = |name: &[u8], content: &[u8], mode: u32| {
        let path = root.join(OsStr::from_bytes(name));
        fs::write(&path, content).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(root).unwrap();
    for folder in [
        "empty",
        "deep",
        "deep/er",
        "deep/er/st",
        "with space",
        "-dash",
    ] {
        fs::create_dir(root.join(folder)).unwrap();
    }
    fs::set_permissions(root.join("empty"), fs::Permissions::from_mode(0o700)).unwrap();
    file(b"with space/a b", b"blank", 0o644);
    file(b"quotes ' \" ` $(id)", b"quoted", 0o600);
    file(b"new\nline", b"lines", 0o644);
    file(b"invalid \xff\xfe", &[0, 255, 128, 10, 13], 0o644);
    file("ünïcode 名".as_bytes(), b"text", 0o755);
    file(b"-dash/-rf", b"dash", 0o444);
    file(b"empty file", b"", 0o640);
    file(b"deep/er/st/\\back*?[x]", b"glob", 0o644);
    file(&[b'n'; 200], b"long", 0o644);
    let big: Vec<u8> = (0..3_000_001u32)
        .map(|i| (i / 7).to_le_bytes()[0])
        .collect();
    file(b"big", &big, 0o644);
    symlink("big", root.join("link")).unwrap();
    symlink("nowhere/../at all", root.join("dangling")).unwrap();
    symlink(
        OsString::from_vec(b"odd \xff".to_vec()),
        root.join("odd link"),
    )
    .unwrap();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn folders_are_copied_exactly() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let source = place.path("source");
    awkward(&source);
    let before = tree(&source);
    let copied = place.json_ok(&["cp", "source", &format!("{name}:/workspace/there")]);
    assert_eq!(copied["entries"], before.len());
    assert_eq!(copied["skipped"], 0);
    place
        .run(&["cp", &format!("{name}:/workspace/there"), "back"])
        .ok();
    assert_eq!(tree(&place.path("back")), before);
    // Into a folder that exists it goes under its own name; with `/.` only what is in it.
    fs::create_dir(place.path("into")).unwrap();
    place.run(&["cp", &format!("{name}:there"), "into"]).ok();
    assert_eq!(tree(&place.path("into/there")), before);
    place.run(&["files", "mkdir", &name, "content"]).ok();
    place
        .run(&["cp", "source/.", &format!("{name}:content")])
        .ok();
    let stat = place.json_ok(&["files", "stat", &name, "content/big"]);
    assert_eq!(stat["size"], 3_000_001);
    // A stopped sandbox keeps its files within reach.
    place.run(&["stop", &name]).ok();
    let out = place.run(&["cp", &format!("{name}:there"), "stopped"]);
    if out.code == 0 {
        assert_eq!(tree(&place.path("stopped")), before);
    } else {
        assert!(
            out.stderr.contains("stopped") || out.stderr.contains("not running"),
            "{out:?}"
        );
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn every_phase_can_be_reached_twice() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    place.feed(b"kept", &["files", "put", &name, "f"]).ok();
    let phase = |place: &Place| place.json_ok(&["inspect", &name])["phase"].clone();
    for (verb, then) in [
        ("pause", "paused"),
        ("pause", "paused"),
        ("resume", "running"),
        ("resume", "running"),
        ("stop", "stopped"),
        ("stop", "stopped"),
        ("start", "running"),
        ("start", "running"),
        ("restart", "running"),
        ("kill", "dead"),
        ("kill", "dead"),
        ("start", "running"),
    ] {
        place.run(&[verb, &name]).ok();
        let now = phase(&place);
        // A killed one may be called stopped as well.
        assert!(
            now == then || (verb == "kill" && now == "stopped"),
            "{verb}: {now}"
        );
        if verb == "stop" {
            assert_eq!(place.json_ok(&["ls"]), json!([]));
            assert_eq!(place.json_ok(&["ls", "--all"])[0]["name"], name.as_str());
            place
                .run(&["exec", &name, "--", "true"])
                .exits(125)
                .says("start");
            assert!(place.json_ok(&["inspect", &name])["death"].is_object());
        }
        if verb == "pause" {
            let frozen = place.run(&["exec", &name, "--", "true"]).exits(125);
            assert!(frozen.stderr.contains("paused"), "{}", frozen.stderr);
        }
    }
    assert_eq!(
        place.run(&["exec", &name, "--", "cat", "f"]).ok().text(),
        "kept"
    );
    place.run(&["stop", &name]).ok();
    place.run(&["rm", &name]).ok();
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn sessions_carry_over() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let run = |script: &str| {
        place
            .run(&["exec", &name, "--session", "work", "--", "sh", "-c", script])
            .ok()
            .text()
            .to_owned()
    };
    run("mkdir -p sub && cd sub && export COLOUR='dark  blue' EMPTY= && plain=no");
    assert_eq!(
        run("pwd; echo \"$COLOUR|${EMPTY-unset}|${plain-unset}\""),
        "/workspace/sub\ndark  blue||unset\n"
    );
    let late = place.run(&[
        "exec",
        &name,
        "--session",
        "work",
        "--timeout",
        "0.5",
        "--",
        "sleep",
        "50",
    ]);
    late.exits(124);
    assert_eq!(run("pwd; echo \"$COLOUR\""), "/workspace/sub\ndark  blue\n");
    let other = place.run(&[
        "exec",
        &name,
        "--session",
        "other",
        "--",
        "sh",
        "-c",
        "pwd; echo ${COLOUR-unset}",
    ]);
    assert_eq!(other.ok().text(), "/workspace\nunset\n");
    let sessions = place.json_ok(&["sessions", &name]);
    let mut names: Vec<&str> = sessions
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["other", "work"]);
    let left = place.json_ok(&["sessions", &name, "--drop", "work"]);
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert!(
        place
            .run(&["sessions", &name])
            .ok()
            .text()
            .contains("other")
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn events_and_figures_can_be_followed() {
    let place = Place::docker();
    let mut events = place.start(&["--json", "events", "--follow"]);
    until("it is connected", || {
        events.stderr_so_far().contains("connected")
    });
    let name = place.sandbox(&[]);
    events.until_stdout("\"started\"");
    let mut stats = place.start(&["--json", "stats", "--watch"]);
    stats.until_stdout(&name);
    place.run(&["exec", &name, "--", "true"]).ok();
    events.until_stdout("\"status\":\"ok\"");
    place.run(&["rm", "-f", &name]).ok();
    events.until_stdout("\"removed\"");
    for running in [events, stats] {
        running.signal(rustix::process::Signal::INT);
        let ran = running.wait().exits(130);
        for line in ran.text().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["name"], name.as_str(), "only what is ours: {value}");
        }
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_folder_of_the_host_can_be_shown() {
    let place = Place::docker();
    let shared = place.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(place.home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(shared.join("f"), "from the host").unwrap();
    let mount = format!("{}:/data:ro", shared.display());
    let name = place.sandbox(&["--mount", &mount]);
    assert_eq!(
        place
            .run(&["exec", &name, "--", "cat", "/data/f"])
            .ok()
            .text(),
        "from the host"
    );
    assert_ne!(
        place.run(&["exec", &name, "--", "touch", "/data/g"]).code,
        0
    );
    place.run(&["rm", "-f", &name]).ok();
    assert!(shared.join("f").exists(), "what belongs to the host stays");
    let missing = format!("{}:/data", place.path("missing").display());
    let ran = place.run(&["create", "--image", &busybox(), "--mount", &missing]);
    assert_ne!(ran.code, 0);
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn relative_paths_start_at_the_sandboxs_own_work_directory() {
    let place = Place::docker();
    let name = place.name("data");
    let image = busybox();
    place
        .run(&["create", &name, "--image", &image, "--workdir", "/data"])
        .ok();
    place.feed(b"here", &["files", "put", &name, "x"]).ok();
    let seen = place.run(&["exec", &name, "--", "cat", "/data/x"]).ok();
    assert_eq!(seen.text(), "here");
    assert!(place.run(&["files", "ls", &name]).ok().text().contains('x'));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_image_that_is_not_there_is_told() {
    let place = Place::docker();
    let (code, value) = place.json(&["create", "--image", "localhost:9/nosuch/image"]);
    assert_eq!(code, 1, "{value}");
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("localhost:9/nosuch/image"), "{message}");
    assert_ne!(place.run(&["create", "--image", "Not An Image"]).code, 0);
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_limit_holds_across_processes() {
    let place = Place::docker();
    let place = place.configured("[manager]\nmax_sandboxes = 5\n");
    let image = busybox();
    let names: Vec<String> = (0..20).map(|n| place.name(&format!("m{n}"))).collect();
    // Two groups of ten at once, each of its own process.
    let running: Vec<Running> = names
        .iter()
        .map(|name| place.start(&["create", name, "--image", &image]))
        .collect();
    let (made, refused): (Vec<_>, Vec<_>) = running
        .into_iter()
        .map(Running::wait)
        .partition(|ran| ran.code == 0);
    assert_eq!((made.len(), refused.len()), (5, 15));
    for ran in refused {
        ran.exits(5).says("Maximum number of sandboxes (5) reached");
    }
    let list = place.json_ok(&["ls", "--all"]);
    assert_eq!(list.as_array().unwrap().len(), 5);
    let (code, value) = place.json(&["create", "--image", &image]);
    assert_eq!((code, &value["error"]["kind"]), (5, &json!("refused")));
    assert_eq!(
        value["error"]["message"],
        "Maximum number of sandboxes (5) reached"
    );
    let all: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    place.run(&[&["rm", "-f"], all.as_slice()].concat()).ok();
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn two_loops_of_creates_stay_below_the_limit() {
    let place = Place::docker();
    let place = place.configured("[manager]\nmax_sandboxes = 5\n");
    let image = busybox();
    let one_after_the_other = |side: &str| -> usize {
        (0..10)
            .map(|n| {
                place.run(&[
                    "create",
                    &place.name(&format!("{side}{n}")),
                    "--image",
                    &image,
                ])
            })
            .filter(|ran| {
                ran.code == 0
                    || !ran
                        .stderr
                        .contains("Maximum number of sandboxes (5) reached")
            })
            .count()
    };
    let made = std::thread::scope(|scope| {
        let sides = ["a", "b"].map(|side| scope.spawn(|| one_after_the_other(side)));
        sides
            .into_iter()
            .map(|side| side.join().unwrap())
            .sum::<usize>()
    });
    assert_eq!(made, 5);
    assert_eq!(place.json_ok(&["ls", "--all"]).as_array().unwrap().len(), 5);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_taken_name_is_refused_and_leaves_the_first_alone() {
    let place = Place::docker();
    let name = place.sandbox_of(&python(), &[]);
    let (code, value) = place.json(&["create", &name, "--image", &busybox()]);
    assert_eq!((code, &value["error"]["kind"]), (1, &json!("conflict")));
    assert_eq!(place.belongings().len(), 2);
    let version = place
        .run(&["exec", &name, "--", "python3", "-c", "print(6*7)"])
        .ok();
    assert_eq!(version.text(), "42\n");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn not_even_root_changes_the_guest_that_all_share() {
    let place = Place::docker();
    let name = place.sandbox(&["--user", "0:0"]);
    for script in [
        "echo > /.sandtop/guest",
        "rm -f /.sandtop/guest",
        "touch /.sandtop/new",
        "mount -o remount,rw /.sandtop",
    ] {
        let ran = place.run(&["exec", &name, "--", "sh", "-c", script]);
        assert_ne!(ran.code, 0, "{script}");
    }
    place.run(&["exec", &name, "--", "true"]).ok();
}
