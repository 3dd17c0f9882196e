//! What trying the walls of a sandbox from inside has found.

use serde::Serialize;

use super::{Details, SandboxSpec};

/// What an attempt to get out is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// The filter of system calls.
    Calls,
    /// Rights of the sandbox's user.
    Privileges,
    /// The read-only root.
    Root,
    /// Files of the kernel.
    Kernel,
    /// Mounts that can be written to, each by its place; some are meant to be.
    Mounts,
    /// Sockets that lead out.
    Sockets,
    /// The network.
    Network,
    /// The memory limit.
    Memory,
    /// The process limit.
    Processes,
    /// The processor limit.
    Processors,
    /// The size of `/tmp`.
    Scratch,
}

/// How an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The wall holds.
    Held,
    /// There is a way.
    Open,
    /// It could not be tried.
    NotTried,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// What it is about.
    pub wall: Wall,
    /// What was tried.
    pub name: String,
    /// How it went.
    pub outcome: Outcome,
    /// How far it came, for limits: bytes, processes or thousandths of a processor.
    pub reached: Option<u64>,
}

/// A sandbox that was made to be tried, and what that found.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTest {
    /// What was asked for.
    pub spec: SandboxSpec,
    /// What the engine says of it.
    pub details: Details,
    /// What was tried.
    pub attempts: Vec<Attempt>,
}
