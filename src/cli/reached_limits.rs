//! Limits of its sandbox that a command ran into: which, how much that is, and what was asked for beyond it.

use std::fmt;

use serde::Serialize;

use crate::domain::{Ended, ExecEnd, Limits};
use crate::text::human;

/// One limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "limit", rename_all = "lowercase")]
pub(super) enum ReachedLimit {
    /// A process was killed for memory.
    Memory {
        /// What the sandbox may use.
        max_bytes: Option<u64>,
        /// The most that one of its processes had.
        peak_bytes: Option<u64>,
    },
    /// Processes were refused.
    Pids {
        /// How many there may be.
        max: Option<u64>,
        /// How many more were asked for.
        refused: u64,
    },
}

/// Tells which limits a command ran into.
pub(super) fn of(end: &ExecEnd, limits: &Limits) -> Vec<ReachedLimit> {
    let memory = (end.ended == Ended::OutOfMemory).then_some(ReachedLimit::Memory {
        max_bytes: limits.memory_bytes,
        peak_bytes: end.peak_memory_bytes,
    });
    let refused = end.refused_processes.filter(|refused| *refused > 0);
    let pids = refused.map(|refused| ReachedLimit::Pids {
        max: limits.pids,
        refused,
    });
    memory.into_iter().chain(pids).collect()
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory {
                max_bytes,
                peak_bytes,
            } => {
                f.write_str("out of memory; the sandbox's limit")?;
                if let Some(max) = max_bytes {
                    write!(f, " of {}", human::bytes(*max))?;
                }
                f.write_str(" was reached")?;
                match peak_bytes {
                    Some(peak) => write!(f, "; its largest process had {}", human::bytes(*peak)),
                    None => Ok(()),
                }
            }
            Self::Pids { max, refused } => {
                f.write_str("the sandbox's limit")?;
                if let Some(max) = max {
                    write!(f, " of {max} processes and threads")?;
                }
                write!(f, " was reached; {refused} more were refused")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIMITS: Limits = Limits {
        memory_bytes: Some(64 << 20),
        cpus: None,
        pids: Some(40),
        timeout_s: None,
    };

    #[test]
    fn a_limit_is_told_with_its_number_and_what_was_asked_for() {
        let end = ExecEnd {
            peak_memory_bytes: Some(60 << 20),
            refused_processes: Some(7),
            ..ExecEnd::bare(Ended::OutOfMemory)
        };
        let reached = of(&end, &LIMITS);
        let words: Vec<String> = reached.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "out of memory; the sandbox's limit of 64 MiB was reached; its largest process had 60 MiB",
                "the sandbox's limit of 40 processes and threads was reached; 7 more were refused",
            ]
        );
        assert_eq!(
            json!(reached),
            json!([
                {"limit": "memory", "max_bytes": 64 << 20, "peak_bytes": 60 << 20},
                {"limit": "pids", "max": 40, "refused": 7},
            ])
        );
    }

    #[test]
    fn nothing_is_told_of_a_command_within_its_limits() {
        let end = ExecEnd {
            refused_processes: Some(0),
            ..ExecEnd::bare(Ended::Code(1))
        };
        assert_eq!(of(&end, &LIMITS), []);
    }
}
