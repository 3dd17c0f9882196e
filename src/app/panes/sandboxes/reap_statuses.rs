//! How sandboxes stand by the record of all processes: idle time, countdown, pins, causes of death.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{HostName, ReapStatus, SandboxRef, Usage};

/// How each sandbox stood, and when that was told.
#[derive(Debug, Default)]
pub(super) struct ReapStatuses(BTreeMap<SandboxRef, (ReapStatus, DateTime<Utc>)>);

/// Whether a sandbox is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Something runs in it.
    Busy,
    /// Nothing was done in it since then.
    IdleSince(DateTime<Utc>),
}

impl ReapStatuses {
    /// Takes how the sandboxes of a host stand.
    pub(super) fn replace(
        &mut self,
        host: &HostName,
        reap_statuses: Vec<ReapStatus>,
        now: DateTime<Utc>,
    ) {
        self.0.retain(|reference, _| reference.host != *host);
        let told = reap_statuses.into_iter();
        self.0
            .extend(told.map(|reap_status| (reap_status.sandbox.clone(), (reap_status, now))));
    }

    /// Returns how a sandbox stands.
    pub(super) fn find(&self, reference: &SandboxRef) -> Option<&ReapStatus> {
        self.0.get(reference).map(|(reap_status, _)| reap_status)
    }

    /// Returns whether a sandbox is used, if that is on record.
    pub(super) fn told(&self, reference: &SandboxRef) -> Option<Use> {
        let (reap_status, at) = self.0.get(reference)?;
        match reap_status.facts.usage {
            Usage::Busy => Some(Use::Busy),
            Usage::Idle(idle) => Some(Use::IdleSince(*at - TimeDelta::from_std(idle).ok()?)),
            Usage::Unknown => None,
        }
    }

    /// Returns the time until a sandbox goes, if it goes.
    pub(super) fn reap_in(&self, reference: &SandboxRef, now: DateTime<Utc>) -> Option<TimeDelta> {
        let (reap_status, at) = self.0.get(reference)?;
        let left = TimeDelta::from_std(reap_status.reap_in()?).ok()?;
        Some((left - (now - *at)).max(TimeDelta::zero()))
    }
}
