//! What needs no engine: usage, configuration, exit codes, JSON, closed pipes; with the simulated one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, Running, until};

/// Every verb, with arguments that work on the simulated sandboxes.
const VERBS: &[&[&str]] = &[
    &["ls"],
    &["ls", "--all"],
    &["create", "x1"],
    &["start", "demo-idle"],
    &["stop", "demo-python"],
    &["restart", "demo-python"],
    &["kill", "demo-python"],
    &["pause", "demo-python"],
    &["resume", "demo-python"],
    &["rm", "-f", "demo-python"],
    &["rm", "demo-idle"],
    &["stop", "demo-python", "demo-node"],
    &["exec", "demo-python", "--", "echo", "hello"],
    &["run", "out.py", "--sandbox", "demo-python"],
    &["check", "out.py"],
    &["deps", "out.py"],
    &["sessions", "demo-python"],
    &["files", "ls", "demo-python"],
    &["files", "cat", "demo-python", "main.py"],
    &["files", "put", "demo-python", "new.txt"],
    &["files", "rm", "demo-python", "main.py"],
    &["files", "mv", "demo-python", "main.py", "other.py"],
    &["files", "mkdir", "demo-python", "folder"],
    &["files", "stat", "demo-python", "main.py"],
    &["stats"],
    &["stats", "demo-python"],
    &["inspect", "demo-python"],
    &["top", "demo-python"],
    &["images"],
    &["events"],
    &["doctor"],
    &["config", "path"],
    &["config", "show"],
    &["config", "check"],
    &["config", "default"],
    &["completions", "bash"],
    &["man"],
];

/// Verbs that change something.
const CHANGING: &[&[&str]] = &[
    &["create", "x1"],
    &["start", "demo-idle"],
    &["stop", "demo-python"],
    &["restart", "demo-python"],
    &["kill", "demo-python"],
    &["pause", "demo-python"],
    &["resume", "demo-python"],
    &["rm", "-f", "demo-python"],
    &["exec", "demo-python", "--", "true"],
    &["run", "out.py", "--sandbox", "demo-python"],
    &["sessions", "demo-python", "--drop", "x"],
    &["shell", "demo-python"],
    &["files", "put", "demo-python", "a"],
    &["files", "rm", "demo-python", "main.py"],
    &["files", "mv", "demo-python", "main.py", "b"],
    &["files", "mkdir", "demo-python", "c"],
    &["cp", "out.py", "demo-python:in.py"],
];

/// A place with a file to copy.
fn place() -> Place {
    let place = Place::demo();
    fs::write(place.path("out.py"), "print()\n").unwrap();
    place
}

#[test]
fn every_verb_explains_itself() {
    let place = Place::demo();
    let top = place.run(&["--help"]).ok();
    assert!(top.text().contains("Usage: sandtop") && top.text().contains("Exit codes"));
    let verbs = "ls create start stop restart kill pause resume rm exec run sessions shell files cp stats inspect events \
                 check deps doctor config completions man";
    let nested = "files ls|files cat|files put|files rm|files mv|files mkdir|files stat|\
                  config path|config show|config check|config default";
    for verb in verbs.split_whitespace().chain(nested.split('|')) {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = place.run(&words).ok();
        assert!(
            help.text().contains(&format!("Usage: sandtop {verb}")),
            "{}",
            help.text()
        );
        assert_eq!(help.stderr, "");
    }
    for verb in verbs.split_whitespace() {
        assert!(top.text().contains(&format!("\n  {verb} ")), "{verb}");
    }
    let version = place.run(&["--version"]).ok();
    assert_eq!(
        version.text(),
        format!("sandtop {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn without_a_verb_and_a_terminal_it_says_so() {
    Place::demo().run(&[] as &[&str]).exits(2).says("terminal");
    let (code, value) = Place::demo().json(&[] as &[&str]);
    assert_eq!((code, &value["error"]["kind"]), (2, &json!("invalid")));
}

#[test]
fn with_json_every_verb_prints_one_value_and_nothing_else() {
    let place = place();
    for args in VERBS {
        let args = [args, &["--json"][..]].concat();
        let args = if args[0] == "exec" {
            [&["--json"], &args[..args.len() - 1]].concat()
        } else {
            args
        };
        let ran = place.run(&args).ok();
        ran.json();
        assert_eq!(ran.stderr, "", "{args:?}");
    }
}

#[test]
fn without_json_every_verb_works_too() {
    let place = place();
    for args in VERBS {
        place.run(args).ok();
    }
}

#[test]
fn mistakes_are_told_with_code_2() {
    let place = place();
    let long = "n".repeat(64);
    let cases: &[(&[&str], &str)] = &[
        (&["lst"], "lst"),
        (&["ls", "--nope"], "--nope"),
        (&["--engine", "podmam", "ls"], "podmam"),
        (&["create", "a b"], "is not a sandbox name"),
        (&["create", "../x"], "is not a sandbox name"),
        (&["create", &long], "is not a sandbox name"),
        (&["create", "--memory", "512x"], "512x"),
        (&["create", "--memory", "1m"], "6m is the least"),
        (&["create", "--cpus", "many"], "many"),
        (&["create", "--cpus", "0"], "--cpus"),
        (&["create", "--cpus", "NaN"], "--cpus"),
        (&["create", "--pids", "3"], "--pids"),
        (&["create", "--pids", "-3"], "-3"),
        (&["create", "--timeout", "soon"], "soon"),
        (&["create", "--env", "novalue"], "novalue is not set here"),
        (&["create", "--env", "=x"], "KEY=VALUE"),
        (&["create", "--label", "sandtop.scope=x"], "reserved"),
        (&["create", "--mount", "nonsense"], "--mount"),
        (&["create", "--mount", "relative:/x"], "--mount"),
        (&["create", "--workdir", "/a/../b"], ".."),
        (&["create", "--workdir", "relative"], "absolute"),
        (&["create", "--workdir", "/proc"], "/proc"),
        (&["create", "--profile", "nope"], "nope"),
        (&["exec", "demo-python"], "COMMAND"),
        (
            &["exec", "demo-python", "--timeout", "-1", "--", "true"],
            "-1",
        ),
        (
            &["exec", "demo-python", "--env", "x", "--", "true"],
            "x is not set here",
        ),
        (
            &["exec", "demo-python", "--workdir", "/a/../b", "--", "true"],
            "..",
        ),
        (&["files", "stat", "demo-python", "../x"], ".."),
        (&["files", "cat", "demo-python", "/etc/../x"], ".."),
        (&["files", "put", "demo-python", "a/../b"], ".."),
        (
            &["files", "put", "demo-python", "a", "--mode", "9"],
            "--mode",
        ),
        (&["files", "rm", "demo-python", ".."], ".."),
        (&["files", "mv", "demo-python", "main.py", "../x"], ".."),
        (&["files", "ls", "demo-python", ""], "empty"),
        (&["cp", "a", "b"], "neither side"),
        (&["cp", "demo-python:a", "demo-python:b"], "both sides"),
        (&["cp", "demo-python:../a", "b"], ".."),
        (&["shell", "demo-python"], "terminal"),
        (&["completions", "tcsh9"], "tcsh9"),
        (&["rm"], "NAME"),
    ];
    for (args, part) in cases {
        let ran = place.run(args).exits(2).says(part);
        assert_eq!(ran.text(), "", "{args:?}");
        let (code, value) = place.json(args);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (2, &json!("invalid")),
            "{args:?}"
        );
        let message = value["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

#[test]
fn what_is_not_there_is_told_with_code_4() {
    let place = place();
    let cases: &[&[&str]] = &[
        &["start", "demo-pyhton"],
        &["rm", "-f", "demo-pyhton"],
        &["exec", "demo-pyhton", "--", "true"],
        &["sessions", "demo-pyhton"],
        &["files", "ls", "demo-pyhton"],
        &["files", "put", "demo-pyhton", "x"],
        &["cp", "demo-pyhton:x", "y"],
        &["cp", "out.py", "demo-pyhton:y"],
        &["stats", "demo-pyhton"],
        &["inspect", "demo-pyhton"],
    ];
    for args in cases {
        place
            .run(args)
            .exits(4)
            .says("no sandbox is called `demo-pyhton`")
            .says("did you mean `demo-python`?");
        let (code, value) = place.json(args);
        assert_eq!(code, 4);
        assert_eq!(
            value,
            json!({"error": {"kind": "not_found", "message": "no sandbox is called `demo-pyhton`",
                             "hint": "did you mean `demo-python`?"}})
        );
    }
    for args in [
        &["files", "cat", "demo-python", "nope"][..],
        &["files", "ls", "demo-python", "/nope"],
        &["files", "stat", "demo-python", "nope"],
        &["files", "rm", "demo-python", "nope"],
        &["files", "mv", "demo-python", "nope", "x"],
        &["cp", "nope", "demo-python:y"],
    ] {
        place.run(args).exits(4).says("nope");
        assert_eq!(place.json(args).1["error"]["kind"], "not_found", "{args:?}");
    }
}

#[test]
fn what_the_demo_engine_cannot_do_is_told() {
    let place = place();
    for args in [
        &["changes", "demo-python"][..],
        &["cp", "demo-python:main.py", "out.py"],
        &["cp", "out.py", "demo-python:in.py"],
    ] {
        place.run(args).exits(1).says("does not support");
        assert_eq!(place.json(args).1["error"]["kind"], "unsupported");
    }
}

#[test]
fn one_that_fails_does_not_stop_the_others() {
    let place = place();
    let names = ["stop", "demo-python", "nope", "demo-node"];
    let ran = place.run(&names).exits(4).says("nope");
    assert_eq!(ran.text(), "demo-python\ndemo-node\n");
    let (code, value) = place.json(&names);
    assert_eq!(code, 4);
    assert_eq!(value[0], json!({"name": "demo-python", "ok": true}));
    assert_eq!(value[1]["error"]["kind"], "not_found");
    assert_eq!(value[2], json!({"name": "demo-node", "ok": true}));
}

#[test]
fn what_the_state_does_not_allow_is_code_1() {
    let place = place();
    place
        .run(&["rm", "demo-python"])
        .exits(1)
        .says("it is running");
    let (code, value) = place.json(&["rm", "demo-python"]);
    assert_eq!((code, &value["error"]["kind"]), (1, &json!("conflict")));
    place
        .run(&["create", "demo-python"])
        .exits(1)
        .says("demo-python");
    place
        .run(&["exec", "demo-idle", "--", "true"])
        .exits(125)
        .says("stopped");
}

#[test]
fn a_sandbox_is_found_by_name_host_and_id() {
    let place = place();
    let id = place.json_ok(&["inspect", "demo-node"])["id"].clone();
    let start = &id.as_str().unwrap()[..6];
    for way in ["local/demo-node", start] {
        assert_eq!(place.json_ok(&["inspect", way])["id"], id);
    }
    place.run(&["inspect", "elsewhere/demo-node"]).exits(4);
}

#[test]
fn a_host_that_is_not_there_is_an_error() {
    let place = place();
    place.run(&["--host", "local", "ls"]).ok();
    for args in [
        &["--host", "nohost", "ls"][..],
        &["--host", "nohost", "create", "x"],
        &["--host", "nohost", "exec", "demo-python", "--", "true"],
    ] {
        let ran = place.run(args).exits(4);
        let ran = ran.says("no host is called `nohost`");
        assert_eq!(ran.says("hosts there are: local").text(), "");
    }
    let (code, value) = place.json(&["--host", "nohost", "ls"]);
    assert_eq!((code, &value["error"]["kind"]), (4, &json!("not_found")));
}

#[test]
fn read_only_refuses_every_change() {
    let place = place();
    for args in CHANGING {
        let args = [&["--read-only"], *args].concat();
        place.run(&args).exits(5).says("read-only");
        let (code, value) = place.json(&args);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (5, &json!("refused")),
            "{args:?}"
        );
    }
    for args in [&["ls"][..], &["files", "cat", "demo-python", "main.py"]] {
        place.run(&[&["--read-only"], args].concat()).ok();
    }
}

#[test]
fn mounts_that_hand_over_the_host_are_refused() {
    let place = place();
    let link = place.path("link");
    symlink("/proc", &link).unwrap();
    let hidden = format!("{}:/x", link.display());
    for mount in [
        "/:/x",
        "/proc:/x",
        "/sys:/x:ro",
        "/dev:/x",
        "/var/run:/x",
        "/run:/x",
        "/var/run/docker.sock:/x",
        "/run/docker.sock:/var/run/docker.sock",
        "//proc/:/x",
        "/usr/../proc:/x",
        &hidden,
    ] {
        let ran = place.run(&["create", "--mount", mount]).exits(5);
        assert_eq!(ran.says("mounting").text(), "");
        let (code, value) = place.json(&["create", "--mount", mount]);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (5, &json!("refused")),
            "{mount}"
        );
    }
    // The state directory is in it, where other sandboxes can be reached.
    let home = format!("{}:/data:ro", place.home.path().display());
    place
        .run(&["create", "--mount", &home])
        .exits(5)
        .says("state");
    fs::create_dir(place.path("project")).unwrap();
    let own = format!("{}:/data:ro", place.path("project").display());
    place.run(&["create", "--mount", &own]).ok();
}

#[test]
fn an_engine_that_does_not_answer_is_code_3() {
    let place = Place::demo().with("SANDTOP_ENGINE", "docker");
    let nowhere = format!("unix://{}", place.path("nowhere.sock").display());
    let place = place.with("DOCKER_HOST", &nowhere);
    for args in [
        &["ls"][..],
        &["create", "x"],
        &["rm", "x"],
        &["stats"],
        &["inspect", "x"],
        &["events"],
        &["files", "ls", "x"],
        &["cp", "x:y", "z"],
        &["sessions", "x"],
    ] {
        place.run(args).exits(3).says("cannot be reached");
        let (code, value) = place.json(args);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (3, &json!("unreachable")),
            "{args:?}"
        );
    }
    let ran = place.run(&["exec", "x", "--", "true"]).exits(125);
    ran.says("cannot be reached").says("hint: ");
    let (code, value) = place.json(&["exec", "x", "--", "true"]);
    assert_eq!(
        (code, &value["error"]["kind"]),
        (125, &json!("unreachable"))
    );
    let (code, value) = place.json(&["doctor"]);
    assert_eq!((code, &value["ok"]), (3, &json!(false)));
    let place = place.with("DOCKER_HOST", "nonsense");
    place.run(&["ls"]).exits(2).says("nonsense");
}

#[test]
fn a_socket_that_may_not_be_used_is_told() {
    let place = Place::demo().with("SANDTOP_ENGINE", "docker");
    let socket = place.path("docker.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o000)).unwrap();
    let address = format!("unix://{}", socket.display());
    let place = place.with("DOCKER_HOST", &address);
    let mut command = place.command(&["ls"]);
    if rustix::process::geteuid().is_root() {
        // Root may do everything; somebody else may not, and must reach the program and the socket.
        use std::os::unix::process::CommandExt;
        let program = place.path("sandtop");
        // Copied by another process: a test beside this one that forks while we write would keep the file busy.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_sandtop"))
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        fs::set_permissions(place.home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        command = Command::new(&program);
        command
            .arg("ls")
            .env_clear()
            .envs(place.variables())
            .current_dir("/")
            .stdin(Stdio::null())
            .uid(65534)
            .gid(65534);
    }
    let ran = Running::start(command).wait();
    assert!([3, 5].contains(&ran.code), "{ran:?}");
    let ran = ran.says("Permission denied").says("hint: ");
    assert!(ran.stderr.contains("docker.sock"), "{}", ran.stderr);
}

#[test]
fn a_list_has_the_fields_of_the_contract() {
    let place = place();
    let list = place.json_ok(&["ls", "--all"]);
    assert_eq!(list.as_array().unwrap().len(), 3);
    for sandbox in list.as_array().unwrap() {
        for field in [
            "name",
            "id",
            "host",
            "engine",
            "image",
            "phase",
            "created_at",
            "idle_s",
            "reap_in_s",
            "owned",
            "pinned",
            "owner",
            "limits",
            "network",
            "labels",
        ] {
            assert!(sandbox.get(field).is_some(), "{field} in {sandbox}");
        }
        for field in ["memory_bytes", "cpus", "pids", "timeout_s"] {
            assert!(
                sandbox["limits"].get(field).is_some(),
                "{field} in {sandbox}"
            );
        }
    }
    assert_eq!(place.json_ok(&["ls"]).as_array().unwrap().len(), 2);
    let about = place.json_ok(&["inspect", "demo-python"]);
    for field in [
        "caps",
        "no_new_privileges",
        "read_only_root",
        "seccomp",
        "user",
        "mounts",
        "gaps",
    ] {
        assert!(about["posture"].get(field).is_some(), "{field}");
    }
    let ended = place.json_ok(&["inspect", "demo-idle"]);
    for field in ["cause", "exit_code", "at", "last_lines"] {
        assert!(ended["death"].get(field).is_some(), "{field} in {ended}");
    }
    let stats = place.json_ok(&["stats", "demo-python"]);
    for field in [
        "name",
        "cpu_percent",
        "cpus_limit",
        "memory_bytes",
        "memory_limit_bytes",
        "pids",
        "net_rx_bytes",
        "net_tx_bytes",
        "disk_bytes",
    ] {
        assert!(stats[0].get(field).is_some(), "{field} in {stats}");
    }
    let run = place.json_ok(&["exec", "demo-python", "--", "echo", "hello"]);
    for field in [
        "run",
        "sandbox",
        "status",
        "exit_code",
        "signal",
        "stdout",
        "stderr",
        "truncated",
        "duration_ms",
        "peak_memory_bytes",
        "started_at",
        "source",
    ] {
        assert!(run.get(field).is_some(), "{field} in {run}");
    }
    assert_eq!(
        (&run["stdout"], &run["status"]),
        (&json!("hello\n"), &json!("ok"))
    );
}

#[test]
fn a_wrong_configuration_is_told_with_file_line_and_key() {
    let cases = [
        (
            "[sandbox]\nmemory_limt = \"1g\"\n",
            ":2",
            "memory_limt",
            "memory_limit",
        ),
        (
            "\n\n[manger]\nmax_sandboxes = 3\n",
            ":3",
            "manger",
            "manager",
        ),
        (
            "[manager]\nmax_sandboxes = \"many\"\n",
            ":2",
            "max_sandboxes",
            "many",
        ),
        (
            "[sandbox]\nmemory_limit = \"512x\"\n",
            ":2",
            "memory_limit",
            "512x",
        ),
        (
            "[sandbox]\nwork_dir = \"/a/../b\"\n",
            ":2",
            "work_dir",
            "..",
        ),
        (
            "[profiles.big]\ncpu_limt = 2.0\n",
            ":2",
            "cpu_limt",
            "cpu_limit",
        ),
        ("[log]\nlevel = \"lound\"\n", ":2", "level", "lound"),
    ];
    for (toml, line, key, word) in cases {
        let place = Place::demo().configured(toml);
        let (code, value) = place.json(&["ls"]);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (2, &json!("invalid")),
            "{toml}"
        );
        let message = value["error"]["message"].as_str().unwrap();
        let told = format!("{message} {}", value["error"]["hint"]);
        let file = place
            .path("config/sandtop/config.toml")
            .display()
            .to_string();
        for part in [format!("{file}{line}"), key.to_owned(), word.to_owned()] {
            assert!(told.contains(&part), "{part:?} in {told}");
        }
        place.run(&["ls"]).exits(2).says(key);
        place.run(&["config", "check"]).exits(2).says(key);
        place.run(&["config", "path"]).ok();
        place.run(&["config", "default"]).ok();
    }
    let broken = Place::demo().configured("[sandbox\n");
    broken.run(&["ls"]).exits(2).says("config.toml:1");
    broken
        .run(&["--config", "nope.toml", "ls"])
        .exits(2)
        .says("nope.toml");
}

#[test]
fn the_configuration_can_be_looked_at() {
    let place = Place::demo();
    let built_in = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config.example.toml"));
    let built_in = built_in.unwrap();
    assert_eq!(place.run(&["config", "default"]).ok().text(), built_in);
    let file = place.path("config/sandtop/config.toml");
    assert_eq!(
        place.json_ok(&["config", "path"]),
        json!({"path": file, "exists": false})
    );
    assert_eq!(
        place.run(&["config", "path"]).ok().text().trim_end(),
        file.display().to_string()
    );
    let plain = Place::demo().with("SANDTOP_ENGINE", "");
    // What is in force has its places filled in; all else is as the file says.
    let (mut shown, mut default) = (
        plain.json_ok(&["config", "show"]),
        plain.json_ok(&["config", "default"]),
    );
    let cache = plain.path("cache/sandtop").display().to_string();
    assert_eq!(shown["deps"]["cache_dir"].take(), cache);
    assert_eq!(default["deps"]["cache_dir"].take(), "");
    default["profiles"] = json!({});
    default["languages"] = json!({});
    default["keys"] = json!({});
    assert_eq!(shown, default);
    // What `default` prints is a valid file that changes nothing.
    let copied = Place::demo()
        .with("SANDTOP_ENGINE", "")
        .configured(&built_in);
    let mut shown = copied.json_ok(&["config", "show"]);
    shown["deps"]["cache_dir"].take();
    assert_eq!(shown, default);
    let check = copied.json_ok(&["config", "check"]);
    assert_eq!(check["ok"], true);
    assert_eq!(copied.json_ok(&["config", "path"])["exists"], true);
    let shown = copied.run(&["config", "show"]).ok();
    let again = Place::demo()
        .with("SANDTOP_ENGINE", "")
        .configured(shown.text());
    assert_eq!(again.run(&["config", "show"]).ok().text(), shown.text());
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let toml = "[sandbox]\nimage = \"from-file\"\nmemory_limit = \"100m\"\n";
    let image = |place: &Place, more: &[&str]| {
        let made = place.json_ok(&[&["create"], more].concat());
        (
            made["image"].clone(),
            made["limits"]["memory_bytes"].clone(),
        )
    };
    let mib = |n: u64| json!(n << 20);
    let place = Place::demo();
    assert_eq!(image(&place, &[]), (json!("python:3.12-slim"), mib(512)));
    let place = place.configured(toml);
    assert_eq!(image(&place, &[]), (json!("from-file"), mib(100)));
    let place = place
        .with("SANDTOP_IMAGE", "from-variable")
        .with("CODE_EXECUTION_MEMORY_MB", "200");
    assert_eq!(image(&place, &[]), (json!("from-variable"), mib(200)));
    let flags = ["--image", "from-flag", "--memory", "300m"];
    assert_eq!(image(&place, &flags), (json!("from-flag"), mib(300)));
    let other = place.path("other.toml");
    fs::write(&other, "[sandbox]\npids_limit = 77\n").unwrap();
    let place = place.with("SANDTOP_CONFIG", &other.display().to_string());
    assert_eq!(place.json_ok(&["create"])["limits"]["pids"], 77);
    let third = place.path("third.toml");
    fs::write(&third, "[sandbox]\npids_limit = 78\n").unwrap();
    let made = place.json_ok(&["create", "--config", third.to_str().unwrap()]);
    assert_eq!(made["limits"]["pids"], 78);
    let place = place.with("CODE_EXECUTION_MEMORY_MB", "much");
    place.run(&["ls"]).exits(2).says("CODE_EXECUTION_MEMORY_MB");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = place();
    for args in [
        &["--help"][..],
        &["--version"],
        &["config", "default"],
        &["config", "show", "--json"],
        &["completions", "bash"],
        &["man"],
        &["ls"],
        &["ls", "--json"],
        &["inspect", "demo-python"],
        &["stats"],
        &["events"],
        &["doctor"],
        &["events", "--follow"],
        &["stats", "--watch"],
        &["files", "ls", "demo-python"],
        &["files", "cat", "demo-python", "main.py"],
        &["exec", "demo-python", "--", "echo", "hello"],
        &["--json", "exec", "demo-python", "--", "echo", "hello"],
    ] {
        if args == ["events", "--follow"] {
            // Nothing happens here by itself, so nothing is written and nobody notices.
            continue;
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(args);
        command.stdout(writer).stderr(Stdio::piped());
        let ran = Running::start_as_is(command).wait();
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("error"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn an_interrupt_is_code_130() {
    let place = place();
    let mut running = place.start(&["--json", "stats", "--watch"]);
    running.until_stdout("\n");
    running.signal(Signal::INT);
    let ran = running.wait().exits(130);
    for line in ran.text().lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(value["cpu_percent"].is_number());
    }
    let script = "echo begun; sleep 50";
    let mut running = place.start(&["exec", "demo-python", "--", "sh", "-c", script]);
    running.until_stdout("begun");
    running.signal(Signal::INT);
    running.wait().exits(130);
    let mut running = place.start(&["stats", "--watch"]);
    running.until_stdout("\n");
    running.signal(Signal::TERM);
    running.wait().exits(143);
}

#[test]
fn files_are_measured_while_figures_are_watched() {
    let place = place();
    let running = place.start(&["--json", "stats", "--watch", "demo-python"]);
    until("a size is told", || {
        let lines = running.stdout_so_far();
        let last = lines.lines().next_back().unwrap_or_default();
        let value: Value = serde_json::from_str(last).unwrap_or_default();
        value["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 0)
    });
    running.signal(Signal::INT);
    running.wait().exits(130);
}

#[test]
fn the_log_goes_to_a_file_and_says_where() {
    let place = place();
    let ran = place.run(&["-vv", "--json", "ls"]).ok().says("log: ");
    ran.json();
    let state = place.path("state/sandtop");
    assert!(ran.stderr.contains(state.to_str().unwrap()));
    let mode = fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not look into {mode:o}");
    let logs = fs::read_dir(&state).unwrap();
    assert!(
        logs.flatten()
            .any(|e| e.file_name().to_string_lossy().contains("log"))
    );
}

#[test]
fn a_state_directory_that_cannot_be_made_costs_only_the_log() {
    let place = place();
    fs::write(place.path("state"), "a file").unwrap();
    place.run(&["ls"]).ok();
    let (code, value) = place.json(&["doctor"]);
    assert_eq!((code, &value["ok"]), (1, &json!(false)));
}
