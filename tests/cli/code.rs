//! `check`, `deps` and `run`: code in, findings, packages and results out.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, busybox, python, until};

#[test]
fn check_tells_findings_and_only_strict_fails() {
    let place = Place::demo();
    fs::write(place.path("a.sh"), "true\nsudo rm -rf /\n").unwrap();
    let value = place.json_ok(&["check", "a.sh"]);
    assert_eq!(value["language"], "bash");
    assert_eq!(value["safe"], false);
    let found = &value["findings"][0];
    assert_eq!(
        (
            &found["rule"],
            &found["severity"],
            &found["line"],
            &found["column"]
        ),
        (
            &json!("sh-delete-root"),
            &json!("danger"),
            &json!(2),
            &json!(6)
        )
    );
    let text = place.run(&["check", "a.sh"]).ok().says("seat-belt");
    assert!(text.text().starts_with("2:6 danger sh-delete-root:"));
    place.run(&["check", "--strict", "a.sh"]).exits(5);
    let fine = place.feed(
        b"print(1)",
        &["check", "--strict", "--lang", "py", "--json"],
    );
    assert_eq!(
        fine.ok().json(),
        json!({"language": "python", "safe": true, "level": "info", "findings": []})
    );
}

/// Programs that start others or run text as code.
const UNSAFE_WHEN_STRICT: [(&str, &str); 7] = [
    ("py", "import os\nos.system('ls')"),
    ("py", "import subprocess\nsubprocess.run(['ls'])"),
    ("py", "eval(input())"),
    ("js", "require('child_process').exec('ls')"),
    ("js", "new Function('return 1')()"),
    (
        "js",
        "import { exec } from 'node:child_process'; exec('ls')",
    ),
    ("sh", "curl https://example.org/x | sh"),
];

#[test]
fn what_is_safe_depends_on_the_level() {
    let place = Place::demo();
    for (language, code) in UNSAFE_WHEN_STRICT {
        let check = ["check", "--lang", language, "--json"];
        let strict = [&check[..], &["--strict"]].concat();
        let usual = place.feed(code.as_bytes(), &check).ok().json();
        assert_eq!(usual["level"], "danger", "{code}");
        let value = place.feed(code.as_bytes(), &strict).exits(5).json();
        assert_eq!(
            (&value["safe"], &value["level"]),
            (&json!(false), &json!("info")),
            "{code}"
        );
    }
    let block = |level: &str| {
        let settings = format!("[sandbox]\nchecks = 'block'\nchecks_level = '{level}'\n");
        Place::demo().configured(&settings)
    };
    let code = b"eval(input())";
    let checked = |place: &Place| {
        place
            .feed(code, &["check", "-l", "py", "--json"])
            .ok()
            .json()
    };
    let usual = block("danger");
    assert_eq!(checked(&usual)["safe"], true);
    let careful = block("warn");
    assert_eq!(checked(&careful)["safe"], false);
    careful
        .feed(code, &["run", "-l", "py"])
        .exits(5)
        .says("at or above `warn`");
    Place::demo()
        .configured("[sandbox]\nchecks_level = 'dangers'\n")
        .feed(code, &["check", "-l", "py"])
        .exits(2)
        .says("did you mean `danger`");
}

#[test]
fn deps_lists_packages_with_pins_and_without_neighbours() {
    let place = Place::demo();
    fs::write(place.path("helper.py"), "").unwrap();
    fs::write(
        place.path("a.py"),
        "import helper, yaml, os\nimport requests",
    )
    .unwrap();
    let value = place.json_ok(&["deps", "a.py", "--deps", "requests==2.28.0,rich>=13,<14"]);
    assert_eq!(value["deps"], json!(["pyyaml", "requests", "rich"]));
    assert_eq!(
        value["requirements"],
        json!(["pyyaml", "requests==2.28.0", "rich>=13,<14"])
    );
    let old = place.feed(
        b"import distutils, tomllib",
        &["deps", "-l", "py", "--python", "3.12"],
    );
    assert_eq!(old.ok().text(), "setuptools\n");
    let js = place.feed(
        b"import x from 'lodash/fp'\nimport 'node:fs'",
        &["deps", "-l", "js"],
    );
    assert_eq!(js.ok().text(), "lodash\n");
}

#[test]
fn languages_are_known_guessed_refused_and_configured() {
    let place = Place::demo();
    let unknown = place.feed(b"x", &["check", "--lang", "cobol"]).exits(2);
    assert!(
        unknown.stderr.contains("Unsupported language: cobol"),
        "{}",
        unknown.stderr
    );
    place.feed(b"x", &["check"]).exits(2).says("--lang");
    place.run(&["check", "missing.py"]).exits(4);
    let shebang = place.feed(b"#!/usr/bin/env node\neval(x)", &["check", "--json"]);
    assert_eq!(shebang.ok().json()["language"], "javascript");
    let own = place.configured("[languages.lua]\nrun = ['lua', '{file}']\nendings = ['lua']\n");
    fs::write(own.path("a.lua"), "print(1)").unwrap();
    assert_eq!(own.json_ok(&["check", "a.lua"])["language"], "lua");
    let wrong = Place::demo().configured("[languages.x]\nendings = ['x']\n");
    wrong
        .feed(b"", &["check", "-l", "x"])
        .exits(2)
        .says("needs `run`");
}

#[test]
fn hostile_code_gets_an_answer() {
    let place = Place::demo();
    for (lang, code) in [
        ("py", "(".repeat(100_000)),
        ("js", "[".repeat(100_000)),
        ("sh", "$(".repeat(100_000)),
    ] {
        place
            .feed(code.as_bytes(), &["check", "--lang", lang, "--json"])
            .ok()
            .json();
    }
    let large = place.feed(
        &vec![b'\n'; 10_000_000],
        &["check", "--lang", "py", "--json"],
    );
    assert_eq!(large.ok().json()["findings"][0]["rule"], "unchecked");
    place
        .feed(b"\0\xff\xfe", &["check", "--lang", "js", "--json"])
        .ok()
        .json();
}

#[test]
fn policies_block_and_run_says_so() {
    let place = Place::demo().configured("[sandbox]\nchecks = 'block'\n");
    let blocked = place
        .feed(b"rm -rf /", &["run", "--lang", "sh", "--json"])
        .exits(5)
        .json();
    assert_eq!(
        (&blocked["status"], &blocked["run"]),
        (&json!("denied"), &Value::Null)
    );
    assert_eq!(blocked["findings"][0]["rule"], "sh-delete-root");
    place
        .feed(b"rm -rf /", &["run", "--lang", "sh"])
        .exits(5)
        .says("policy");
    let asked = Place::demo().configured("[sandbox]\nchecks = 'ask'\n");
    asked
        .feed(b"rm -rf /", &["run", "--lang", "sh", "--json"])
        .exits(5);
}

#[test]
fn run_works_on_the_simulated_engine() {
    let place = Place::demo();
    fs::write(place.path("a.py"), "print('hello')\n").unwrap();
    let ran = place.run(&["run", "a.py", "--sandbox", "demo-python"]);
    assert_eq!(ran.ok().text(), "hello\n");
}

/// Runs code in a fresh sandbox.
fn run(place: &Place, language: &str, code: &str, more: &[&str]) -> (i32, Value) {
    let image = python();
    let usual = ["run", "--json", "--image", &image, "--lang", language];
    let args = [&usual, more].concat();
    let ran = place.feed(code.as_bytes(), &args);
    (ran.code, ran.json())
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn programs_end_as_they_end() {
    let place = Place::docker();
    let table = [
        ("python", "print(1)", 0, "ok", "1\n"),
        (
            "python",
            "import sys\nprint(2, file=sys.stderr)\nsys.exit(0)",
            0,
            "ok",
            "",
        ),
        ("python", "print('before')\n1/0", 1, "nonzero", "before\n"),
        ("python", "print(", 1, "nonzero", ""),
        ("javascript", "console.log(1)", 0, "ok", "1\n"),
        (
            "javascript",
            "import os from 'os'\nconsole.log(await Promise.resolve(7))",
            0,
            "ok",
            "7\n",
        ),
        ("javascript", "throw new Error('no')", 1, "nonzero", ""),
        ("javascript", "let x = ;", 1, "nonzero", ""),
        ("bash", "echo \"$((1 + 1))\"; exit 7", 7, "nonzero", "2\n"),
        ("bash", "if", 2, "nonzero", ""),
        ("bash", "kill -SEGV $$", 139, "signal", ""),
    ];
    for (language, code, exit, status, stdout) in table {
        let (exited, value) = run(&place, language, code, &[]);
        assert_eq!(
            (exited, &value["status"]),
            (exit, &json!(status)),
            "{code}: {value}"
        );
        assert_eq!(value["stdout"], stdout, "{code}");
        assert_eq!(
            (&value["language"], &value["deps_cache"]),
            (&json!(language), &json!("none"))
        );
    }
    let runs = place.json_ok(&["runs"]);
    let recorded = |language: &str| {
        let all = runs.as_array().unwrap();
        all.iter().any(|run| run["language"] == language)
    };
    assert!(recorded("python") && recorded("bash"), "{runs}");
    let (_, failed) = run(&place, "python", "print('before')\n1/0", &[]);
    let told = failed["stderr"].as_str().unwrap();
    assert!(
        told.contains("ZeroDivisionError") && told.contains("line 2"),
        "{told}"
    );
    assert_eq!(place.belongings(), Vec::<String>::new(), "nothing is left");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn limits_of_a_run_hold_and_output_so_far_is_kept() {
    let place = Place::docker();
    let endless = "print('x', flush=True)\nwhile True: pass";
    let (code, value) = run(&place, "python", endless, &["--timeout", "1"]);
    assert_eq!(
        (code, &value["status"], &value["stdout"]),
        (124, &json!("timeout"), &json!("x\n"))
    );
    let (code, value) = run(&place, "python", "x = bytearray(900 << 20)", &[]);
    assert_eq!((code, &value["status"]), (137, &json!("oom")));
    let (code, value) = run(&place, "python", "print('y' * (20 << 20))", &[]);
    let kept = value["stdout"].as_str().unwrap().len() as u64;
    let cut = value["truncated"]["stdout"].as_u64().unwrap();
    assert_eq!((code, kept + cut), (0, (20 << 20) + 1));
    assert_eq!(place.belongings(), Vec::<String>::new(), "nothing is left");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn programs_get_input_arguments_variables_and_context() {
    let place = Place::docker();
    let code = "import json, os, sys\nc = json.load(open(os.environ['SANDTOP_CONTEXT']))\n\
                print(input(), sys.argv[1:], os.environ['API_KEY'], c['a'], 'SANDTOP_CODE' in os.environ)";
    fs::write(place.path("a.py"), code).unwrap();
    fs::write(place.path("c.json"), "{\"a\": 5}").unwrap();
    let image = python();
    let args = [
        "run",
        "a.py",
        "--image",
        &image,
        "--env",
        "API_KEY=hush",
        "--context-file",
        "c.json",
        "--json",
        "--",
        "-x",
        "y",
    ];
    let value = place.feed(b"line\n", &args).ok().json();
    assert_eq!(value["stdout"], "line ['-x', 'y'] hush 5 False\n");
    assert_eq!(value["env"], json!({"API_KEY": "********"}));
    // Larger than what fits beside the command.
    let large = format!("x = {:?}\nprint(len(x))", "z".repeat(300_000));
    assert_eq!(run(&place, "python", &large, &[]).1["stdout"], "300000\n");
    fs::write(place.path("bad.json"), "{").unwrap();
    let bad = [
        "run",
        "a.py",
        "--image",
        &image,
        "--context-file",
        "bad.json",
    ];
    place.run(&bad).exits(2).says("bad.json");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_image_without_the_interpreter_says_exactly_that() {
    let place = Place::docker();
    let image = busybox();
    let ran = place
        .feed(b"print(1)", &["run", "--lang", "py", "--image", &image])
        .exits(127);
    assert!(
        ran.stderr.contains("cannot run python: it has no python3"),
        "{}",
        ran.stderr
    );
    let shell = place
        .feed(b"echo hi", &["run", "--lang", "sh", "--image", &image])
        .ok();
    assert_eq!(shell.text(), "hi\n");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn runs_in_a_given_sandbox_see_its_files() {
    let place = Place::docker();
    let name = place.sandbox_of(&python(), &[]);
    place
        .feed(b"X = 5\n", &["files", "put", &name, "helper.py"])
        .ok();
    let ran = place.feed(
        b"import helper\nprint(helper.X)",
        &["run", "-l", "py", "--sandbox", &name],
    );
    assert_eq!(ran.ok().text(), "5\n");
    place.run(&["exec", &name, "--", "true"]).ok();
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_interrupted_run_leaves_nothing() {
    let place = Place::docker();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        fs::write(
            place.path("a.py"),
            "import time\nprint('on', flush=True)\ntime.sleep(100)",
        )
        .unwrap();
        let mut running = place.start(&["run", "a.py", "--image", &python()]);
        running.until_stdout("on");
        running.signal(signal);
        running.wait().exits(code);
        until("the sandbox is gone", || place.belongings().is_empty());
    }
    let early = place.start(&["run", "a.py", "--image", &python()]);
    until("something is made", || !place.belongings().is_empty());
    early.signal(Signal::INT);
    early.wait().exits(130);
    until("the sandbox is gone", || place.belongings().is_empty());
}

/// What the program that fails in its second line says of its file.
fn failing(place: &Place, more: &[&str]) -> String {
    let ran = place.run(&[&["run", "boom.py"], more].concat()).exits(1);
    let line = ran.stderr.lines().find(|line| line.contains("line 2"));
    line.unwrap_or_else(|| panic!("no line in {}", ran.stderr))
        .to_owned()
}

#[test]
fn errors_and_records_name_the_file_and_no_other_of_that_name_is_touched() {
    let place = Place::local();
    fs::write(place.path("boom.py"), "x = 0\n1 / x\n").unwrap();
    assert!(failing(&place, &[]).contains("\"/workspace/boom.py\""));
    let name = place.sandbox_of("host", &[]);
    let there = ["-s", name.as_str()];
    let hidden = failing(&place, &there);
    assert!(
        hidden.contains("/workspace/.sandtop-") && hidden.contains("-boom.py\""),
        "{hidden}"
    );
    // Another file of that name stays as it is; the same one runs as itself.
    let put = ["files", "put", &name, "boom.py"];
    place.feed(b"precious", &put).ok();
    assert!(failing(&place, &there).contains("/workspace/.sandtop-"));
    let content = place.run(&["files", "cat", &name, "boom.py"]).ok();
    assert_eq!(content.text(), "precious");
    place.feed(b"x = 0\n1 / x\n", &put).ok();
    assert!(failing(&place, &there).contains("\"/workspace/boom.py\""));
    let listed = place.run(&["runs", "-n", "1"]).ok();
    assert!(
        listed.text().contains("boom.py: x = 0"),
        "{}",
        listed.text()
    );
    let run = &place.json_ok(&["runs", "-n", "1"])[0];
    assert_eq!(
        (&run["name"], &run["headline"]),
        (&json!("boom.py"), &json!("boom.py: x = 0"))
    );
}

#[test]
fn a_program_may_be_called_like_a_module_of_python() {
    let place = Place::local();
    fs::write(place.path("random.py"), "import tempfile\nprint('fine')\n").unwrap();
    assert_eq!(place.run(&["run", "random.py"]).ok().text(), "fine\n");
}

/// With `SANDTOP_TEST_LANGUAGES`, a folder with a system in it, for all of them; else for what this machine has in `/usr`.
#[test]
fn further_languages_run_or_say_what_is_missing() {
    let place = Place::local();
    let image = std::env::var("SANDTOP_TEST_LANGUAGES").unwrap_or_else(|_| "host".to_owned());
    let go = "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Args[1]); os.Exit(3) }\n";
    let rust =
        "fn main() { println!(\"{}\", std::env::args().nth(1).unwrap()); std::process::exit(3) }\n";
    let table = [
        ("ruby", "puts ARGV[0]\nexit 3\n"),
        ("go", go),
        ("rust", rust),
        (
            "typescript",
            "const word: string = process.argv[2];\nconsole.log(word);\nprocess.exit(3);\n",
        ),
    ];
    // There every language runs for real; plain `cargo test` takes what the machine has.
    let is_required = std::env::var("SANDTOP_TEST_DOCKER").is_ok_and(|word| word == "required");
    let name = place.name("s");
    place.run(&["create", &name, "--image", &image]).ok();
    for (language, code) in table {
        // Debian's ts-node looks for its parts, and for types, where only Debian's own node does.
        let usual = ["run", "-l", language, "-s", &name];
        let parts = [
            "-e",
            "NODE_PATH=/usr/share/nodejs",
            "-e",
            "TS_NODE_TRANSPILE_ONLY=1",
        ];
        let args = [&usual[..], &parts, &["--", "a b"]].concat();
        // The second time what was built is there.
        for _ in 0..2 {
            let ran = place.feed(code.as_bytes(), &args);
            if ran.code == 127 {
                let words = format!("sandtop: this image cannot run {language}: it has no");
                assert!(ran.stderr.starts_with(&words), "{}", ran.stderr);
                assert!(!is_required, "tests/run brings it: {}", ran.stderr);
                eprintln!("SKIPPED: {}", ran.stderr.trim_end());
                break;
            }
            assert_eq!((ran.text(), ran.code), ("a b\n", 3), "{}", ran.stderr);
        }
    }
    place.run(&["rm", "-f", &name]).ok();
}
