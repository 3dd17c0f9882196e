//! A shell in a sandbox, drawn by us: a terminal without a screen of its own that keeps what the shell wrote.
//!
//! The bytes come from a sandbox, so nothing in them may reach the real terminal: the emulator answers no queries,
//! sets no title, rings no bell and touches no clipboard. What it keeps are cells, and the view draws those only.

mod guard;
mod keys;
mod mouse;

use std::num::NonZeroU16;

use crate::domain::{SandboxRef, StreamId, TtySize};
use crate::text::safe_line;
use guard::Guard;

pub use mouse::{MouseAct, ShellMouse};

/// The most rows kept above the screen.
const MOST_SCROLLBACK: usize = 5_000;

/// More than any screen has, and little enough to hold.
const MOST_CELLS_ACROSS: u16 = 1_000;

/// Ends whatever sequence is open.
const CANCEL: &[u8] = b"\x18";

/// A shell and what its screen shows.
pub struct ShellState {
    /// The stream that carries its bytes.
    pub stream: StreamId,
    /// Where it runs.
    pub sandbox: SandboxRef,
    /// What its tab says.
    pub title: String,
    parser: vt100::Parser,
    guard: Guard,
    size: TtySize,
    ended: Option<String>,
}

impl ShellState {
    /// Starts with an empty screen.
    #[must_use]
    pub fn new(
        stream: StreamId,
        sandbox: SandboxRef,
        title: impl AsRef<str>,
        size: TtySize,
    ) -> Self {
        let (rows, columns) = dimensions(size);
        Self {
            stream,
            sandbox,
            title: safe_line(title.as_ref()),
            parser: vt100::Parser::new(rows, columns, MOST_SCROLLBACK),
            guard: Guard::default(),
            size,
            ended: None,
        }
    }

    /// Takes what the shell wrote; where the chunks are cut does not matter.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.ended.is_none() {
            self.guard.feed(bytes, &mut self.parser);
        }
    }

    /// Changes the size of the screen; tells whether it is another one, which the sandbox must then hear of.
    pub fn resize(&mut self, size: TtySize) -> bool {
        if size == self.size {
            return false;
        }
        self.size = size;
        let (rows, columns) = dimensions(size);
        self.parser.set_size(rows, columns);
        true
    }

    /// Returns the size of the screen.
    #[must_use]
    pub fn size(&self) -> TtySize {
        self.size
    }

    /// Returns what to send for a pasted text.
    ///
    /// Line breaks become what Enter sends. Control characters are left out, since they would be commands: an escape
    /// sequence in the text could end the paste, and Ctrl+C could end the program.
    #[must_use]
    pub fn paste_bytes(&self, text: &str) -> Vec<u8> {
        let lines = text.replace("\r\n", "\r").replace('\n', "\r");
        let is_text = |c: &char| !c.is_control() || matches!(c, '\r' | '\t');
        let text: String = lines.chars().filter(is_text).collect();
        if self.screen().bracketed_paste() {
            format!("\x1b[200~{text}\x1b[201~").into_bytes()
        } else {
            text.into_bytes()
        }
    }

    /// Scrolls back into what has left the screen, or forward again when `lines` is negative.
    pub fn scroll(&mut self, lines: i32) {
        let far = usize::try_from(lines.unsigned_abs()).unwrap_or(usize::MAX);
        let now = self.lines_back();
        let next = if lines < 0 {
            now.saturating_sub(far)
        } else {
            now.saturating_add(far)
        };
        self.parser.screen_mut().set_scrollback(next);
    }

    /// Goes back to where the shell writes.
    pub fn scroll_to_end(&mut self) {
        self.parser.screen_mut().set_scrollback(0);
    }

    /// Tells whether something older than the shell's screen is shown.
    #[must_use]
    pub fn is_scrolled(&self) -> bool {
        self.lines_back() > 0
    }

    /// Returns by how many lines it is scrolled back.
    #[must_use]
    pub fn lines_back(&self) -> usize {
        self.screen().scrollback()
    }

    /// Says in a last line how the shell ended; nothing is taken or sent from then on.
    pub fn end(&mut self, words: impl AsRef<str>) {
        if self.ended.is_some() {
            return;
        }
        let words = safe_line(words.as_ref());
        self.scroll_to_end();
        self.parser.process(CANCEL);
        if self.screen().alternate_screen() {
            self.parser.process(b"\x1b[?1049l");
        }
        // At the start of a line, without an empty line before it.
        let line_break = if self.screen().cursor_position().1 > 0 {
            "\r\n"
        } else {
            ""
        };
        let line = format!("\x1b[m{line_break}\x1b[2m[{words}]\x1b[m");
        self.parser.process(line.as_bytes());
        self.ended = Some(words);
    }

    /// Returns how it ended, once it has.
    #[must_use]
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Returns what the screen shows.
    #[must_use]
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }
}

/// Returns rows and columns that the emulator can work with.
fn dimensions(size: TtySize) -> (NonZeroU16, NonZeroU16) {
    let fit = |cells: u16| NonZeroU16::new(cells.min(MOST_CELLS_ACROSS)).unwrap_or(NonZeroU16::MIN);
    (fit(size.rows), fit(size.columns))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::domain::{HostName, SandboxId};

    /// Makes a shell that has written something.
    pub(crate) fn shell(columns: u16, rows: u16, bytes: &[u8]) -> ShellState {
        let sandbox = SandboxRef::new(HostName::new("local"), SandboxId::new("abc"));
        let size = TtySize { columns, rows };
        let mut shell = ShellState::new(StreamId(1), sandbox, "sh", size);
        shell.push(bytes);
        shell
    }

    fn lines(shell: &ShellState) -> Vec<String> {
        let columns = shell.size().columns;
        let rows = shell.screen().rows(0, columns);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    #[test]
    fn shows_what_was_written() {
        let mut shell = shell(10, 3, b"$ ls\r\na \x1b[3");
        shell.push(b"1mb");
        assert_eq!(lines(&shell), ["$ ls", "a b", ""]);
    }

    #[test]
    fn pastes_are_text_and_nothing_else() {
        let mut shell = shell(10, 3, b"");
        let paste = "a\r\nb\nc\td\u{1b}[201~\u{3}\u{9b}\u{7f}é";
        assert_eq!(shell.paste_bytes(paste), "a\rb\rc\td[201~é".as_bytes());
        shell.push(b"\x1b[?2004h");
        let bracketed = "\u{1b}[200~a\rb\rc\td[201~é\u{1b}[201~";
        assert_eq!(shell.paste_bytes(paste), bracketed.as_bytes());
    }

    #[test]
    fn scrolls_within_what_is_kept() {
        let mut shell = shell(10, 2, b"1\r\n2\r\n3\r\n4");
        assert!(!shell.is_scrolled());
        shell.scroll(1);
        assert_eq!(lines(&shell), ["2", "3"]);
        shell.push(b"\r\n5");
        assert_eq!(lines(&shell), ["2", "3"], "stays while more comes");
        shell.scroll(i32::MAX);
        assert_eq!(
            (lines(&shell), shell.lines_back()),
            (vec!["1".into(), "2".into()], 3)
        );
        shell.scroll(i32::MIN);
        assert_eq!(
            (lines(&shell), shell.is_scrolled()),
            (vec!["4".into(), "5".into()], false)
        );
        let many = "x\r\n".repeat(6_000);
        shell.push(many.as_bytes());
        shell.scroll(i32::MAX);
        assert_eq!(shell.lines_back(), MOST_SCROLLBACK);
        shell.scroll_to_end();
        assert!(!shell.is_scrolled());
    }

    #[test]
    fn resizing_tells_whether_it_changed() {
        let mut shell = shell(10, 2, b"abc");
        let size = TtySize {
            columns: 5,
            rows: 3,
        };
        assert!(shell.resize(size));
        assert!(!shell.resize(size));
        assert_eq!(shell.size(), size);
        assert!(shell.resize(TtySize {
            columns: 0,
            rows: 0
        }));
        assert!(shell.resize(TtySize {
            columns: u16::MAX,
            rows: u16::MAX
        }));
    }

    #[test]
    fn the_end_is_written_below_the_last_line() {
        let mut ended = shell(
            20,
            3,
            b"\x1b[?1049h\x1b]0;open\x1b[31mvi\x1b[?1049l$ exit\x1b[3",
        );
        ended.end("ended: \u{1b}[2Jok");
        assert_eq!(lines(&ended), ["$ exit", "[ended: \\x1b[2Jok]", ""]);
        assert_eq!(ended.ended(), Some("ended: \\x1b[2Jok"));
        ended.push(b"late");
        ended.end("twice");
        assert_eq!(lines(&ended), ["$ exit", "[ended: \\x1b[2Jok]", ""]);
        let mut whole_screen = shell(20, 3, b"$ vi\r\n\x1b[?1049h~\r\n~");
        whole_screen.end("lost");
        assert_eq!(lines(&whole_screen), ["$ vi", "[lost]", ""]);
    }

    #[test]
    fn titles_hold_no_controls() {
        let sandbox = SandboxRef::new(HostName::new("local"), SandboxId::new("abc"));
        let size = TtySize {
            columns: 1,
            rows: 1,
        };
        let shell = ShellState::new(StreamId(1), sandbox, "a\u{1b}b", size);
        assert_eq!(shell.title, "a\\x1bb");
    }
}
