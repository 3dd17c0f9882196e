//! When each sandbox was last used, by what the engine tells of commands in it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::domain::{EngineEvent, EngineEventKind, Sandbox, SandboxRef};

/// The last use and the running commands of every sandbox.
#[derive(Debug, Default)]
pub(super) struct Usage(BTreeMap<SandboxRef, Use>);

#[derive(Debug, Clone, Copy)]
struct Use {
    last: DateTime<Utc>,
    running: usize,
}

impl Usage {
    /// Takes something that happened.
    pub(super) fn note(&mut self, event: &EngineEvent) {
        match event.what {
            EngineEventKind::Removed { .. } => {
                self.0.remove(&event.sandbox);
                return;
            }
            // What is only on record was told by the engine before.
            EngineEventKind::RunEnded { .. }
            | EngineEventKind::Death { .. }
            | EngineEventKind::PidsLimit { .. } => return,
            _ => {}
        }
        let first = Use {
            last: event.at,
            running: 0,
        };
        let known = self.0.entry(event.sandbox.clone()).or_insert(first);
        known.last = known.last.max(event.at);
        match &event.what {
            EngineEventKind::Exec { .. } => known.running += 1,
            EngineEventKind::ExecEnded { .. } => known.running = known.running.saturating_sub(1),
            EngineEventKind::Started
            | EngineEventKind::Died { .. }
            | EngineEventKind::Stopped
            | EngineEventKind::Restarted => {
                known.running = 0;
            }
            EngineEventKind::Created
            | EngineEventKind::Oom
            | EngineEventKind::PidsLimit { .. }
            | EngineEventKind::Paused
            | EngineEventKind::Resumed
            | EngineEventKind::Killed { .. }
            | EngineEventKind::RunEnded { .. }
            | EngineEventKind::Death { .. }
            | EngineEventKind::Removed { .. } => {}
        }
    }

    /// Starts over, because the whole past is told again.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets all but some.
    pub(super) fn retain(&mut self, keep: impl Fn(&SandboxRef) -> bool) {
        self.0.retain(|reference, _| keep(reference));
    }

    /// Returns since when a live sandbox is idle; `None` while a command runs in it.
    pub(super) fn idle_since(&self, sandbox: &Sandbox) -> Option<DateTime<Utc>> {
        let started = sandbox.started_at.unwrap_or(sandbox.created_at);
        match self.0.get(&sandbox.reference) {
            Some(known) if known.running > 0 => None,
            Some(known) => Some(known.last.max(started)),
            None => Some(started),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::app::testing::{reference, sandbox, start};

    fn told(usage: &mut Usage, seconds: i64, what: EngineEventKind) {
        usage.note(&EngineEvent {
            at: start() + TimeDelta::seconds(seconds),
            sandbox: reference("py"),
            name: "py".into(),
            what,
        });
    }

    fn exec() -> EngineEventKind {
        EngineEventKind::exec("x".into(), None)
    }

    #[test]
    fn a_sandbox_is_idle_since_its_last_command_ended() {
        let (mut usage, py) = (Usage::default(), sandbox("py"));
        assert_eq!(usage.idle_since(&py), py.started_at);
        told(&mut usage, 5, exec());
        told(&mut usage, 6, exec());
        assert_eq!(usage.idle_since(&py), None);
        told(
            &mut usage,
            7,
            EngineEventKind::ExecEnded {
                exec: None,
                exit_code: None,
            },
        );
        assert_eq!(usage.idle_since(&py), None);
        told(
            &mut usage,
            9,
            EngineEventKind::ExecEnded {
                exec: None,
                exit_code: None,
            },
        );
        let last = start() + TimeDelta::seconds(9);
        assert_eq!(usage.idle_since(&py), Some(last));
    }

    #[test]
    fn a_stop_ends_every_command() {
        let (mut usage, py) = (Usage::default(), sandbox("py"));
        told(&mut usage, 5, exec());
        told(&mut usage, 6, EngineEventKind::Died { exit_code: None });
        assert!(usage.idle_since(&py).is_some());
        told(&mut usage, 7, EngineEventKind::Removed { by: None });
        assert_eq!(usage.idle_since(&py), py.started_at);
    }
}
