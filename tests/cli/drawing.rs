//! What a program of a sandbox may do to the terminal that it was given.

use crate::pty::Terminal;
use crate::support::Place;

/// Colours, a clipboard, a title, questions in several ways, and a word at the end.
const HOSTILE: &str = r"printf '\033[31mred\033[0m\033]52;c;ZXZpbA==\007\033]0;title\007\033[6n\033[c\033P+q544e\033\\\033]11;?\007\033[21t\005'; echo fin''ished";

fn drawn(place: &Place, args: &[&str]) -> String {
    let (code, bytes) = Terminal::start(place, args).end();
    let drawn = String::from_utf8_lossy(&bytes).into_owned();
    assert!(code == 0 && drawn.contains("finished"), "{drawn}");
    drawn
}

#[test]
fn a_program_draws_and_does_nothing_else_to_the_terminal() {
    let place = Place::local();
    let name = place.sandbox_of("host", &[]);
    let program = ["sh", "-c", HOSTILE];
    let shell = [&["shell", &name], &program[..]].concat();
    let exec = [&["exec", "-t", &name, "--"], &program[..]].concat();
    for args in [shell, exec] {
        let drawn = drawn(&place, &args);
        assert!(drawn.contains("\u{1b}[31mred\u{1b}[0m"), "{drawn:?}");
        for bad in ["]52", "title", "[6n", "[c", "+q", "]11", "[21t", "\u{5}"] {
            assert!(!drawn.contains(bad), "{bad:?} in {drawn:?}");
        }
    }
    let allowed = ["shell", "--allow", "clipboard", &name];
    let drawn = drawn(&place, &[&allowed, &program[..]].concat());
    assert!(drawn.contains("]52;c;ZXZpbA=="), "{drawn:?}");
    assert!(
        !drawn.contains("title") && !drawn.contains("[6n"),
        "{drawn:?}"
    );
}
