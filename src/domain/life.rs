//! Whether a sandbox goes: what is known of its use and its owner, and one pure decision.
//!
//! Who is an orphan: a sandbox made on the command line belongs to the person, not to the process that ended a moment later;
//! it is never one. A dashboard, an agent or `run` answers for what it makes as long as it lives; when it ends in order, it
//! releases what it leaves to the person, and when it is killed, what it made is orphaned.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Sandbox, SandboxRef};

/// What kind of process made a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnerKind {
    /// A command: what it makes belongs to the person.
    #[default]
    Cli,
    /// A command that removes what it makes when it ends.
    Run,
    /// A dashboard.
    Tui,
    /// A server for agents.
    Mcp,
}

impl OwnerKind {
    /// Returns the word used in labels and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Run => "run",
            Self::Tui => "tui",
            Self::Mcp => "mcp",
        }
    }

    /// Reads the word; what is unknown belongs to the person.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        let all = [Self::Run, Self::Tui, Self::Mcp];
        let found = all.into_iter().find(|kind| kind.word() == word);
        found.unwrap_or(Self::Cli)
    }
}

/// Whether a sandbox is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Something runs in it.
    Busy,
    /// Nothing was done in it for so long.
    Idle(Duration),
    /// Nobody knows.
    Unknown,
}

/// Who answers for a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs {
    /// The person who uses this sandtop.
    Us,
    /// Its owner died.
    Orphaned,
    /// Somebody else, or a process on another machine.
    Others,
    /// Another tool; the rule that adopted it says that it may be reaped.
    ForeignReaped,
    /// Another tool.
    Foreign,
}

/// Everything that decides whether a sandbox goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Is it used?
    pub usage: Usage,
    /// Who answers for it?
    pub belongs: Belongs,
    /// Did somebody pin it?
    pub pinned: bool,
    /// Is it paused?
    pub paused: bool,
    /// Is it being made or removed right now?
    pub changing: bool,
}

/// What to do with sandboxes that nobody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReapRules {
    /// Unused for so long, it goes; `None` keeps it for ever.
    pub idle: Option<Duration>,
    /// Unused for so long after its owner died, it goes.
    pub orphan: Duration,
    /// What happens at that time.
    pub grace: Grace,
}

/// What happens to a sandbox whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grace {
    /// It is removed.
    Remove,
    /// It is paused, and removed when the same time has passed once more.
    Pause,
}

/// Why a sandbox goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nobody used it.
    Idle,
    /// Its owner died.
    Orphan,
}

impl Reason {
    /// Returns the word used in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Orphan => "orphan",
        }
    }
}

/// Why a sandbox stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spared {
    /// Somebody pinned it.
    Pinned,
    /// Something runs in it.
    Busy,
    /// Another tool made it.
    Foreign,
    /// Somebody else made it, or a process on another machine.
    Others,
    /// It is being made or removed.
    Changing,
    /// Nobody knows when it was used.
    Unknown,
    /// No time is set.
    Never,
}

impl Spared {
    /// Returns the reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Busy => "something runs in it",
            Self::Foreign => "made by another tool",
            Self::Others => "made by somebody else",
            Self::Changing => "being made or removed",
            Self::Unknown => "its last use is not known",
            Self::Never => "no idle time is set",
        }
    }
}

/// What becomes of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep(Spared),
    /// It goes when it stays unused for so long.
    Later(Reason, Duration),
    /// It is paused now.
    Pause(Reason),
    /// It goes now.
    Remove(Reason),
}

/// Decides. What is busy, pinned or not ours to judge stays, whatever else is known.
#[must_use]
pub fn judge(facts: &Facts, rules: &ReapRules) -> Verdict {
    if let Some(spared) = spared(facts) {
        return Verdict::Keep(spared);
    }
    let idle = match facts.usage {
        Usage::Idle(idle) => idle,
        Usage::Busy => return Verdict::Keep(Spared::Busy),
        Usage::Unknown => return Verdict::Keep(Spared::Unknown),
    };
    let orphan = (facts.belongs == Belongs::Orphaned).then_some((Reason::Orphan, rules.orphan));
    let idle_rule = rules.idle.map(|limit| (Reason::Idle, limit));
    let sooner = orphan
        .into_iter()
        .chain(idle_rule)
        .min_by_key(|(_, limit)| *limit);
    let Some((reason, limit)) = sooner else {
        return Verdict::Keep(Spared::Never);
    };
    match (rules.grace, facts.paused) {
        (Grace::Pause, false) if idle >= limit => Verdict::Pause(reason),
        (Grace::Pause, true) => remove_at(reason, idle, limit.saturating_mul(2)),
        (Grace::Remove, _) | (Grace::Pause, false) => remove_at(reason, idle, limit),
    }
}

fn remove_at(reason: Reason, idle: Duration, limit: Duration) -> Verdict {
    match limit.checked_sub(idle) {
        Some(left) if !left.is_zero() => Verdict::Later(reason, left),
        _ => Verdict::Remove(reason),
    }
}

fn spared(facts: &Facts) -> Option<Spared> {
    match facts.belongs {
        _ if facts.changing => Some(Spared::Changing),
        _ if facts.pinned => Some(Spared::Pinned),
        Belongs::Foreign => Some(Spared::Foreign),
        Belongs::Others => Some(Spared::Others),
        Belongs::Us | Belongs::Orphaned | Belongs::ForeignReaped => None,
    }
}

/// How the last run of a sandbox ended, when it did not end well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastEnd {
    /// The word of its status.
    pub cause: String,
    /// Which run.
    pub run: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Its exit code.
    pub exit_code: Option<i32>,
}

/// What sandtop knows of a sandbox beyond what the engine tells.
#[derive(Debug, Clone, PartialEq)]
pub struct ReapStatus {
    /// Which.
    pub sandbox: SandboxRef,
    /// What decides over it.
    pub facts: Facts,
    /// What becomes of it.
    pub verdict: Verdict,
    /// How its last run ended, if not well.
    pub last_end: Option<LastEnd>,
    /// When the kernel last refused it processes, if that was lately.
    pub pids_refused_at: Option<DateTime<Utc>>,
    /// How it ended, if it did.
    pub death: Option<super::Death>,
}

impl ReapStatus {
    /// Returns how long nothing was done in it; nothing while it is busy.
    #[must_use]
    pub fn idle(&self) -> Option<Duration> {
        match self.facts.usage {
            Usage::Busy => Some(Duration::ZERO),
            Usage::Idle(idle) => Some(idle),
            Usage::Unknown => None,
        }
    }

    /// Returns the time until it goes, if it goes.
    #[must_use]
    pub fn reap_in(&self) -> Option<Duration> {
        match self.verdict {
            Verdict::Keep(_) => None,
            Verdict::Later(_, left) => Some(left),
            Verdict::Pause(_) | Verdict::Remove(_) => Some(Duration::ZERO),
        }
    }

    /// Tells whether another tool made it.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(
            self.facts.belongs,
            Belongs::Foreign | Belongs::ForeignReaped
        )
    }

    /// Tells whether its owner died.
    #[must_use]
    pub fn is_orphan(&self) -> bool {
        self.facts.belongs == Belongs::Orphaned
    }
}

/// What reaping found, or did.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaped {
    /// Which.
    pub sandbox: Sandbox,
    /// How it stood.
    pub reap_status: ReapStatus,
    /// Was it done? `None` for a dry run; the words of a failure otherwise.
    pub done: Option<Result<(), String>>,
}

#[cfg(test)]
mod tests;
