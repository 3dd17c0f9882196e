//! The dashboard as a person uses it: the real program in a real terminal, by keys and eyes only.

use rustix::process::Signal;

use crate::support::{Place, python, until};
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
    // The hints move with the focus.
    terminal.until_seen("┏ 4 Files");
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
fn without_colours_none_is_sent_and_what_is_asked_for_wins() {
    for (theme, coloured) in [("auto", false), ("dark", true)] {
        let place = Place::demo()
            .with("NO_COLOR", "1")
            .with("SANDTOP_THEME", theme);
        let mut terminal = Terminal::start(&place, &[]);
        terminal.until_seen("demo-python");
        terminal.type_in("q");
        assert_eq!(terminal.end_given_back().has_colours(), coloured);
    }
}

#[test]
fn the_layout_is_as_it_was_left_even_after_a_kill() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("by age");
    terminal.type_in("O4z");
    terminal.until_seen("4 Files");
    terminal.until_gone("1 Sandboxes");
    let file = place.path("state/sandtop/layout.json");
    until("it is kept", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains("\"zoom\":true") && text.contains("\"focus\":\"files\"")
    });
    terminal.signal(Signal::KILL);
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("4 Files");
    assert!(!terminal.screen().contains("1 Sandboxes"));
    terminal.type_in("z1");
    terminal.until_seen("by age");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
    // A broken file is as none.
    std::fs::write(&file, "{").unwrap();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("1 Sandboxes");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
}

#[test]
fn a_storm_of_sizes_ends_with_the_right_picture() {
    let place = Place::demo();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.until_seen("demo-python");
    for step in 0..200_u16 {
        terminal.resize(1 + step * 7 % 70, 1 + step * 13 % 220);
    }
    terminal.resize(10, 40);
    terminal.until_seen("sandtop needs 60x16 cells;");
    terminal.until_seen("has 40x10.");
    terminal.resize(48, 160);
    terminal.until_seen("4 Files");
    terminal.until_seen("demo-python");
    terminal.type_in("q");
    assert_eq!(terminal.end_given_back().code, 0);
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
#[ignore = "needs Docker: tests/run"]
fn from_nothing_to_a_run_a_shell_and_back() {
    let place = Place::docker();
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
