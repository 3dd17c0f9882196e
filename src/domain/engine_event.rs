//! Things that happen to sandboxes, as an engine reports them.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::SandboxRef;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EngineEvent {
    /// When.
    pub at: DateTime<Utc>,
    /// To which sandbox.
    pub sandbox: SandboxRef,
    /// Its name then.
    pub name: String,
    /// What.
    pub what: EngineEventKind,
}

/// The kinds of things that happen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum EngineEventKind {
    /// It was made.
    Created,
    /// It was started.
    Started,
    /// A command was started in it.
    Exec {
        /// The command line.
        command: String,
        /// Its id: that of the run, or for a command of another tool the engine's own.
        exec: Option<String>,
        /// How it ended, once it has; see [`super::merge_events`].
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Its exit code, once it has ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    /// A command in it ended.
    ExecEnded {
        /// Its id, as at its beginning.
        exec: Option<String>,
        /// Its exit code.
        exit_code: Option<i64>,
    },
    /// A process in it ran over the memory limit.
    Oom,
    /// The kernel refused it processes at its limit.
    PidsLimit {
        /// How many.
        refused: u64,
    },
    /// It was paused.
    Paused,
    /// It was resumed.
    Resumed,
    /// A signal was sent to it.
    Killed {
        /// The signal.
        signal: Option<String>,
    },
    /// It ended.
    Died {
        /// Exit code of its first process.
        exit_code: Option<i64>,
    },
    /// It was stopped on request.
    Stopped,
    /// It was restarted on request.
    Restarted,
    /// It is gone.
    Removed {
        /// Who removed it, if somebody of ours did.
        by: Option<String>,
    },
    /// A run in it ended, by sandtop's own record.
    RunEnded {
        /// Which run.
        run: String,
        /// How it ended.
        status: String,
        /// Its exit code.
        exit_code: Option<i32>,
    },
    /// Why it ended, by sandtop's own record.
    Death {
        /// The cause.
        cause: String,
        /// Who did it, if somebody of ours did.
        by: Option<String>,
        /// Exit code of its first process.
        exit_code: Option<i64>,
    },
}

impl EngineEventKind {
    /// Tells that a command began.
    #[must_use]
    pub fn exec(command: String, exec: Option<String>) -> Self {
        Self::Exec {
            command,
            exec,
            status: None,
            exit_code: None,
        }
    }

    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Started => "started",
            Self::Exec { .. } => "exec",
            Self::ExecEnded { .. } => "exec_ended",
            Self::Oom => "oom",
            Self::PidsLimit { .. } => "pids_limit",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Killed { .. } => "killed",
            Self::Died { .. } => "died",
            Self::Stopped => "stopped",
            Self::Restarted => "restarted",
            Self::Removed { .. } => "removed",
            Self::RunEnded { .. } => "run_ended",
            Self::Death { .. } => "death",
        }
    }

    /// Tells whether the list of sandboxes, or a phase in it, is different afterwards.
    #[must_use]
    pub fn changes_list(&self) -> bool {
        !matches!(
            self,
            Self::Exec { .. }
                | Self::ExecEnded { .. }
                | Self::Oom
                | Self::PidsLimit { .. }
                | Self::Killed { .. }
                | Self::RunEnded { .. }
                | Self::Death { .. }
        )
    }
}
