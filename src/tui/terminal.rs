//! The terminal: taken over completely, and given back completely, however the program ends.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Tells the panic hook whether there is anything to give back.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Our terminal.
pub(super) type Screen = Terminal<CrosstermBackend<Stdout>>;

/// Holds the terminal until dropped.
pub(super) struct Guard;

impl Guard {
    /// Takes the terminal over.
    pub(super) fn take(mouse: bool) -> io::Result<(Self, Screen)> {
        install_hook();
        let guard = Self;
        enter(mouse)?;
        let screen = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok((guard, screen))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// Enters raw mode and the alternate screen.
pub(super) fn enter(mouse: bool) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Clear(ClearType::All)
    )?;
    set_mouse(mouse)
}

/// Gives everything back; each step on its own, because the terminal may be half gone.
pub(super) fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = queue!(out, DisableMouseCapture);
    let _ = queue!(out, DisableBracketedPaste);
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

/// Restores the terminal before a panic is told, and writes it to the log.
fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            tracing::error!(%info, backtrace = %std::backtrace::Backtrace::force_capture(), "panic");
            previous(info);
        }));
    });
}
