//! Has the guest try the walls of its sandbox.

use super::Guests;
use crate::domain::{Attempt, Outcome, SandboxId, SandboxSpec, Wall};
use crate::engine::Result;
use crate::guest::wire::attempts::{self as wire, AttemptLine};
use crate::guest::wire::{Call, TriedLimits};

/// Limits that are larger are not tried: to go beyond them takes too much of the host, or too long.
const MOST_MEMORY: u64 = 2 << 30;
const MOST_PROCESSES: u64 = 4096;
const MOST_SCRATCH: u64 = 512 << 20;

/// Tries everything.
pub(super) async fn attempts(
    guests: &Guests,
    id: &SandboxId,
    spec: &SandboxSpec,
) -> Result<Vec<Attempt>> {
    let lines = guests.output(id, &Call::Attempts(tried(spec))).await?;
    let lines = String::from_utf8_lossy(&lines);
    Ok(lines.lines().filter_map(attempt).collect())
}

fn tried(spec: &SandboxSpec) -> TriedLimits {
    let limits = &spec.limits;
    TriedLimits {
        memory_bytes: limits.memory_bytes.filter(|bytes| *bytes <= MOST_MEMORY),
        pids: limits.pids.filter(|count| *count <= MOST_PROCESSES),
        milli_cpus: limits.cpus.and_then(thousandths),
        tmp_bytes: Some(spec.tmp_bytes).filter(|bytes| *bytes <= most_scratch(spec)),
    }
}

/// Files in memory count as memory; filled to its limit, the kernel would kill until nobody is left.
fn most_scratch(spec: &SandboxSpec) -> u64 {
    let memory = spec.limits.memory_bytes.unwrap_or(u64::MAX);
    MOST_SCRATCH.min(memory / 2)
}

/// A text on the way keeps the conversion exact.
fn thousandths(cpus: f64) -> Option<u64> {
    format!("{:.0}", cpus * 1000.0).parse().ok()
}

fn attempt(line: &str) -> Option<Attempt> {
    let line = AttemptLine::parse(line)?;
    Some(Attempt {
        wall: wall(line.wall),
        name: line.name,
        outcome: match line.outcome {
            wire::Outcome::Held => Outcome::Held,
            wire::Outcome::Open => Outcome::Open,
            wire::Outcome::NotTried => Outcome::NotTried,
        },
        reached: line.reached,
    })
}

fn wall(wall: wire::Wall) -> Wall {
    match wall {
        wire::Wall::Calls => Wall::Calls,
        wire::Wall::Privileges => Wall::Privileges,
        wire::Wall::Root => Wall::Root,
        wire::Wall::Kernel => Wall::Kernel,
        wire::Wall::Mounts => Wall::Mounts,
        wire::Wall::Sockets => Wall::Sockets,
        wire::Wall::Network => Wall::Network,
        wire::Wall::Memory => Wall::Memory,
        wire::Wall::Processes => Wall::Processes,
        wire::Wall::Processors => Wall::Processors,
        wire::Wall::Scratch => Wall::Scratch,
    }
}
