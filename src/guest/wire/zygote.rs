//! What a keeper says to its own zygote, and what that answers.

use super::keeper::{ERROR, READY, RUN, RunRequest, STARTED};
use super::words::{LineReader, LineWriter};

/// What a keeper asks of its zygote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZygoteRequest {
    /// Start the guest.
    Run(RunRequest),
    /// Send a signal to every process of the sandbox.
    Signal(i32),
}

impl ZygoteRequest {
    const SIGNAL: &'static str = "signal";

    /// Writes it, without the end of the line.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Run(run) => run.encode(),
            Self::Signal(signal) => LineWriter::new(Self::SIGNAL).number(signal).line(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        match words.text()?.as_str() {
            RUN => RunRequest::parse(words).map(Self::Run),
            Self::SIGNAL => words.number().map(Self::Signal),
            _ => None,
        }
    }
}

/// What a zygote tells its keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZygoteAnswer {
    /// It needs its users mapped, which only the keeper may do.
    NeedsIds,
    /// A socket comes along by which the kernel tells what the sandbox's sockets hold.
    Sockets,
    /// The first process of the sandbox.
    Init {
        /// Its number outside.
        pid: i32,
    },
    /// The sandbox stands; its namespaces come along.
    Ready,
    /// What was asked for runs; for a terminal, its other side comes along.
    Started {
        /// Its number outside.
        pid: i32,
    },
    /// It is not done, for this reason.
    Failed(String),
}

impl ZygoteAnswer {
    const MAP: &'static str = "map";
    const SOCKETS: &'static str = "sockets";
    const INIT: &'static str = "init";

    /// Writes it, without the end of the line.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::NeedsIds => Self::MAP.to_owned(),
            Self::Sockets => Self::SOCKETS.to_owned(),
            Self::Init { pid } => LineWriter::new(Self::INIT).number(pid).line(),
            Self::Ready => READY.to_owned(),
            Self::Started { pid } => LineWriter::new(STARTED).number(pid).line(),
            Self::Failed(reason) => LineWriter::new(ERROR).word(reason).line(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(match words.text()?.as_str() {
            Self::MAP => Self::NeedsIds,
            Self::SOCKETS => Self::Sockets,
            Self::INIT => Self::Init {
                pid: words.number()?,
            },
            READY => Self::Ready,
            STARTED => Self::Started {
                pid: words.number()?,
            },
            ERROR => Self::Failed(words.text().unwrap_or_default()),
            _ => return None,
        })
    }
}
