//! How sandboxes stand by the record of all processes: idle time, countdown, pins, causes of death.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{HostName, SandboxRef, Standing, Usage};

/// How each sandbox stood, and when that was told.
#[derive(Debug, Default)]
pub(super) struct Standings(BTreeMap<SandboxRef, (Standing, DateTime<Utc>)>);

/// Whether a sandbox is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Something runs in it.
    Busy,
    /// Nothing was done in it since then.
    IdleSince(DateTime<Utc>),
}

impl Standings {
    /// Takes how the sandboxes of a host stand.
    pub(super) fn replace(
        &mut self,
        host: &HostName,
        standings: Vec<Standing>,
        now: DateTime<Utc>,
    ) {
        self.0.retain(|reference, _| reference.host != *host);
        let told = standings.into_iter();
        self.0
            .extend(told.map(|standing| (standing.sandbox.clone(), (standing, now))));
    }

    /// Returns how a sandbox stands.
    pub(super) fn find(&self, reference: &SandboxRef) -> Option<&Standing> {
        self.0.get(reference).map(|(standing, _)| standing)
    }

    /// Returns whether a sandbox is used, if that is on record.
    pub(super) fn told(&self, reference: &SandboxRef) -> Option<Use> {
        let (standing, at) = self.0.get(reference)?;
        match standing.facts.usage {
            Usage::Busy => Some(Use::Busy),
            Usage::Idle(idle) => Some(Use::IdleSince(*at - TimeDelta::from_std(idle).ok()?)),
            Usage::Unknown => None,
        }
    }

    /// Returns the time until a sandbox goes, if it goes.
    pub(super) fn reap_in(&self, reference: &SandboxRef, now: DateTime<Utc>) -> Option<TimeDelta> {
        let (standing, at) = self.0.get(reference)?;
        let left = TimeDelta::from_std(standing.reap_in()?).ok()?;
        Some((left - (now - *at)).max(TimeDelta::zero()))
    }
}
