//! The dashboard as a person uses it: the real program in a real terminal, by keys and eyes only.

use crate::support::{Place, python};
use crate::terminal::Terminal;

#[test]
fn the_keys_are_told_and_q_leaves() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-python");
    terminal.until_seen("nothing here is real");
    terminal.type_in("?");
    terminal.until_seen("Create a sandbox");
    terminal.escape("Create a sandbox");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn the_mouse_chooses_rows_and_keys() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-node");
    terminal.click("demo-node");
    terminal.type_in("4");
    terminal.until_seen("demo-node:/workspace");
    terminal.click("help");
    terminal.until_seen("Keys: arrows scroll");
    terminal.escape("Keys: arrows scroll");
    terminal.click("quit");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn own_keys_and_looks_hold() {
    let place = Place::demo().configured(
        "[ui]\ntheme = 'mono'\nascii = 'always'\n[keys.global]\nquit = 'Q'\nhelp = ['!', 'f1']\n",
    );
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-python");
    terminal.until_seen("! help  Q quit");
    let screen = terminal.screen();
    assert!(screen.is_ascii(), "{screen}");
    terminal.type_in("!");
    terminal.until_seen("Create a sandbox");
    terminal.escape("Create a sandbox");
    terminal.type_in("qQ");
    let ended = terminal.end_given_back();
    assert_eq!(ended.code, 0);
    assert!(!ended.has_colours());
}

#[test]
fn a_wrong_key_is_told_before_the_terminal_is_touched() {
    let place = Place::demo().configured("[keys.files]\nuplaod = 'u'\n");
    let (code, bytes) = Terminal::start(&place, &[]).end();
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(code, 2);
    assert!(
        text.contains("config.toml:2: `keys.files.uplaod`"),
        "{text}"
    );
    assert!(
        text.contains("did you mean `upload`?") && !text.contains("1049"),
        "{text}"
    );
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
    assert_eq!(terminal.end_given_back().code, 0);
    assert_eq!(place.belongings(), Vec::<String>::new());
}
