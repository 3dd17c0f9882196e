//! On a real terminal: nothing foreign reaches it, and a shell in a sandbox is a shell.

use rustix::process::Signal;

pub(crate) use crate::pty::Terminal;
use crate::support::{Place, busybox, python, until};

/// Everything that has ever made a terminal do something: clipboard, title, clear, answers, hidden text.
const HOSTILE: &[&str] = &[
    "\\033]52;c;ZXZpbA==\\007",
    "\\033]0;title\\007",
    "\\033]0;title\\033\\\\",
    "\\033]8;;http://evil\\033\\\\link\\033]8;;\\033\\\\",
    "\\033[2J\\033[H",
    "\\033[?1049h",
    "\\033[6n\\033[c",
    "\\033P$q\"p\\033\\\\",
    "\\033P+q544e\\033\\\\",
    "\\033_apc\\033\\\\\\033^pm\\033\\\\",
    "\\033(0\\033c\\033#8",
    "\\302\\2332J\\302\\235 0;x\\302\\234",
    "\\2332J\\235 0;x\\234",
    "\\010\\010\\007\\016\\017\\013\\014",
    "\\342\\200\\256evil\\342\\201\\246",
    "\\033",
    "\\033[",
];

/// Checks that nothing in these bytes could do something to a terminal.
#[track_caller]
fn harmless(bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec()).expect("only text reaches a terminal");
    for c in text.chars() {
        let bad = (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
        assert!(!bad, "{c:?} in {text:?}");
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn hostile_output_does_not_reach_the_terminal() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let sequences = HOSTILE.join("|");
    let script = format!(
        "printf 'before{sequences}\\n'; printf 'errors{sequences}\\n' >&2; printf 'after\\n'"
    );
    let (code, bytes) = Terminal::start(&place, &["exec", &name, "--", "sh", "-c", &script]).end();
    assert_eq!(code, 0);
    harmless(&bytes);
    let text = String::from_utf8_lossy(&bytes);
    for part in ["before", "errors", "after"] {
        assert!(text.contains(part), "{text:?}");
    }
    // Cut anywhere, it is the same: one byte at a time.
    let script = format!(
        "printf '{sequences}' > s; for i in $(seq 1 60); do dd if=s bs=1 skip=$i count=1 2>/dev/null; done; echo"
    );
    let (_, bytes) = Terminal::start(&place, &["exec", &name, "--", "sh", "-c", &script]).end();
    harmless(&bytes);
    let (_, bytes) = Terminal::start(&place, &["files", "cat", &name, "s"]).end();
    harmless(&bytes);
    let (_, bytes) = Terminal::start(&place, &["--json", "exec", &name, "--", "cat", "s"]).end();
    harmless(&bytes);
    // A pipe gets every byte.
    let piped = place.run(&["exec", &name, "--", "cat", "s"]).ok();
    assert!(piped.stdout.contains(&0x1b) && piped.stdout.contains(&0x9b));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn hostile_names_do_not_reach_the_terminal() {
    let place = Place::docker();
    let name = place.sandbox(&[
        "--label",
        "evil=\u{1b}]0;x\u{7}\u{1b}[2J",
        "--env",
        "E=\u{1b}[2J",
    ]);
    let script = "cd /workspace; for n in \"$(printf 'a\\033]0;t\\007')\" \"$(printf 'b\\033[2J\\nnext line')\" \
                  \"$(printf 'c\\342\\200\\256x')\" \"$(printf 'd\\233\\377')\"; do : > \"$n\"; done; \
                  ln -s \"$(printf 'x\\033[2J\\ny')\" link";
    place.run(&["exec", &name, "--", "sh", "-c", script]).ok();
    for args in [
        &["files", "ls", &name][..],
        &["--json", "files", "ls", &name],
        &["files", "stat", &name, "link"],
        &["files", "stat", &name, "a\u{1b}]0;t\u{7}"],
        &["files", "cat", &name, "no\u{1b}[2J\nsuch"],
        &["files", "rm", &name, "no\u{1b}[2J\u{202e}such"],
        &["files", "stat", &name, "../\u{1b}[2J"],
        &["cp", &format!("{name}:no\u{1b}[2J"), "here\u{1b}[2J"],
        &["cp", "no\u{1b}[2J", &format!("{name}:x")],
        &["inspect", &name],
        &["inspect", "\u{1b}]0;evil\u{7}\u{1b}[2J"],
        &["exec", "\u{1b}]0;evil\u{7}", "--", "true"],
        &["exec", &name, "--", "no\u{1b}[2Jsuch"],
        &["exec", &name, "--workdir", "/no\u{1b}[2J", "--", "true"],
        &["rm", "-f", "\u{1b}[2J", "\u{9b}2J"],
        &["create", "\u{1b}]0;evil\u{7}"],
        &["create", "--env", "\u{1b}[2J"],
        &["create", "--memory", "\u{1b}[2J"],
        &["create", "--mount", "/\u{1b}[2J:x"],
        &["create", "--profile", "\u{1b}[2J"],
        &["--config", "no\u{1b}[2Jsuch", "ls"],
        &["--engine", "\u{1b}[2J", "ls"],
        &["ls"],
        &["events"],
    ] {
        let (_, bytes) = Terminal::start(&place, args).end();
        assert!(!bytes.is_empty(), "{args:?}");
        // A copy shows how far it is.
        let text = String::from_utf8(bytes).unwrap();
        let text = if args[0] == "cp" {
            text.replace("\r\u{1b}[K", "")
        } else {
            text
        };
        harmless(text.as_bytes());
    }
    // One file is one line, whatever it is called.
    let (_, bytes) = Terminal::start(&place, &["files", "ls", &name]).end();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().count(), 6, "a heading and five files: {text}");
}

#[test]
fn mistakes_of_usage_do_not_reach_the_terminal_raw() {
    let place = Place::demo();
    for args in [
        &["\u{1b}]0;evil\u{7}"][..],
        &["ls", "--\u{1b}[2J"],
        &["create", "--cpus", "\u{1b}[2J"],
        &["completions", "\u{1b}]0;evil\u{7}"],
    ] {
        let (code, bytes) = Terminal::start(&place, args).end();
        assert_eq!(code, 2);
        // The program's own colours are fine; what was given is not.
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains("\u{1b}]") && !text.contains("\u{1b}[2J") && !text.contains('\u{7}'),
            "{text:?}"
        );
    }
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn only_the_progress_line_moves_the_cursor() {
    let place = Place::docker();
    let name = place.name("p");
    let (code, bytes) = Terminal::start(&place, &["create", &name, "--image", &busybox()]).end();
    assert_eq!(code, 0);
    let text = String::from_utf8(bytes).unwrap();
    harmless(text.replace("\r\u{1b}[K", "").as_bytes());
    assert!(text.ends_with(&format!("{name}\r\n")), "{text:?}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_shell_is_a_shell() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut shell = Terminal::start(&place, &["shell", &name]);
    shell.until("$ ");
    shell.type_in("echo $((6*7))-$((7*7))\r");
    shell.until("42-49");
    shell.type_in("tty; stty size; echo $TERM-x\r");
    shell.until("24 80");
    shell.until("xterm-x");
    shell.resize(33, 101);
    // The new size arrives by itself; ask until it is there.
    shell.type_in("while [ \"$(stty size)\" != '33 101' ]; do :; done; echo re\"\"sized\r");
    shell.until("resized");
    shell.type_in("sleep 54321; echo code=$?\r");
    until("it sleeps", || {
        place
            .docker_says(&["top", &name, "-eo", "pid,args"])
            .contains("sleep 54321")
    });
    shell.type_in("\u{3}");
    shell.type_in("echo still-$((1+1))-here\r");
    shell.until("still-2-here");
    shell.type_in("exit 3\r");
    let (code, _) = shell.end();
    assert_eq!(code, 3);
    let left = place.docker_says(&["top", &name, "-eo", "pid,args"]);
    assert!(!left.contains("sleep") && !left.contains("sh\n"), "{left}");
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn an_editor_works_in_a_shell() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    place
        .feed(
            b"the first line\nthe second line\n",
            &["files", "put", &name, "f.txt"],
        )
        .ok();
    let mut shell = Terminal::start(&place, &["exec", "-t", &name, "--", "vi", "f.txt"]);
    shell.until("the second line");
    assert!(
        shell.screen().starts_with("the first line"),
        "{}",
        shell.screen()
    );
    assert!(shell.screen().contains("\n~\n"), "{}", shell.screen());
    shell.type_in("ddihello \u{1b}");
    until("it is on the screen", || {
        shell.screen().starts_with("hello the second line")
    });
    shell.type_in(":wq\r");
    let (code, _) = shell.end();
    assert_eq!(code, 0);
    assert_eq!(
        place.run(&["files", "cat", &name, "f.txt"]).ok().text(),
        "hello the second line\n"
    );
    let mut shell = Terminal::start(&place, &["shell", &name, "vi", "f.txt"]);
    shell.until("hello the second line");
    shell.type_in("dd:q!\r");
    assert_eq!(shell.end().0, 0);
    assert_eq!(
        place.run(&["files", "cat", &name, "f.txt"]).ok().text(),
        "hello the second line\n"
    );
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_shell_ends_well_when_its_sandbox_goes() {
    let place = Place::docker();
    let name = place.sandbox_of(&python(), &[]);
    let mut shell = Terminal::start(&place, &["shell", &name]);
    shell.until("$ ");
    shell.type_in("echo $BASH_VERSION-v\r");
    shell.until("-v\r\n");
    place.docker_says(&["rm", "-f", "-v", &name]);
    let (code, bytes) = shell.end();
    assert_eq!(code, 125);
    assert!(String::from_utf8_lossy(&bytes).contains("went away"));
}

#[test]
#[ignore = "needs Docker: tests/run"]
fn a_shell_in_the_middle_of_a_hangup_gives_the_terminal_back() {
    let place = Place::docker();
    let name = place.sandbox(&[]);
    let mut shell = Terminal::start(&place, &["shell", &name]);
    shell.until("$ ");
    shell.type_in("sleep 54321\r");
    until("it sleeps", || {
        place
            .docker_says(&["top", &name, "-eo", "pid,args"])
            .contains("sleep 54321")
    });
    shell.signal(Signal::TERM);
    let (code, _) = shell.end();
    assert_eq!(code, 143);
    until("nothing is left", || {
        !place
            .docker_says(&["top", &name, "-eo", "pid,args"])
            .contains("sleep 54321")
    });
}
