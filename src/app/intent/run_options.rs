//! How code is run.

use std::time::Duration;

use crate::code::Wanted;
use crate::domain::SandboxRef;

/// What a run gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Longest time; `None` is the sandbox's own limit.
    pub timeout: Option<Option<Duration>>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All of its input; `None` lets the person type it later.
    pub input: Option<String>,
    /// Its packages.
    pub wanted: Wanted,
    /// Where, if not in the selected sandbox.
    pub target: Option<Target>,
}

/// A sandbox to run in, and what the run is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where.
    pub sandbox: SandboxRef,
    /// The name of the run.
    pub title: String,
}
