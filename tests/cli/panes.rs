//! The panes of the dashboard on a real engine: output, files, editor and shell, by keys and eyes only.

use std::fs;

use crate::support::{Place, python, until};
use crate::terminal::Terminal;

const F9: &str = "\x1b[20~";
const CLEAR: &str = "\x15";
const SAVE: &str = "\x13";

/// Starts the dashboard with one sandbox of that name in sight.
fn start(place: &Place, name: &str) -> Terminal {
    let mut terminal = Terminal::start(place, &[]);
    terminal.until_seen(name);
    terminal.until_seen("running");
    terminal
}

fn leave(mut terminal: Terminal, question: Option<&str>) {
    terminal.type_in("q");
    if let Some(question) = question {
        terminal.until_seen(question);
        terminal.type_in("y");
    }
    assert_eq!(terminal.end().0, 0);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn output_is_selected_copied_and_saved_with_care() {
    let place = Place::docker();
    let name = place.sandbox_of(&python(), &[]);
    let mut terminal = start(&place, &name);
    terminal.type_in(F9);
    terminal.until_seen("hello from sandbox");
    terminal.until_seen("END 1");
    terminal.type_in("v");
    terminal.until_seen("SELECTED 1");
    terminal.type_in("y");
    terminal.until_seen("Copied 1 line");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let clip = "\x1b]52;c;aGVsbG8gZnJvbSBzYW5kYm94\x1b\\";
    assert!(raw.contains(clip), "{raw:?}");
    let file = place.path("out.txt");
    fs::write(&file, "mine").unwrap();
    terminal.type_in(&format!("s{CLEAR}ou\t"));
    terminal.until_seen("Save output to: out.txt");
    terminal.type_in("\r");
    terminal.until_seen("exists on this machine");
    terminal.type_in("n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    terminal.type_in(&format!("s{CLEAR}out.txt\r"));
    terminal.until_seen("exists on this machine");
    terminal.type_in("y");
    terminal.until_seen("Saved to");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello from sandbox\n");
    leave(terminal, None);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn files_are_copied_both_ways_and_called_off() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    fs::write(place.path("data-1.csv"), "1,2\n").unwrap();
    // It is all hole, so that it costs nothing here; nobody waits for all of it.
    let huge = fs::File::create(place.path("huge.bin")).unwrap();
    huge.set_len(8 << 30).unwrap();
    let mut terminal = start(&place, &name);
    terminal.type_in("4");
    terminal.until_seen("This folder is empty.");
    terminal.type_in(&format!("<{CLEAR}da\t"));
    terminal.until_seen("Copy in from: data-1.csv");
    terminal.type_in("\r");
    terminal.until_seen("Done: copying in data-1.csv");
    terminal.until_seen("data-1.csv: 4 B");
    let copied = place.run(&["files", "cat", &name, "data-1.csv"]).ok();
    assert_eq!(copied.text(), "1,2\n");
    fs::write(place.path("data-2.csv"), "3,4\n").unwrap();
    terminal.type_in(&format!("<{CLEAR}data-*.csv\r"));
    terminal.until_seen("1 of 2 names exist already");
    terminal.type_in("y");
    until("both are there", || {
        let copied = place.run(&["files", "cat", &name, "data-2.csv"]);
        copied.code == 0 && copied.text() == "3,4\n"
    });
    terminal.until_seen("data-2.csv");
    terminal.type_in(&format!("<{CLEAR}huge.bin\r"));
    terminal.until_seen("of 8 GiB");
    terminal.until_seen("X stop copying");
    terminal.type_in("X");
    terminal.until_seen("Called off: copying in huge.bin");
    until("nothing half-written is left", || {
        let listed = place.run(&["exec", &name, "--", "ls", "-A", "/workspace"]);
        listed.ok().text() == "data-1.csv\ndata-2.csv\n"
    });
    terminal.type_in(">");
    terminal.until_seen("Copy data-1.csv to:");
    terminal.type_in("\r");
    terminal.until_seen("exists on this machine");
    terminal.type_in("n");
    terminal.type_in(&format!(">{CLEAR}back.csv\r"));
    terminal.until_seen("Done: copying out data-1.csv");
    assert_eq!(fs::read_to_string(place.path("back.csv")).unwrap(), "1,2\n");
    leave(terminal, None);
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_buffer_replaces_nothing_unasked() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let content = || place.run(&["files", "cat", &name, "untitled.py"]).ok();
    place
        .feed(b"theirs", &["files", "put", &name, "untitled.py"])
        .ok();
    let mut terminal = start(&place, &name);
    terminal.type_in("2i# mine\r");
    terminal.until_seen("# mine");
    terminal.type_in(SAVE);
    terminal.until_seen("Save in the sandbox as");
    terminal.type_in("\r");
    terminal.until_seen("exists already");
    terminal.type_in("n");
    assert_eq!(content().text(), "theirs");
    terminal.type_in(&format!("{SAVE}\r"));
    terminal.until_seen("exists already");
    terminal.type_in("y");
    terminal.until_seen("Saved ");
    assert!(content().text().starts_with("# mine\n"));
    place
        .run(&["exec", &name, "--", "sh", "-c", "echo new > untitled.py"])
        .ok();
    terminal.type_in(&format!("more{SAVE}"));
    terminal.until_seen("changed by somebody else");
    terminal.type_in("n");
    assert_eq!(content().text(), "new\n");
    terminal.type_in("\x11");
    terminal.until_seen("NAV");
    leave(terminal, Some("unsaved buffer"));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn the_mouse_reaches_a_program_that_asks_for_it() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut terminal = start(&place, &name);
    terminal.type_in("x");
    terminal.until_seen("/workspace $ ");
    terminal.type_in("printf '\\033[?1000h\\033[?1006h'; echo re\"\"ady; cat\r");
    terminal.until_seen("ready");
    terminal.type_in("\x1b[<0;12;15M");
    terminal.until_seen("^[[<0;11;");
    // Without a wish for the mouse, the wheel is ours: it goes back in what was written.
    terminal.type_in("\x03");
    until("the prompt is back", || {
        terminal.screen().matches("/workspace $").count() == 2
    });
    terminal.type_in("printf '\\033[?1000l'; seq 200; echo do\"\"ne\r");
    terminal.until_seen("done");
    terminal.type_in("\x1b[<64;12;15M");
    terminal.until_seen("3 lines back");
    terminal.type_in("\x11");
    terminal.until_seen("i type");
    leave(terminal, Some("open shell"));
}

/// The phases of sandboxes, in the order of their names.
fn phases(place: &Place) -> Vec<String> {
    let list = place.json_ok(&["ls", "--all"]);
    let mut all: Vec<(String, String)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| ["name", "phase"].map(|key| one[key].as_str().unwrap().to_owned()))
        .map(|[name, phase]| (name, phase))
        .collect();
    all.sort();
    all.into_iter().map(|(_, phase)| phase).collect()
}

#[test]
fn resuming_all_waits_for_pausing_all_and_leaves_alone_what_was_paused_before() {
    let place = Place::local();
    for name in ["a", "b", "c", "held"] {
        place.run(&["create", name]).ok();
    }
    place.run(&["pause", "held"]).ok();
    let mut terminal = start(&place, "held");
    terminal.until_seen("paused");
    for _ in 0..3 {
        terminal.type_in("F");
        terminal.until_seen("Pause all 3 running");
        // No look in between: what F began is not seen yet when T comes.
        terminal.type_in("yT");
        until("all go on", || {
            phases(&place) == ["running", "running", "running", "paused"]
        });
        until("the screen says so", || {
            terminal.screen().matches("‖ paused").count() == 1
        });
    }
    terminal.type_in("q");
    assert_eq!(terminal.end().0, 0);
    place.run(&["rm", "-f", "a", "b", "c", "held"]).ok();
}
