//! One process run in a sandbox: what is asked, what comes out, how it ends.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Code, ExecId, SandboxPath, Tie};

/// Which of the two output streams bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKind {
    /// Standard output (and everything, with a terminal).
    Stdout,
    /// Standard error.
    Stderr,
}

/// Whether the process reads from us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinMode {
    /// Its standard input is empty.
    Closed,
    /// It gets what is sent, until the end is sent.
    Piped,
}

/// Size of a terminal in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TtySize {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// A command to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecSpec {
    /// Its id, by which its processes are found again.
    pub id: ExecId,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where it starts; `None` is the sandbox's work directory.
    pub work_dir: Option<SandboxPath>,
    /// Variables on top of the sandbox's own.
    pub env: Vec<(String, String)>,
    /// Another user than the sandbox's.
    pub user: Option<String>,
    /// Does it read from us?
    pub stdin: StdinMode,
    /// A terminal of this size instead of pipes.
    pub tty: Option<TtySize>,
    /// Longest run time; `None` means no end.
    pub timeout: Option<Duration>,
    /// The named session whose directory and variables it continues.
    pub session: Option<String>,
    /// The code it runs, for the record.
    pub code: Option<Code>,
    /// Does it outlive the process that starts it?
    pub tie: Tie,
}

impl ExecSpec {
    /// Describes a plain command with everything else at its default.
    #[must_use]
    pub fn new(id: ExecId, argv: Vec<String>) -> Self {
        Self {
            id,
            argv,
            work_dir: None,
            env: Vec::new(),
            user: None,
            stdin: StdinMode::Closed,
            tty: None,
            timeout: None,
            session: None,
            code: None,
            tie: Tie::Attached,
        }
    }
}

/// A piece of output as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// Where it was written.
    pub stream: StreamKind,
    /// The bytes, unchanged.
    pub bytes: Bytes,
}

/// How an exec ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// At its time limit; the whole process tree was killed.
    TimedOut,
    /// Over its memory limit.
    OutOfMemory,
    /// On request; the whole process tree was killed.
    Cancelled,
    /// The sandbox or the engine went away under it.
    Lost,
}

impl Ended {
    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Code(0) => "ok",
            Self::Code(_) => "nonzero",
            Self::Signal(_) => "signal",
            Self::TimedOut => "timeout",
            Self::OutOfMemory => "oom",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }

    /// Returns the exit code by shell convention.
    #[must_use]
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(signal) => Some(128 + signal),
            Self::TimedOut => Some(124),
            Self::OutOfMemory => Some(137),
            Self::Cancelled => Some(130),
            Self::Lost => None,
        }
    }
}

/// The last word on an exec.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecEnd {
    /// How it ended.
    pub ended: Ended,
    /// Resident memory of its largest process, where the kernel tells.
    pub peak_memory_bytes: Option<u64>,
    /// Processor time of its processes, where the kernel tells.
    pub cpu_time: Option<Duration>,
    /// Processes that the kernel refused the sandbox meanwhile, where it counts them.
    pub refused_processes: Option<u64>,
}

impl ExecEnd {
    /// Describes an end of which nothing but the manner is known.
    #[must_use]
    pub fn bare(ended: Ended) -> Self {
        Self {
            ended,
            peak_memory_bytes: None,
            cpu_time: None,
            refused_processes: None,
        }
    }
}

/// What the sandbox itself knows of its execs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Execs {
    /// Those that run.
    pub running: Vec<ExecId>,
    /// Some that have ended lately, and when.
    pub ended: Vec<(ExecId, ExecEnd, DateTime<Utc>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_word_and_code() {
        let table = [
            (Ended::Code(0), "ok", Some(0)),
            (Ended::Code(3), "nonzero", Some(3)),
            (Ended::Signal(15), "signal", Some(143)),
            (Ended::TimedOut, "timeout", Some(124)),
            (Ended::OutOfMemory, "oom", Some(137)),
            (Ended::Cancelled, "cancelled", Some(130)),
            (Ended::Lost, "lost", None),
        ];
        for (ended, word, code) in table {
            assert_eq!((ended.word(), ended.exit_code()), (word, code));
        }
    }
}
