//! The dashboard as a person uses it: the real program in a real terminal, by keys and eyes only.

use crate::support::{Place, python};
use crate::terminal::Terminal;

/// Checks that the terminal was given back: no alternate screen, mouse or paste mode, and a cursor.
#[track_caller]
fn given_back(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for sequence in ["\x1b[?1049l", "\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h"] {
        assert!(text.contains(sequence), "{sequence:?} was never sent");
    }
}

#[test]
fn the_keys_are_told_and_q_leaves() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-python");
    terminal.until_seen("nothing here is real");
    terminal.type_in("?");
    terminal.until_seen("Create a sandbox");
    terminal.type_in("\x1b");
    terminal.until_seen("c create");
    terminal.type_in("q");
    let (code, bytes) = terminal.end();
    assert_eq!(code, 0);
    given_back(&bytes);
}

#[test]
fn a_polite_signal_gives_the_terminal_back() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-python");
    terminal.terminate();
    let (code, bytes) = terminal.end();
    assert_eq!(code, 143);
    given_back(&bytes);
}

#[test]
fn from_nothing_to_a_run_a_shell_and_back() {
    let Some(place) = Place::docker() else { return };
    let place = place.with("SANDTOP_IMAGE", &python());
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("No sandboxes yet");
    terminal.type_in("c");
    terminal.until_seen("New sandbox");
    terminal.type_in("\r");
    terminal.until_seen("is running");
    terminal.type_in("\x1b[20~"); // F9
    terminal.until_seen("hello from sandbox");
    terminal.type_in("2i");
    terminal.until_seen("EDIT");
    terminal.type_in("print(6 * 7000)\r");
    terminal.until_seen("print(6 * 7000)");
    terminal.type_in("\x1b[20~");
    terminal.until_seen("42000");
    terminal.type_in("1x");
    terminal.until_seen("TERM");
    terminal.until_seen("$ ");
    terminal.type_in("echo from-the-$((1 + 1))nd-shell\r");
    terminal.until_seen("from-the-2nd-shell");
    terminal.type_in("exit\r");
    terminal.until_seen("NAV");
    terminal.type_in("1d");
    terminal.until_seen("cannot be");
    terminal.type_in("y");
    terminal.until_seen("No sandboxes yet");
    terminal.type_in("q");
    terminal.until_seen("unsaved buffer");
    terminal.type_in("y");
    let (code, bytes) = terminal.end();
    assert_eq!(code, 0);
    given_back(&bytes);
    assert_eq!(place.belongings(), Vec::<String>::new());
}
