//! However the dashboard ends, the terminal is as it was before, and the process is gone.

use memchr::memmem;
use rustix::process::Signal;

use crate::support::{Place, until};
use crate::terminal::Terminal;

fn started(place: &Place) -> Terminal {
    let mut terminal = Terminal::start(place, &[]);
    terminal.until_seen("demo-python");
    terminal
}

#[test]
fn signals_that_end_it_give_the_terminal_back() {
    let place = Place::demo();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let terminal = started(&place);
        terminal.signal(signal);
        let ended = terminal.end_given_back();
        assert_eq!(ended.code, code, "{signal:?}");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_names_the_log() {
    let place = Place::demo().with("SANDTOP_TEST_BREAK", "screen");
    let ended = Terminal::start(&place, &[]).end_given_back();
    assert_eq!(ended.code, 101);
    let after = ended.after_the_alternate_screen();
    assert!(after.contains("the screen broke on purpose"), "{after}");
    let told = after.split("its log: ").nth(1).expect("the log is named");
    let log = told.lines().next().unwrap().trim_end();
    let log = std::fs::read_to_string(log).expect("the log is where it says");
    assert!(log.contains("the screen broke on purpose"), "{log}");
}

#[test]
fn a_panic_in_the_background_leaves_the_picture_whole() {
    let place = Place::demo().with("SANDTOP_TEST_BREAK", "task");
    let mut terminal = started(&place);
    let log = place.home.path().join("state/sandtop");
    until("the log tells of it", || {
        let files = std::fs::read_dir(&log).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("a task broke on purpose"))
    });
    terminal.type_in("?");
    terminal.until_seen("Create a sandbox");
    assert!(!terminal.screen().contains("on purpose"));
    terminal.escape("Create a sandbox");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn stopped_by_a_key_or_a_signal_it_gives_the_terminal_back_until_it_goes_on() {
    let place = Place::demo();
    let mut terminal = started(&place);
    for by_key in [true, false] {
        if by_key {
            terminal.type_in("\x1a");
        } else {
            terminal.signal(Signal::TSTP);
        }
        until("it has stopped", || terminal.is_stopped());
        until("the terminal is free", || terminal.is_as_before());
        until("the usual screen is back", || !terminal.is_alternate());
        terminal.signal(Signal::CONT);
        terminal.until_seen("demo-python");
        until("it has the terminal again", || terminal.is_alternate());
        assert!(!terminal.is_as_before());
    }
    // Still alive to keys.
    terminal.type_in("?");
    terminal.until_seen("Create a sandbox");
    terminal.escape("Create a sandbox");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn it_draws_again_after_a_stop_that_nobody_can_refuse() {
    let place = Place::demo();
    let mut terminal = started(&place);
    terminal.signal(Signal::STOP);
    until("it has stopped", || terminal.is_stopped());
    terminal.wipe();
    assert!(!terminal.screen().contains("demo-python"));
    terminal.signal(Signal::CONT);
    terminal.until_seen("demo-python");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn a_closed_terminal_ends_it() {
    let place = Place::demo();
    let mut terminal = started(&place);
    let child = terminal.close();
    until("the program ends", || child.try_wait().unwrap().is_some());
}

/// Tells whether the program runs in a place.
fn is_running(place: &Place) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut folders = processes.map(|process| process.path());
    folders.any(|folder| {
        let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
        let around = std::fs::read(folder.join("environ")).unwrap_or_default();
        name.trim_end() == "sandtop" && memmem::find(&around, place.scope.as_bytes()).is_some()
    })
}

#[test]
fn a_closed_terminal_ends_it_even_if_no_signal_says_so() {
    let place = Place::demo();
    let mut terminal = Terminal::start_by(&place, &["setsid", "-w"], &[], (24, 80));
    terminal.until_seen("demo-python");
    assert!(is_running(&place));
    terminal.close();
    until("the program ends", || !is_running(&place));
}

#[test]
fn leaving_while_an_engine_is_looked_for_is_possible() {
    // An address that takes connections and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let place = Place::demo()
        .with("SANDTOP_ENGINE", "")
        .with("DOCKER_HOST", &address);
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("connecting");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}
