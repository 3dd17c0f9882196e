//! How a run stands, in words.

use crate::domain::{Ended, ExecEnd};
use crate::protocol::Failure;
use crate::text::safe_line;

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStatus {
    /// It goes on.
    Running,
    /// It is over.
    Ended(Ended),
    /// It could not be run, for this reason.
    Failed(String),
}

/// How well a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunHealth {
    /// It goes on.
    Open,
    /// It ended well.
    Good,
    /// It was cancelled or lost.
    Odd,
    /// It went wrong.
    Bad,
}

impl RunStatus {
    /// Reads the last word on a stream.
    #[must_use]
    pub fn of(outcome: &Result<ExecEnd, Failure>) -> Self {
        match outcome {
            Ok(end) => Self::Ended(end.ended),
            Err(failure) => Self::Failed(safe_line(&failure.message)),
        }
    }

    /// Returns the words for it, such as `exit 3` or `out of memory`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Running => "running".to_owned(),
            Self::Ended(ended) => ended_words(*ended),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }

    /// Returns the words without the reason of a failure, for narrow places.
    #[must_use]
    pub fn short_words(&self) -> String {
        match self {
            Self::Failed(_) => "failed".to_owned(),
            Self::Running | Self::Ended(_) => self.words(),
        }
    }

    /// Tells how well it stands.
    #[must_use]
    pub fn health(&self) -> RunHealth {
        match self {
            Self::Running => RunHealth::Open,
            Self::Ended(Ended::Code(0)) => RunHealth::Good,
            Self::Ended(Ended::Cancelled | Ended::Lost) => RunHealth::Odd,
            Self::Ended(_) | Self::Failed(_) => RunHealth::Bad,
        }
    }
}

fn ended_words(ended: Ended) -> String {
    match ended {
        Ended::Code(0) => "ok".to_owned(),
        Ended::Code(code) => format!("exit {code}"),
        Ended::Signal(signal) => format!("signal {signal}"),
        Ended::TimedOut => "timeout".to_owned(),
        Ended::OutOfMemory => "out of memory".to_owned(),
        Ended::Cancelled => "cancelled".to_owned(),
        Ended::Lost => "lost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FailureKind;

    #[test]
    fn every_end_has_its_words() {
        let table = [
            (Ended::Code(0), "ok", RunHealth::Good),
            (Ended::Code(3), "exit 3", RunHealth::Bad),
            (Ended::Signal(9), "signal 9", RunHealth::Bad),
            (Ended::TimedOut, "timeout", RunHealth::Bad),
            (Ended::OutOfMemory, "out of memory", RunHealth::Bad),
            (Ended::Cancelled, "cancelled", RunHealth::Odd),
            (Ended::Lost, "lost", RunHealth::Odd),
        ];
        for (ended, words, reap_status) in table {
            let status = RunStatus::of(&Ok(ExecEnd::bare(ended)));
            assert_eq!(
                (status.words().as_str(), status.health()),
                (words, reap_status)
            );
        }
        assert_eq!(RunStatus::Running.words(), "running");
        let failure = Failure::new(FailureKind::NotFound, "no\x1b[2J sandbox");
        let status = RunStatus::of(&Err(failure));
        assert_eq!(status.words(), "failed: no\\x1b[2J sandbox");
    }
}
