//! Programs to be run: what a front end hands over, and what it gets back ready to start.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;

use crate::code::{Around, CheckSettings, Finding, Language, Report, Requirement, Verdict, Wanted};
use crate::domain::{ExecId, ExecSpec, HostName, Sandbox, SandboxSpec, StdinMode};

/// Where a program runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// In a sandbox that is there.
    In(Box<Sandbox>),
    /// In one that is made for it; the manager removes it at its own end if nobody has done so before.
    Fresh {
        /// Where.
        host: HostName,
        /// What.
        spec: Box<SandboxSpec>,
    },
}

/// A program, and what it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The id of its run.
    pub exec: ExecId,
    /// What people call it, such as the name of its file.
    pub name: Option<String>,
    /// Its text.
    pub code: Bytes,
    /// What it is written in.
    pub language: Language,
    /// What lies beside it, and the version of its interpreter.
    pub around: Around,
    /// Whether it may run.
    pub checks: Checks,
    /// Which packages it gets.
    pub wanted: Wanted,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// A JSON value for it, as a file that the variable `SANDTOP_CONTEXT` names.
    pub context: Option<Bytes>,
    /// Does it read from us?
    pub stdin: StdinMode,
    /// Longest run time.
    pub timeout: Option<Duration>,
}

/// Whether a program may run; it is read once for that, and for its packages.
#[derive(Debug, Clone, PartialEq)]
pub enum Checks {
    /// If this policy allows what is found in it.
    By(CheckSettings),
    /// It was read, and whoever asks takes what was found.
    Passed(Box<Report>),
}

/// A program that the policy does not let run, or not without a person's word. Nothing was made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Denied {
    /// May a person be asked?
    pub verdict: Verdict,
    /// What was read in it, for [`Checks::Passed`].
    pub report: Report,
}

/// Where the packages of a run came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheUse {
    /// They were there.
    Hit,
    /// They were installed for this run.
    Miss,
    /// There are none.
    None,
}

impl CacheUse {
    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::None => "none",
        }
    }
}

/// A step of getting ready, and how long it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which: `packages`, `create` or `write`.
    pub name: &'static str,
    /// How long.
    pub took: Duration,
}

/// What is known of a program before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// What the check found.
    pub findings: Vec<Finding>,
    /// The packages it would get.
    pub packages: Vec<Requirement>,
    /// Are they in the cache? `None` if nobody knows, or there are none.
    pub kept: Option<bool>,
}

/// A program that can start at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Where it will run.
    pub sandbox: Sandbox,
    /// The command to give to `Exec`.
    pub spec: ExecSpec,
    /// The packages it has.
    pub packages: Vec<Requirement>,
    /// Where they came from.
    pub cache: CacheUse,
    /// What was done for it.
    pub steps: Vec<Step>,
    /// What the checks found, if whoever asked does not know it yet.
    pub findings: Vec<Finding>,
}
