//! Secrets that are given to programs in a sandbox stay with them.

use std::fs;
use std::path::Path;

use crate::support::{Place, tree, until};

const SECRET: &str = "hunter2-5f1d0c";

/// Command lines of all processes of this machine.
fn command_lines() -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

/// Files below a folder that hold the secret.
fn holding(folder: &Path) -> Vec<String> {
    let files = tree(folder).into_iter();
    let holds = |content: &[u8]| memchr::memmem::find(content, SECRET.as_bytes()).is_some();
    let found = files.filter(|(_, kind, content)| kind.starts_with("file") && holds(content));
    found.map(|(path, ..)| path.display().to_string()).collect()
}

#[test]
fn a_name_alone_takes_the_value_from_here() {
    let place = Place::local().with("API_TOKEN", SECRET);
    let name = place.sandbox_of("host", &["--env", "API_TOKEN"]);
    let print = ["sh", "-c", "echo $API_TOKEN"];
    let ran = place.run(&[&["exec", &name, "--"], &print[..]].concat());
    assert_eq!(ran.ok().text().trim(), SECRET);
    let other = place.name("other");
    place.run(&["create", &other]).ok();
    let ran = place.run(&[&["exec", &other, "--env", "API_TOKEN", "--"], &print[..]].concat());
    assert_eq!(ran.ok().text().trim(), SECRET);
    fs::write(place.path("p.sh"), "echo $API_TOKEN\n").unwrap();
    let ran = place.run(&["run", "p.sh", "--sandbox", &other, "--env", "API_TOKEN"]);
    assert_eq!(ran.ok().text().trim(), SECRET);
    for args in [
        &["create", "x", "--env", "NOT_SET_HERE"][..],
        &["exec", &other, "--env", "NOT_SET_HERE", "--", "true"],
    ] {
        place
            .run(args)
            .exits(2)
            .says("NOT_SET_HERE is not set here");
    }
}

#[test]
fn no_secret_is_seen_from_outside_or_kept_in_records() {
    let place = Place::local().with("API_TOKEN", SECRET);
    let name = place.sandbox_of("host", &[]);
    // The program names itself once it has the secret.
    let script = "test -n \"$API_TOKEN\" && echo has-it; exec sleep 100";
    let argv = ["--", "sh", "-c", script];
    let exec = [&["-vv", "exec", &name, "--env", "API_TOKEN"], &argv[..]].concat();
    let mut attached = place.start(&exec);
    attached.until_stdout("has-it");
    let detached = [&["exec", "-d", &name, "--env", "API_TOKEN"], &argv[..]].concat();
    let run = place.run(&detached).ok().text().trim().to_owned();
    until("the detached one has it", || {
        place.run(&["output", &run]).ok().text().contains("has-it")
    });
    let seen: Vec<String> = command_lines()
        .into_iter()
        .filter(|line| line.contains(SECRET))
        .collect();
    assert_eq!(seen, Vec::<String>::new());
    place.run(&["kill", &name]).ok();
    attached.wait();
    let records = [
        &["--json", "runs"][..],
        &["--json", "inspect", &name],
        &["--json", "events"],
        &["--json", "output", &run],
    ];
    for args in records {
        let ran = place.run(args).ok();
        assert!(!ran.text().contains(SECRET), "{args:?}: {}", ran.text());
    }
    assert_eq!(holding(&place.path("state")), Vec::<String>::new());
}
