//! How code is run, and a program on its way to its run.

use std::time::Duration;

use crate::code::Wanted;
use crate::domain::SandboxRef;
use crate::protocol::Program;

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
    /// The name of its code.
    pub name: Option<String>,
}

/// A program that the manager gets ready.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramRun {
    /// What the run is called.
    pub title: String,
    /// Where it will run.
    pub sandbox: SandboxRef,
    /// The program.
    pub program: Box<Program>,
    /// All of its input, if that is known.
    pub input: Option<String>,
}
