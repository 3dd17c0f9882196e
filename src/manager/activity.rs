//! Who was used when: what idle time is counted from.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::domain::SandboxRef;

/// Last use and running streams of each sandbox, as far as this process knows.
#[derive(Debug, Default)]
pub(super) struct Activity(HashMap<SandboxRef, Use>);

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    last: Option<DateTime<Utc>>,
    running: usize,
}

impl Activity {
    /// Notes that a sandbox is used now.
    pub(super) fn touch(&mut self, sandbox: &SandboxRef, now: DateTime<Utc>) {
        self.0.entry(sandbox.clone()).or_default().last = Some(now);
    }

    /// Notes that something runs in it.
    pub(super) fn begin(&mut self, sandbox: &SandboxRef, now: DateTime<Utc>) {
        self.touch(sandbox, now);
        self.0.entry(sandbox.clone()).or_default().running += 1;
    }

    /// Notes that it has ended.
    pub(super) fn end(&mut self, sandbox: &SandboxRef, now: DateTime<Utc>) {
        self.touch(sandbox, now);
        let entry = self.0.entry(sandbox.clone()).or_default();
        entry.running = entry.running.saturating_sub(1);
    }

    /// Forgets a sandbox that is gone.
    pub(super) fn forget(&mut self, sandbox: &SandboxRef) {
        self.0.remove(sandbox);
    }

    /// Returns since when it is idle; `None` while something runs in it or when nothing is known.
    #[cfg(test)]
    pub(super) fn idle_since(&self, sandbox: &SandboxRef) -> Option<DateTime<Utc>> {
        self.0
            .get(sandbox)
            .filter(|known| known.running == 0)
            .and_then(|known| known.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{HostName, SandboxId};

    #[test]
    fn a_busy_sandbox_is_never_idle() {
        let sandbox = SandboxRef::new(HostName::new("here"), SandboxId::new("a"));
        let at = |seconds| DateTime::from_timestamp(seconds, 0).expect("a time");
        let mut activity = Activity::default();
        assert_eq!(activity.idle_since(&sandbox), None);
        activity.begin(&sandbox, at(10));
        activity.begin(&sandbox, at(11));
        activity.end(&sandbox, at(20));
        assert_eq!(activity.idle_since(&sandbox), None);
        activity.end(&sandbox, at(30));
        assert_eq!(activity.idle_since(&sandbox), Some(at(30)));
        activity.forget(&sandbox);
        assert_eq!(activity.idle_since(&sandbox), None);
    }
}
