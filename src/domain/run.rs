//! A recorded run: one exec with where it came from, what it was and how it ended, kept for every process to see.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Ended, ExecEnd, ExecId, LastEnd, Owner, SandboxRef};

/// Which front end started a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The dashboard.
    Tui,
    /// The command line.
    Cli,
    /// An agent.
    Mcp,
}

impl Source {
    /// Returns the word used in JSON and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tui => "tui",
            Self::Cli => "cli",
            Self::Mcp => "mcp",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Tui, Self::Cli, Self::Mcp]
            .into_iter()
            .find(|source| source.word() == word)
    }
}

/// The code that a run ran, for running it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Its language.
    pub language: String,
    /// What it was called.
    pub name: Option<String>,
    /// Its text.
    pub text: String,
}

impl Code {
    /// Returns the first line that holds anything.
    fn first_line(&self) -> Option<String> {
        let mut lines = self.text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Whether the run ends with the process that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// It is cancelled when its owner ends in order.
    Attached,
    /// A supervisor of its own holds it.
    Detached,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// Its process ended.
    Ended(Ended),
    /// It was not allowed to start.
    Denied,
    /// It could not be started.
    Failed,
}

impl RunEnd {
    /// Returns the word used in JSON, in the store and on screen.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ended(ended) => ended.word(),
            Self::Denied => "denied",
            Self::Failed => "error",
        }
    }

    /// Returns the exit code by shell convention.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Ended(ended) => ended.exit_code(),
            Self::Denied | Self::Failed => None,
        }
    }

    /// Returns the signal that ended it.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Ended(Ended::Signal(signal)) => Some(*signal),
            Self::Ended(Ended::OutOfMemory) => Some(9),
            _ => None,
        }
    }

    /// Reads what [`Self::word`] and the numbers beside it wrote.
    #[must_use]
    pub fn parse(word: &str, exit_code: Option<i32>, signal: Option<i32>) -> Option<Self> {
        Some(match word {
            "ok" => Self::Ended(Ended::Code(0)),
            "nonzero" => Self::Ended(Ended::Code(exit_code?)),
            "signal" => Self::Ended(Ended::Signal(signal?)),
            "timeout" => Self::Ended(Ended::TimedOut),
            "oom" => Self::Ended(Ended::OutOfMemory),
            "cancelled" => Self::Ended(Ended::Cancelled),
            "lost" => Self::Ended(Ended::Lost),
            "denied" => Self::Denied,
            "error" => Self::Failed,
            _ => return None,
        })
    }
}

/// The last word on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// How it ended.
    pub end: RunEnd,
    /// When.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: Duration,
    /// Resident memory of its largest process, where the kernel tells.
    pub peak_memory_bytes: Option<u64>,
    /// Processor time of its processes, where the kernel tells.
    pub cpu_time: Option<Duration>,
}

impl RunResult {
    /// Describes the end of an exec.
    #[must_use]
    pub fn of(end: &ExecEnd, at: DateTime<Utc>, took: Duration) -> Self {
        Self {
            end: RunEnd::Ended(end.ended),
            at,
            took,
            peak_memory_bytes: end.peak_memory_bytes,
            cpu_time: end.cpu_time,
        }
    }

    /// Describes an end of which nothing but the manner and the moment is known.
    #[must_use]
    pub fn bare(end: RunEnd, started: DateTime<Utc>, at: DateTime<Utc>) -> Self {
        Self {
            end,
            at,
            took: (at - started).to_std().unwrap_or_default(),
            peak_memory_bytes: None,
            cpu_time: None,
        }
    }
}

/// What became of a run's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spooled {
    /// Bytes on standard output.
    pub stdout: u64,
    /// Bytes on standard error.
    pub stderr: u64,
    /// Of them, bytes that were not kept.
    pub cut_stdout: u64,
    /// The same for standard error.
    pub cut_stderr: u64,
}

/// One recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id, which is that of its exec.
    pub id: ExecId,
    /// Where it runs.
    pub sandbox: SandboxRef,
    /// The name of the sandbox then.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The code, if it ran some.
    pub code: Option<Code>,
    /// Who started it.
    pub source: Source,
    /// The named session.
    pub session: Option<String>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// The process that holds it.
    pub owner: Owner,
    /// Does it outlive the process that started it?
    pub tie: Tie,
    /// How it ended; `None` while it runs.
    pub result: Option<RunResult>,
    /// What became of its output.
    pub spooled: Spooled,
}

impl Run {
    /// Returns the word for where it stands.
    #[must_use]
    pub fn status(&self) -> &'static str {
        self.result.as_ref().map_or("running", |r| r.end.word())
    }

    /// Tells how it ended, if not well.
    #[must_use]
    pub fn last_end(&self) -> Option<LastEnd> {
        let result = self.result.as_ref()?;
        let is_well = result.end == RunEnd::Ended(Ended::Code(0));
        (!is_well).then(|| LastEnd {
            cause: result.end.word().to_owned(),
            run: self.id.to_string(),
            at: result.at,
            exit_code: result.end.exit_code(),
        })
    }

    /// Returns the command on one line, as people would type it.
    #[must_use]
    pub fn line(&self) -> String {
        self.argv.join(" ")
    }

    /// Returns what it is called in narrow places: the name of its code, the first line of that, or the command.
    #[must_use]
    pub fn title(&self) -> String {
        let named = self.code.as_ref().and_then(|code| code.name.clone());
        let first = || self.code.as_ref().and_then(Code::first_line);
        named.or_else(first).unwrap_or_else(|| self.line())
    }

    /// Returns what it is called where there is a line for it: the name and first line of its code, or the command.
    #[must_use]
    pub fn headline(&self) -> String {
        let code = self.code.as_ref();
        match code.map(|code| (code.name.as_deref(), code.first_line())) {
            Some((Some(name), Some(first))) => format!("{name}: {first}"),
            Some((_, Some(first))) => first,
            _ => self.title(),
        }
    }
}

/// How much of the past is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days that runs, their output and causes of death stay.
    pub days: u32,
    /// Bytes of output in all.
    pub total_bytes: u64,
    /// Bytes of output of one run.
    pub run_bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            days: 30,
            total_bytes: 256 << 20,
            run_bytes: 1 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_read_as_it_was_written() {
        let ended = [
            Ended::Code(0),
            Ended::Code(3),
            Ended::Signal(15),
            Ended::TimedOut,
            Ended::OutOfMemory,
            Ended::Cancelled,
            Ended::Lost,
        ];
        let ends = ended.map(RunEnd::Ended).into_iter();
        for end in ends.chain([RunEnd::Denied, RunEnd::Failed]) {
            let read = RunEnd::parse(end.word(), end.exit_code(), end.signal());
            assert_eq!(read, Some(end));
        }
        assert_eq!(RunEnd::parse("running", None, None), None);
    }
}
