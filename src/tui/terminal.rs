//! The terminal: taken over completely, and given back completely, however the program ends.

use std::io::{self, BufWriter, Stdout, Write};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::Utc;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes of a picture that are gathered before they are written; a whole one fits.
const PICTURE: usize = 256 * 1024;

/// Tells the panic hook whether there is anything to give back.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Draws pictures on the terminal.
pub(super) struct Screen {
    /// Never dropped: it would write to a terminal that may be gone, and complain about that.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
}

impl Screen {
    /// Starts with an empty picture.
    pub(super) fn new() -> io::Result<Self> {
        let out = BufWriter::with_capacity(PICTURE, io::stdout());
        let terminal = Terminal::new(CrosstermBackend::new(out))?;
        Ok(Self {
            terminal: ManuallyDrop::new(terminal),
        })
    }

    /// Returns columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Draws in one go, so that no half picture is seen.
    pub(super) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(picture)?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        Write::flush(self.terminal.backend_mut())
    }

    /// Draws all cells the next time, since the screen was cleared. The library's own way would ask the terminal where the
    /// cursor is, and wait for an answer.
    pub(super) fn forget(&mut self) {
        self.terminal.swap_buffers();
    }
}

/// Holds the terminal until dropped.
pub(super) struct Guard;

impl Guard {
    /// Takes the terminal over; after a panic the log is named if there is one.
    pub(super) fn take(mouse: bool, log_dir: Option<&Path>) -> io::Result<Self> {
        install_hook(log_dir.map(Path::to_path_buf));
        let guard = Self;
        enter(mouse)?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// Enters raw mode and the alternate screen, also if the terminal has forgotten that it was asked before.
pub(super) fn enter(mouse: bool) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    // Whoever had the terminal meanwhile may have changed it; the library would not look.
    disable_raw_mode()?;
    enable_raw_mode()?;
    let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
    let mut out = io::stdout();
    queue!(out, EnterAlternateScreen, EnableBracketedPaste)?;
    queue!(out, PopKeyboardEnhancementFlags)?;
    queue!(out, PushKeyboardEnhancementFlags(flags))?;
    queue!(out, Clear(ClearType::All))?;
    out.flush()?;
    set_mouse(mouse)
}

/// Gives everything back; each step on its own, because the terminal may be half gone.
pub(super) fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = queue!(out, EndSynchronizedUpdate, ResetColor);
    let _ = queue!(out, DisableMouseCapture);
    let _ = queue!(out, DisableBracketedPaste);
    let _ = queue!(out, PopKeyboardEnhancementFlags);
    let _ = queue!(out, LeaveAlternateScreen);
    let _ = queue!(out, cursor::Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Takes the mouse or leaves it to the terminal.
pub(super) fn set_mouse(ours: bool) -> io::Result<()> {
    if ours {
        execute!(io::stdout(), EnableMouseCapture)
    } else {
        execute!(io::stdout(), DisableMouseCapture)
    }
}

/// Rings the bell, which draws nothing.
pub(super) fn ring() -> io::Result<()> {
    use std::io::Write as _;
    let mut out = io::stdout();
    out.write_all(b"\x07")?;
    out.flush()
}

/// Tells whether nobody is at the other end any more. The library that reads keys does not see that.
pub(super) fn is_gone() -> bool {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
    let now = Timespec::default();
    let polled = poll(&mut fds, Some(&now)).is_ok();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    polled && fds.iter().any(|fd| fd.revents().intersects(gone))
}

/// Names the log of today.
fn log_file(dir: &Path) -> PathBuf {
    dir.join(format!("sandtop.{}.log", Utc::now().format("%Y-%m-%d")))
}

/// Restores the terminal before a panic is told, writes it to the log, and says where that is.
fn install_hook(log_dir: Option<PathBuf>) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let ours = std::thread::current().id();
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            tracing::error!(%info, backtrace = %std::backtrace::Backtrace::force_capture(), "panic");
            let is_elsewhere = std::thread::current().id() != ours;
            // What breaks in the background ends there; the picture must stay whole.
            if is_elsewhere && TAKEN.load(Ordering::SeqCst) {
                return;
            }
            leave();
            previous(info);
            if let Some(dir) = &log_dir {
                let file = log_file(dir);
                let _ = writeln!(io::stderr(), "sandtop broke; its log: {}", file.display());
            }
        }));
    });
}
