//! What goes wrong: time, memory, disk and limits run out, processes are killed, sandboxes vanish, output is endless.

use std::fs;
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Place, Running, busybox, python, until};

/// What sandtop may use, however much goes through it.
const MEMORY: u64 = 64 << 20;

/// Processes of a sandbox whose command line holds the word, as the engine sees them.
fn processes(place: &Place, name: &str, word: &str) -> usize {
    let list = place.docker_says(&["top", name, "-eo", "pid,args"]);
    list.lines().filter(|line| line.contains(word)).count()
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_timeout_ends_the_whole_tree() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    // Ignores TERM, forks twice, in a session of its own; and the main process ignores TERM, too.
    let script = "trap '' TERM; echo so far; echo err so far >&2; \
                  (setsid sh -c \"trap '' TERM; (sleep 54321 &) ; sleep 54322\" &) ; \
                  while :; do sleep 54323; done";
    let begin = Instant::now();
    let ran = place.run(&["exec", &name, "--timeout", "1", "--", "sh", "-c", script]);
    let took = begin.elapsed();
    let ran = ran.exits(124).says("err so far").says("timed out");
    assert_eq!(ran.text(), "so far\n");
    assert!((1.0..3.0).contains(&took.as_secs_f64()), "{took:?}");
    assert_eq!(processes(&place, &name, "5432"), 0);
    let ps = place.run(&["exec", &name, "--", "ps"]).ok();
    assert!(!ps.text().contains("5432"), "{}", ps.text());
    let (code, run) = place.json(&["exec", &name, "--timeout", "0.3", "--", "sh", "-c", script]);
    assert_eq!(code, 124);
    assert_eq!(
        (&run["status"], &run["exit_code"]),
        (&json!("timeout"), &json!(124))
    );
    assert_eq!(run["stdout"], "so far\n");
    assert_eq!(processes(&place, &name, "5432"), 0);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_sandboxes_own_timeout_counts() {
    let place = Place::docker();
    let name = place.sandbox(&["--timeout", "1"]);
    place.run(&["exec", &name, "--", "sleep", "50"]).exits(124);
    let script = "sleep 1.3; echo late";
    let ran = place.run(&["exec", &name, "--timeout", "0", "--", "sh", "-c", script]);
    assert_eq!(ran.ok().text(), "late\n");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_memory_bomb_is_told_as_such() {
    let place = Place::docker();
    let name = place.sandbox(&["--memory", "32m"]);
    let bomb = [
        "exec",
        &name,
        "--",
        "sh",
        "-c",
        "echo begun; exec tail /dev/zero",
    ];
    let (code, run) = place.json(&bomb);
    assert_eq!((code, &run["status"]), (137, &json!("oom")), "{run}");
    assert_eq!(
        (&run["exit_code"], &run["stdout"]),
        (&json!(137), &json!("begun\n"))
    );
    place.run(&bomb).exits(137).says("out of memory");
    place.run(&["exec", &name, "--", "true"]).ok();
    let (_, killed) = place.json(&["exec", &name, "--", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(
        killed["status"], "signal",
        "an ordinary kill is not taken for it"
    );
    until("the event is there", || {
        let events = place.json_ok(&["events"]);
        events
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["what"] == "oom")
    });
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_fork_bomb_is_stopped() {
    let place = Place::docker();
    let name = place.sandbox(&["--pids", "40", "--cpus", "0.5"]);
    let begin = Instant::now();
    let bomb = "b() { b | b & }; b; sleep 100";
    let ran = place.run(&["exec", &name, "--timeout", "1", "--", "sh", "-c", bomb]);
    assert_ne!(ran.code, 0);
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
    let mut bomb = place.start(&[
        "exec",
        &name,
        "--",
        "sh",
        "-c",
        // The shell that is waited for must not be one whose fork is refused.
        "(b() { b | b & }; b) & echo begun; exec sleep 100",
    ]);
    bomb.until_stdout("begun");
    let begin = Instant::now();
    place.run(&["rm", "-f", &name]).ok();
    assert!(
        begin.elapsed() < Duration::from_secs(8),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(bomb.wait().code, 125);
    assert_eq!(place.belongings(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn output_that_is_no_text_is_kept_exactly() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let script = "printf 'a\\377b\\000c'; printf '\\200' >&2";
    let ran = place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    assert_eq!(ran.stdout, b"a\xffb\0c");
    let run = place.json_ok(&["exec", &name, "--", "sh", "-c", script]);
    assert_eq!(run["stdout"], "a\u{fffd}b\0c");
    let exact = STANDARD
        .decode(run["stdout_base64"].as_str().unwrap())
        .unwrap();
    assert_eq!(exact, b"a\xffb\0c");
    let exact = STANDARD
        .decode(run["stderr_base64"].as_str().unwrap())
        .unwrap();
    assert_eq!(exact, b"\x80");
    let plain = place.json_ok(&["exec", &name, "--", "echo", "ü"]);
    assert!(plain.get("stdout_base64").is_none());
    place.feed(b"\xff\0", &["files", "put", &name, "f"]).ok();
    let cat = place.json_ok(&["files", "cat", &name, "f"]);
    assert!(cat["content_base64"].is_string());
}

/// The most memory that a process has had, while it lives.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib << 10)
}

/// Reads all output of a program in blocks, checks each, and returns the number of bytes and the peak of memory.
fn drain(place: &Place, args: &[&str], block: usize, check: impl Fn(usize, &[u8])) -> (u64, u64) {
    let mut command = place.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut buffer, mut number, mut total, mut most) = (vec![0; block], 0, 0, 0);
    loop {
        let mut filled = 0;
        while filled < block {
            match stdout.read(&mut buffer[filled..]).unwrap() {
                0 => break,
                got => filled += got,
            }
        }
        check(number, &buffer[..filled]);
        number += 1;
        total += filled as u64;
        most = most.max(peak(&child).unwrap_or(0));
        if filled < block {
            break;
        }
    }
    drop(stdout);
    let ran = Running::start_none(child).wait().ok();
    assert_eq!(ran.code, 0);
    (total, most)
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn endless_output_is_complete_and_memory_stays_flat() {
    let place = Place::docker();
    let name = place.sandbox_of(&python(), &[]);
    let blocks = 4096u64;
    let script = "import os\n\
                  for n in range(4096):\n    b = memoryview(b'%015d\\n' % n + bytes([n % 251]) * 65520)\n    \
                  while b: b = b[os.write(1, b):]\n";
    let (total, most) = drain(
        &place,
        &["exec", &name, "--", "python3", "-c", script],
        64 << 10,
        |n, block| {
            if n as u64 == blocks {
                assert!(block.is_empty());
                return;
            }
            let (head, body) = block.split_at(16);
            assert_eq!(head, format!("{n:015}\n").as_bytes());
            assert!(
                body == vec![u8::try_from(n % 251).unwrap(); 65520],
                "block {n}"
            );
        },
    );
    assert_eq!(total, 256 << 20);
    assert!(most > 0 && most < MEMORY, "{} MiB", most >> 20);
    // One line of 100 MB, on standard error as well as on standard output.
    let script = "import os\nb = b'x' * 1000000\nfor n in range(100):\n    v = memoryview(b)\n    \
                  while v: v = v[os.write(1, v):]\n";
    let line = vec![b'x'; 1_000_000];
    let (total, most) = drain(
        &place,
        &["exec", &name, "--", "python3", "-c", script],
        1_000_000,
        |n, block| assert!(n == 100 || block == line, "block {n}"),
    );
    assert_eq!(total, 100_000_000);
    assert!(most > 0 && most < MEMORY, "{} MiB", most >> 20);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn json_keeps_what_the_settings_say_and_counts_the_rest() {
    let place = Place::docker();
    let place = place.configured("[output]\njson_limit = \"1k\"\n");
    let name = place.sandbox(&[]);
    let script = "head -c 5000000 /dev/zero | tr '\\0' x; head -c 1500 /dev/zero | tr '\\0' y >&2";
    let run = place.json_ok(&["exec", &name, "--", "sh", "-c", script]);
    assert_eq!(run["stdout"], "x".repeat(1024));
    assert_eq!(run["stderr"], "y".repeat(1024));
    assert_eq!(
        run["truncated"],
        json!({"stdout": 5_000_000 - 1024, "stderr": 1500 - 1024})
    );
    place
        .feed(&[b'z'; 3000], &["files", "put", &name, "f"])
        .ok();
    assert_eq!(
        place.json_ok(&["files", "cat", &name, "f"])["truncated"],
        3000 - 1024
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_reader_that_hangs_up_ends_the_command() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["exec", &name, "--", "yes"]);
    command.stdout(writer).stderr(Stdio::piped());
    let running = Running::start_as_is(command);
    // `Command` holds the write end, too; it was dropped with the start.
    let mut some = [0; 10];
    reader.read_exact(&mut some).unwrap();
    assert_eq!(&some, b"y\ny\ny\ny\ny\n");
    drop(reader);
    let ran = running.wait().ok();
    assert_eq!(ran.stderr, "");
    assert_eq!(processes(&place, &name, "yes"), 0);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_reader_that_does_not_read_keeps_no_interrupt_away() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["exec", &name, "--", "yes"]);
    command.stdout(writer).stderr(Stdio::piped());
    let running = Running::start_as_is(command);
    reader.read_exact(&mut [0; 10]).unwrap();
    // A full pipe stays full: the same bytes wait at two looks while the command could print gigabytes.
    let mut waiting = 0;
    until("the pipe is full", || {
        let before = waiting;
        waiting = rustix::io::ioctl_fionread(&reader).unwrap();
        waiting > 4096 && waiting == before
    });
    running.signal(Signal::INT);
    running.wait().exits(130);
    assert_eq!(processes(&place, &name, "yes"), 0);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_interrupted_command_leaves_nothing_running() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let script = "(setsid sleep 54321 &); echo begun; sleep 54322";
    let exec = ["exec", &name, "--", "sh", "-c", script];
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut running = place.start(&exec);
        running.until_stdout("begun");
        running.signal(signal);
        running.wait().exits(code);
        until("all processes have ended", || {
            processes(&place, &name, "5432") == 0
        });
    }
    let mut running = place.start(&[&["--json"], &exec[..]].concat());
    until("it runs", || processes(&place, &name, "54322") > 0);
    assert!(running.is_running());
    running.signal(Signal::INT);
    let ran = running.wait().exits(130);
    let run = ran.json();
    assert_eq!(
        (&run["status"], &run["stdout"]),
        (&json!("cancelled"), &json!("begun\n"))
    );
    place.run(&["exec", &name, "--", "true"]).ok();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_killed_sandtop_leaves_the_truth_in_the_list() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut running = place.start(&["exec", &name, "--", "sh", "-c", "echo begun; sleep 54321"]);
    running.until_stdout("begun");
    running.signal(Signal::KILL);
    running.wait().exits(137);
    let list = place.json_ok(&["ls"]);
    assert_eq!(
        (&list[0]["name"], &list[0]["phase"]),
        (&json!(name), &json!("running"))
    );
    place.run(&["exec", &name, "--", "true"]).ok();
    place.run(&["rm", "-f", &name]).ok();
    // In the middle of create: as soon as there is a container.
    let image = busybox();
    let other = place.name("killed");
    let running = place.start(&["create", &other, "--image", &image]);
    until("the container is there", || !place.belongings().is_empty());
    running.signal(Signal::KILL);
    running.wait();
    let list = place.json_ok(&["ls", "--all"]);
    let there = place.docker_says(&[
        "ps",
        "-a",
        "--format",
        "{{.State}}",
        "--filter",
        &format!("label=sandtop.scope={}", place.scope),
    ]);
    assert_eq!(
        list.as_array().unwrap().len(),
        there.lines().count(),
        "{list} {there}"
    );
    if let Some(left) = list.get(0) {
        let phase = left["phase"].as_str().unwrap();
        let state = there.trim();
        assert!(
            (state == "running") == (phase == "running"),
            "the engine says {state}, the list {phase}"
        );
        place.run(&["rm", "-f", &other]).ok();
    }
    assert_eq!(place.belongings(), Vec::<String>::new());
    // The name and the place are free again.
    place.run(&["create", &other, "--image", &image]).ok();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_interrupted_create_leaves_nothing() {
    let place = Place::docker();
    let image = busybox();
    let (mut early, mut interrupted) = (0, 0);
    for (round, signal) in [Signal::TERM, Signal::INT, Signal::TERM, Signal::HUP]
        .into_iter()
        .enumerate()
    {
        let name = place.name(&format!("cut{round}"));
        let mut running = place.start(&["create", &name, "--image", &image]);
        let slots = place.path("state/sandtop/slots");
        // Once as soon as the place is reserved, then as soon as the container is there.
        until("it has begun", || {
            let reserved = fs::read_dir(&slots)
                .into_iter()
                .flatten()
                .flatten()
                .any(|folder| folder.path().join(format!("{name}.slot")).exists());
            let begun = if round % 2 == 0 {
                reserved
            } else {
                !place.belongings().is_empty()
            };
            begun || !running.is_running()
        });
        if !running.is_running() {
            early += 1;
            running.wait().ok();
            place.run(&["rm", "-f", &name]).ok();
            continue;
        }
        running.signal(signal);
        let ran = running.wait();
        if ran.code == 0 {
            // It was done before it heard.
            early += 1;
            place.run(&["rm", "-f", &name]).ok();
            continue;
        }
        interrupted += 1;
        assert!([129, 130, 143].contains(&ran.code), "{ran:?}");
        assert_eq!(place.belongings(), Vec::<String>::new(), "round {round}");
        place.run(&["create", &name, "--image", &image]).ok();
        place.run(&["rm", "-f", &name]).ok();
    }
    assert!(interrupted > 0, "{early} of 4 were too quick");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_sandbox_removed_behind_our_back_is_told() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut running = place.start(&["exec", &name, "--", "sh", "-c", "echo begun; sleep 54321"]);
    running.until_stdout("begun");
    place.docker_says(&["rm", "-f", "-v", &name]);
    let begin = Instant::now();
    let ran = running.wait().exits(125).says("went away");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(ran.text(), "begun\n");
    place.run(&["exec", &name, "--", "true"]).exits(4);
    assert_eq!(place.json_ok(&["ls", "--all"]), json!([]));
    // Stopped behind our back.
    let name = place.sandbox(&[]);
    let mut running = place.start(&["--json", "exec", &name, "--", "sleep", "54321"]);
    until("it runs", || processes(&place, &name, "54321") > 0);
    assert!(running.is_running());
    place.docker_says(&["kill", &name]);
    let ran = running.wait();
    let run = ran.json();
    assert_eq!(ran.code, 125, "{run}");
    assert_eq!(run["status"], "lost");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_full_disk_keeps_the_old_file() {
    let place = Place::docker();
    let place = place.configured("[sandbox]\ntmp_size = \"1m\"\n");
    let name = place.sandbox(&[]);
    place.feed(b"old", &["files", "put", &name, "/tmp/f"]).ok();
    let much = vec![b'x'; 3 << 20];
    let ran = place
        .feed(&much, &["--json", "files", "put", &name, "/tmp/f"])
        .exits(1);
    assert_eq!(ran.json()["error"]["kind"], "no_space", "{}", ran.text());
    assert_eq!(
        place.run(&["files", "cat", &name, "/tmp/f"]).ok().text(),
        "old"
    );
    let list = place.json_ok(&["files", "ls", &name, "/tmp"]);
    assert_eq!(
        list.as_array().unwrap().len(),
        1,
        "nothing half done is left: {list}"
    );
    fs::write(place.path("much"), &much).unwrap();
    let (code, value) = place.json(&["cp", "much", &format!("{name}:/tmp/g")]);
    assert_eq!((code, &value["error"]["kind"]), (1, &json!("no_space")));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_interrupted_put_keeps_the_old_file() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    place.feed(b"old", &["files", "put", &name, "f"]).ok();
    let mut command = place.command(&["files", "put", &name, "f"]);
    command.stdin(Stdio::piped());
    let mut running = Running::start(command);
    let mut stdin = running.child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &vec![b'n'; 1 << 20]).unwrap();
    until("the guest writes", || processes(&place, &name, "write") > 0);
    running.signal(Signal::INT);
    running.wait().exits(130);
    drop(stdin);
    until("it has given up", || {
        place
            .json_ok(&["files", "ls", &name])
            .as_array()
            .unwrap()
            .len()
            == 1
    });
    assert_eq!(place.run(&["files", "cat", &name, "f"]).ok().text(), "old");
}

/// Big files are brought by the engine, which knows nothing of names that are given only when a file is whole.
#[test]
#[ignore = "needs Docker: tests/run"]
fn a_copy_that_is_killed_leaves_the_old_file_and_nothing_else() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let source = place.path("big");
    let big = fs::File::create(&source).expect("a file");
    big.set_len(1 << 30).expect("a long file");
    place.feed(b"old", &["files", "put", &name, "big"]).ok();
    // The engine lets nobody in while it writes, so the volume is looked at from outside.
    let format = r#"{{range .Mounts}}{{if eq .Destination "/workspace"}}{{.Source}}{{end}}{{end}}"#;
    let volume = place.docker_says(&["inspect", "--format", format, &name]);
    let names = || -> Vec<_> {
        let entries = fs::read_dir(volume.trim()).expect("a volume");
        let names = entries.map(|entry| entry.expect("a name").file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    };
    let target = format!("{name}:/workspace/big");
    let copying = place.start(&["cp", &source.to_string_lossy(), &target]);
    until("the copy is under way", || names().len() == 2);
    copying.signal(Signal::KILL);
    until("nothing is left of it", || names() == ["big"]);
    let kept = place.run(&["files", "cat", &name, "/workspace/big"]).ok();
    assert_eq!(kept.text(), "old");
}

#[test]
fn a_damaged_record_is_told_once_and_by_the_doctor() {
    let place = Place::local();
    place.run(&["create", "a"]).ok();
    let folder = place.path("state/sandtop");
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("store.db{suffix}")));
    }
    fs::write(folder.join("store.db"), b"no database at all ".repeat(400)).unwrap();
    place
        .run(&["ls"])
        .ok()
        .says("was damaged; it was set aside as");
    let again = place.run(&["ls"]).ok();
    assert!(!again.stderr.contains("damaged"), "{}", again.stderr);
    let doctor = place.json(&["doctor"]).1;
    let checks = doctor["checks"].as_array().unwrap();
    let store = checks
        .iter()
        .find(|check| check["name"] == "store")
        .unwrap();
    assert_eq!(store["level"], "warn", "{store}");
    let told = store["message"].as_str().unwrap();
    assert!(told.contains("store.db.damaged-"), "{told}");
    assert!(
        store["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("delete"))
    );
    place.run(&["rm", "-f", "a"]).ok();
}
