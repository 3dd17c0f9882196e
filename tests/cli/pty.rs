//! A real terminal with the program in it: keys go in, and what a person would see is kept up to date meanwhile.
#![allow(dead_code)] // Each test binary uses its own part.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use memchr::memmem;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use vt100::MouseProtocolMode;

use crate::support::{PATIENCE, Place, until};

/// What came out so far.
struct Seen {
    bytes: Vec<u8>,
    parser: vt100::Parser,
}

impl Seen {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.parser.process(bytes);
    }
}

/// A terminal with the program in it.
pub(crate) struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    /// Kept so that the terminal outlives the program and its settings can be looked at.
    slave: Option<Box<dyn SlavePty + Send>>,
    child: Box<dyn Child + Send + Sync>,
    keys: Option<Box<dyn Write + Send>>,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
    /// Tells the reader to let go of the terminal.
    closing: Arc<AtomicBool>,
    settings: String,
}

/// What a program in a terminal leaves.
pub(crate) struct Ended {
    pub(crate) code: u32,
    bytes: Vec<u8>,
}

impl Ended {
    /// Tells whether anything was ever drawn in a colour.
    pub(crate) fn has_colours(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut styles = text.split("\x1b[").skip(1).filter_map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            part[end..].starts_with('m').then(|| &part[..end])
        });
        styles.any(|style| {
            let mut numbers = style.split(';').filter_map(|n| n.parse::<u16>().ok());
            numbers.any(|n| matches!(n, 30..=38 | 40..=48 | 90..=107))
        })
    }

    /// What was written after the dashboard had gone.
    pub(crate) fn after_the_alternate_screen(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        text.rsplit("\x1b[?1049l").next().unwrap().to_owned()
    }
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn some(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

impl Terminal {
    /// Starts the program on 24 rows of 80 columns.
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_by(place, &[], args, (24, 80))
    }

    /// Starts the program by another one, on a terminal of some rows and columns.
    pub(crate) fn start_by(place: &Place, by: &[&str], args: &[&str], at: (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(size(at.0, at.1)).unwrap();
        let settings = format!("{:?}", pair.master.get_termios());
        let program = [env!("CARGO_BIN_EXE_sandtop")];
        let mut words = by.iter().chain(&program).chain(args);
        let mut command = CommandBuilder::new(words.next().unwrap());
        command.args(words);
        command.env_clear();
        command.env("TERM", "xterm");
        for (key, value) in place.variables() {
            command.env(key, value);
        }
        command.cwd(place.home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        let seen = Arc::new(Mutex::new(Seen {
            bytes: Vec::new(),
            parser: vt100::Parser::new(some(at.0), some(at.1), 0),
        }));
        let closing = Arc::new(AtomicBool::new(false));
        let source = pair.master.try_clone_reader().unwrap();
        let reader = read(source, Arc::clone(&seen), Arc::clone(&closing));
        Self {
            keys: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            slave: Some(pair.slave),
            child,
            seen,
            reader: Some(reader),
            closing,
            settings,
        }
    }

    pub(crate) fn raw(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    fn has(&self, part: &str) -> bool {
        memmem::find(&self.seen.lock().unwrap().bytes, part.as_bytes()).is_some()
    }

    /// What a person would see.
    pub(crate) fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Where on the screen something stands first: row and column, counted from 1 as the mouse does.
    pub(crate) fn find(&self, part: &str) -> Option<(usize, usize)> {
        let screen = self.screen();
        let mut rows = screen.lines().enumerate();
        rows.find_map(|(row, line)| {
            let at = line.find(part)?;
            Some((row + 1, line[..at].chars().count() + 1))
        })
    }

    /// Tells whether something stands on the screen, and every cell of it is dim.
    pub(crate) fn is_dim(&self, part: &str) -> bool {
        let Some((row, column)) = self.find(part) else {
            return false;
        };
        let seen = self.seen.lock().unwrap();
        let cell = |at: usize| {
            let (row, column) = (u16::try_from(row - 1), u16::try_from(column - 1 + at));
            seen.parser.screen().cell(row.unwrap(), column.unwrap())
        };
        (0..part.chars().count()).all(|at| cell(at).is_some_and(vt100::Cell::dim))
    }

    pub(crate) fn is_alternate(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        seen.parser.screen().alternate_screen()
    }

    /// Writes over the picture, as another program could.
    pub(crate) fn wipe(&self) {
        self.seen.lock().unwrap().parser.process(b"\x1b[2J");
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        let mut seen = self.seen.lock().unwrap();
        seen.parser.screen_mut().set_size(some(rows), some(cols));
        let master = self.master.as_ref().unwrap();
        master.resize(size(rows, cols)).unwrap();
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        let into = self.keys.as_mut().unwrap();
        into.write_all(keys.as_bytes()).unwrap();
        into.flush().unwrap();
    }

    /// Presses and releases the left button on something that is seen.
    #[track_caller]
    pub(crate) fn click(&mut self, part: &str) {
        self.until_seen(part);
        let (row, column) = self.find(part).expect("it is on the screen");
        self.type_in(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    #[track_caller]
    fn wait(&mut self, what: &str, met: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !met(self) {
            assert!(
                begin.elapsed() < PATIENCE && self.child.try_wait().unwrap().is_none(),
                "{what}\n{}",
                self.screen()
            );
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Waits until something was written, seen or not.
    #[track_caller]
    pub(crate) fn until(&mut self, part: &str) {
        self.wait(&format!("no {part:?} was written"), |it| it.has(part));
    }

    /// Waits until a person would see something.
    #[track_caller]
    pub(crate) fn until_seen(&mut self, part: &str) {
        self.wait(&format!("no {part:?} on"), |it| it.screen().contains(part));
    }

    /// Waits until a person would no longer see something.
    #[track_caller]
    pub(crate) fn until_gone(&mut self, part: &str) {
        self.wait(&format!("still {part:?} on"), |it| {
            !it.screen().contains(part)
        });
    }

    /// Presses Escape and waits until it had its effect: a key that follows at once would be read as one with Alt.
    #[track_caller]
    pub(crate) fn escape(&mut self, from: &str) {
        self.type_in("\x1b");
        self.until_gone(from);
    }

    pub(crate) fn pid(&self) -> Pid {
        let pid = self.child.process_id().unwrap();
        Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Tells whether the program is stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        let pid = self.pid().as_raw_nonzero();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    }

    /// Tells whether the terminal's settings are those from before the program.
    pub(crate) fn is_as_before(&self) -> bool {
        let master = self.master.as_ref().unwrap();
        format!("{:?}", master.get_termios()) == self.settings
    }

    /// Takes the terminal away from the program, which must write something now and then.
    pub(crate) fn close(&mut self) -> &mut (dyn Child + Send + Sync) {
        self.closing.store(true, Ordering::SeqCst);
        self.slave.take();
        self.keys.take();
        self.reader.take().unwrap().join().unwrap();
        self.master.take();
        &mut *self.child
    }

    /// Waits for the end; the exit code, all bytes, and whether the terminal is as it was.
    #[track_caller]
    pub(crate) fn end(mut self) -> (u32, Vec<u8>) {
        let code = self.finish();
        (code, self.raw())
    }

    #[track_caller]
    fn finish(&mut self) -> u32 {
        let child = &mut self.child;
        let mut status = None;
        until("the program ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert!(self.is_as_before(), "the terminal is given back as it was");
        self.slave.take();
        self.reader.take().unwrap().join().unwrap();
        status.unwrap().exit_code()
    }

    /// Waits for the end of the dashboard and checks that all it took is given back.
    #[track_caller]
    pub(crate) fn end_given_back(mut self) -> Ended {
        let code = self.finish();
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "the usual screen is back");
        assert!(!screen.bracketed_paste(), "pastes are plain again");
        assert!(!screen.hide_cursor(), "there is a cursor");
        assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
        let bytes = seen.bytes.clone();
        let last = |part: &[u8]| memmem::rfind(&bytes, part);
        assert!(last(b"\x1b[>1u").is_some(), "keys were asked for in full");
        assert!(
            last(b"\x1b[<1u") > last(b"\x1b[>1u"),
            "keys are plain again"
        );
        assert!(
            last(b"\x1b[?2026l") >= last(b"\x1b[?2026h"),
            "no picture is held back"
        );
        drop(seen);
        Ended { code, bytes }
    }
}

/// Reads until the terminal ends or is to be closed.
fn read(
    mut source: Box<dyn Read + Send>,
    seen: Arc<Mutex<Seen>>,
    closing: Arc<AtomicBool>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 16384];
        // The last one to leave the terminal ends the reading with an error.
        while !closing.load(Ordering::SeqCst)
            && let Ok(got) = source.read(&mut buffer)
            && got > 0
        {
            seen.lock().unwrap().take(&buffer[..got]);
        }
    })
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
