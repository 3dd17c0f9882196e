//! The signals that ask the process to end, to stop for a while and to go on.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// Ctrl-C.
    Interrupt,
    /// A polite end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl EndReason {
    /// Returns the exit code by shell convention.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}

/// Waits for SIGTERM or SIGHUP, and for SIGINT too unless the verb handles that itself.
/// It listens from the call on, not only from the first poll.
pub fn asked_to_end(with_interrupt: bool) -> impl Future<Output = EndReason> {
    let interrupt = with_interrupt.then(|| signal(SignalKind::interrupt()));
    let terminate = signal(SignalKind::terminate());
    let hang_up = signal(SignalKind::hangup());
    async move {
        tokio::select! {
            () = arrival(interrupt) => EndReason::Interrupt,
            () = arrival(Some(terminate)) => EndReason::Terminate,
            () = arrival(Some(hang_up)) => EndReason::HangUp,
        }
    }
}

async fn arrival(signal: Option<std::io::Result<Signal>>) {
    match signal {
        Some(Ok(mut signal)) => drop(signal.recv().await),
        // Without a handler the default action ends the process, which is what was asked for.
        Some(Err(_)) | None => std::future::pending().await,
    }
}

/// What a shell tells a program that it puts aside and takes up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It shall stop.
    Stop,
    /// It goes on.
    GoOn,
}

/// Listens to SIGTSTP and SIGCONT.
#[derive(Debug)]
pub struct Turns {
    stop: Signal,
    go_on: Signal,
}

impl Turns {
    /// Starts to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            stop: signal(SignalKind::from_raw(libc::SIGTSTP))?,
            go_on: signal(SignalKind::from_raw(libc::SIGCONT))?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Turn {
        tokio::select! {
            _ = self.stop.recv() => Turn::Stop,
            _ = self.go_on.recv() => Turn::GoOn,
        }
    }
}
