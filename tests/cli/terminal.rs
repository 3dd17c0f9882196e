//! On a real terminal: nothing foreign reaches it, and a shell in a sandbox is a shell.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

use crate::support::{PATIENCE, Place, busybox, python, until};

/// A terminal with the program in it.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    /// Kept so that the terminal outlives the program and its settings can be looked at.
    slave: Option<Box<dyn SlavePty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    settings: String,
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

impl Terminal {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        let pair = native_pty_system().openpty(size(24, 80)).unwrap();
        let settings = format!("{:?}", pair.master.get_termios());
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_sandtop"));
        command.args(args);
        command.env_clear();
        for (key, value) in place.variables() {
            command.env(key, value);
        }
        command.env("TERM", "xterm");
        command.cwd(place.home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        let mut source = pair.master.try_clone_reader().unwrap();
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The last one to leave the terminal ends the reading with an error.
            while let Ok(got) = source.read(&mut buffer)
                && got > 0
            {
                into.lock().unwrap().extend_from_slice(&buffer[..got]);
            }
        });
        Self {
            keys: pair.master.take_writer().unwrap(),
            master: pair.master,
            slave: Some(pair.slave),
            child,
            bytes,
            reader: Some(reader),
            settings,
        }
    }

    pub(crate) fn raw(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw()).into_owned()
    }

    /// What a person would see.
    pub(crate) fn screen(&self) -> String {
        let mut parser =
            vt100::Parser::new(NonZero::new(24).unwrap(), NonZero::new(80).unwrap(), 0);
        parser.process(&self.raw());
        parser.screen().contents()
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    #[track_caller]
    fn until(&mut self, part: &str) {
        let begin = Instant::now();
        while !self.text().contains(part) {
            assert!(
                begin.elapsed() < PATIENCE && self.child.try_wait().unwrap().is_none(),
                "no {part:?} in {:?}",
                self.text()
            );
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Waits until a person would see something.
    #[track_caller]
    pub(crate) fn until_seen(&mut self, part: &str) {
        let begin = Instant::now();
        while !self.screen().contains(part) {
            assert!(
                begin.elapsed() < PATIENCE && self.child.try_wait().unwrap().is_none(),
                "no {part:?} on\n{}",
                self.screen()
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) {
        let pid = self
            .child
            .process_id()
            .and_then(|pid| i32::try_from(pid).ok())
            .unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits for the end; the exit code, all bytes, and whether the terminal is as it was.
    #[track_caller]
    pub(crate) fn end(mut self) -> (u32, Vec<u8>) {
        let child = &mut self.child;
        let mut status = None;
        until("the program ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let after = format!("{:?}", self.master.get_termios());
        assert_eq!(after, self.settings, "the terminal is given back as it was");
        self.slave.take();
        self.reader.take().unwrap().join().unwrap();
        let bytes = self.raw();
        (status.unwrap().exit_code(), bytes)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

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
fn hostile_output_does_not_reach_the_terminal() {
    let Some(place) = Place::docker() else { return };
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
fn hostile_names_do_not_reach_the_terminal() {
    let Some(place) = Place::docker() else { return };
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
fn only_the_progress_line_moves_the_cursor() {
    let Some(place) = Place::docker() else { return };
    let name = place.name("p");
    let (code, bytes) = Terminal::start(&place, &["create", &name, "--image", &busybox()]).end();
    assert_eq!(code, 0);
    let text = String::from_utf8(bytes).unwrap();
    harmless(text.replace("\r\u{1b}[K", "").as_bytes());
    assert!(text.ends_with(&format!("{name}\r\n")), "{text:?}");
}

#[test]
fn a_shell_is_a_shell() {
    let Some(place) = Place::docker() else { return };
    let name = place.sandbox(&[]);
    let mut shell = Terminal::start(&place, &["shell", &name]);
    shell.until("$ ");
    shell.type_in("echo $((6*7))-$((7*7))\r");
    shell.until("42-49");
    shell.type_in("tty; stty size; echo $TERM-x\r");
    shell.until("24 80");
    shell.until("xterm-x");
    shell.master.resize(size(33, 101)).unwrap();
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
fn an_editor_works_in_a_shell() {
    let Some(place) = Place::docker() else { return };
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
fn a_shell_ends_well_when_its_sandbox_goes() {
    let Some(place) = Place::docker() else { return };
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
fn a_shell_in_the_middle_of_a_hangup_gives_the_terminal_back() {
    let Some(place) = Place::docker() else { return };
    let name = place.sandbox(&[]);
    let mut shell = Terminal::start(&place, &["shell", &name]);
    shell.until("$ ");
    shell.type_in("sleep 54321\r");
    until("it sleeps", || {
        place
            .docker_says(&["top", &name, "-eo", "pid,args"])
            .contains("sleep 54321")
    });
    let pid = i32::try_from(shell.child.process_id().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (code, _) = shell.end();
    assert_eq!(code, 143);
    until("nothing is left", || {
        !place
            .docker_says(&["top", &name, "-eo", "pid,args"])
            .contains("sleep 54321")
    });
}
