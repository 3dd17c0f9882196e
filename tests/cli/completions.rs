//! Completion in the real shells: what Tab makes of a line.

use std::fs;
use std::path::Path;

use crate::pty::Terminal;
use crate::support::Place;

/// A place with a profile, whose shells find the program.
fn place() -> Place {
    let program = Path::new(env!("CARGO_BIN_EXE_sandtop"));
    let folder = program.parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    Place::demo()
        .with("PATH", &path)
        .configured("[profiles.generous]\nmemory_limit = \"1g\"\n")
}

/// A shell on a terminal that knows the completions.
fn shell(place: &Place, start: &str, load: &str) -> Terminal {
    let script = format!("exec {start}");
    let mut shell = Terminal::start_by(place, &["sh", "-c", &script], &[], (24, 100));
    shell.type_in(&format!("{load}; echo rea''dy\r"));
    shell.until("ready");
    shell
}

/// Presses Tab after each beginning; the shell must write the rest.
fn completes(mut shell: Terminal) {
    for (line, whole) in [
        ("inspect demo-py", "inspect demo-python"),
        ("exec demo-no", "exec demo-node"),
        ("rm -f demo-id", "rm -f demo-idle"),
        ("--engine dem", "--engine demo"),
        ("create --profile gen", "create --profile generous"),
        ("files sta", "files stat"),
    ] {
        shell.type_in(&format!("sandtop {line}\t"));
        shell.until(&format!("sandtop {whole}"));
        // Control-U takes the line away in all shells.
        shell.type_in("\u{15}clear\r");
        shell.until_gone(whole);
    }
    shell.type_in("exit\r");
    shell.end();
}

#[test]
fn bash_completes_names() {
    let place = place();
    let start = "bash --norc --noprofile -i";
    completes(shell(
        &place,
        start,
        "PS1='$ '; source <(sandtop completions bash)",
    ));
}

#[test]
#[ignore = "needs zsh: tests/run"]
fn zsh_completes_names() {
    let place = place();
    let load =
        "PS1='$ '; autoload -U compinit && compinit -u -D && source <(sandtop completions zsh)";
    completes(shell(&place, "zsh -f -i", load));
}

#[test]
#[ignore = "needs fish: tests/run"]
fn fish_completes_names() {
    let place = place();
    completes(shell(
        &place,
        "fish --no-config -i",
        "sandtop completions fish | source",
    ));
}

/// Asks as bash's script does, and returns what it would offer.
fn offered(place: &Place, line: &[&str]) -> Vec<String> {
    let mut command = place.command(&[&["--", "sandtop"], line].concat());
    command
        .env("SANDTOP_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", line.len().to_string())
        .env("_CLAP_IFS", "\n");
    let ran = crate::support::Running::start(command).wait().ok();
    assert_eq!(ran.stderr, "");
    let names = ran.text().lines().filter(|one| !one.starts_with('-'));
    names.map(str::to_owned).collect()
}

#[test]
fn running_runs_and_sides_of_copies_are_offered() {
    let place = Place::local();
    let name = place.sandbox_of("host", &[]);
    place.run(&["exec", &name, "--", "true"]).ok();
    let detached = ["exec", "-d", &name, "--", "sleep", "100"];
    let run = place.run(&detached).ok().text().trim().to_owned();
    assert_eq!(offered(&place, &["cancel", ""]), [run.as_str()]);
    let all = offered(&place, &["output", ""]);
    assert!(all.len() == 2 && all[0] == run, "{all:?}");
    assert_eq!(offered(&place, &["cancel", &run[..4]]), [run.as_str()]);
    fs::write(place.path("sandwich"), "").unwrap();
    let side = format!("{name}:");
    let sides = offered(&place, &["cp", "s"]);
    assert!(
        sides.contains(&side) && sides.contains(&"sandwich".to_owned()),
        "{sides:?}"
    );
    // A new sandbox takes a new name.
    assert!(!offered(&place, &["create", ""]).contains(&name));
}
