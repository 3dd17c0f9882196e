//! The one shutdown future: ready when the process is asked to end.

use tokio::signal::unix::{SignalKind, signal};

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Ctrl-C.
    Interrupt,
    /// A polite end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl Asked {
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
pub async fn asked_to_end(with_interrupt: bool) -> Asked {
    let listen = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // Without a handler the default action ends the process, which is what was asked for.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = listen(SignalKind::interrupt()), if with_interrupt => Asked::Interrupt,
        () = listen(SignalKind::terminate()) => Asked::Terminate,
        () = listen(SignalKind::hangup()) => Asked::HangUp,
    }
}
