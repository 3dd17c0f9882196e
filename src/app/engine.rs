//! What is known of the engines: how each link stands, what happened, and which images are available locally.

use std::collections::{BTreeMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{EngineEvent, HostName, Image, SandboxRef, merge_events};
use crate::protocol::Link;

/// Happenings that are kept.
const KEPT: usize = 2_000;

/// How far back is asked for what happened.
pub const LOOK_BACK: TimeDelta = TimeDelta::hours(24);

/// A link, and what is known besides.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownLink {
    /// How it stands.
    pub link: Link,
    /// When that was since.
    pub since: DateTime<Utc>,
    /// Where the engine was when it last answered.
    pub endpoint: Option<String>,
}

impl KnownLink {
    /// Returns the seconds until the next try, while it is down.
    #[must_use]
    pub fn retry_in(&self, now: DateTime<Utc>) -> Option<u64> {
        let Link::Down { retry_in, .. } = &self.link else {
            return None;
        };
        let at = self.since + TimeDelta::from_std(*retry_in).unwrap_or_default();
        Some(u64::try_from((at - now).num_seconds()).unwrap_or(0))
    }
}

/// All of it.
#[derive(Debug, Default)]
pub struct EngineState {
    links: BTreeMap<HostName, KnownLink>,
    events: VecDeque<EngineEvent>,
    /// Images that need no pull, by name.
    pub images: Vec<Image>,
}

impl EngineState {
    /// Takes how a link stands; returns how it stood before.
    pub fn linked(&mut self, host: HostName, link: Link, now: DateTime<Utc>) -> Option<KnownLink> {
        let before = self.links.remove(&host);
        let endpoint = match &link {
            Link::Up(info) => Some(info.endpoint.clone()),
            Link::Down { .. } => before.as_ref().and_then(|known| known.endpoint.clone()),
        };
        let known = KnownLink {
            link,
            since: now,
            endpoint,
        };
        self.links.insert(host, known);
        before
    }

    /// Returns the links.
    pub fn links(&self) -> impl Iterator<Item = &KnownLink> {
        self.links.values()
    }

    /// Returns a link that is down, if none is up.
    #[must_use]
    pub fn down(&self) -> Option<&KnownLink> {
        let is_down = |known: &&KnownLink| matches!(known.link, Link::Down { .. });
        if self.links().all(|known| is_down(&known)) {
            self.links().next()
        } else {
            None
        }
    }

    /// Takes something that has just happened.
    pub fn on_engine_event(&mut self, event: EngineEvent) {
        self.on_past_events(vec![event]);
    }

    /// Takes what an engine remembers; what is known already is not told twice.
    pub fn on_past_events(&mut self, past: Vec<EngineEvent>) {
        for event in past {
            let later = |known: &&EngineEvent| known.at > event.at;
            let at = self.events.len() - self.events.iter().rev().take_while(later).count();
            let same = self.events.iter().take(at).rev();
            let mut same = same.take_while(|known| known.at == event.at);
            if !same.any(|known| *known == event) {
                self.events.insert(at, event);
            }
        }
        let over = self.events.len().saturating_sub(KEPT);
        self.events.drain(..over);
    }

    /// Returns what was reported, oldest first: of one thing that happened in several parts.
    pub fn reported(&self) -> impl Iterator<Item = &EngineEvent> {
        self.events.iter()
    }

    /// Lists what happened, newest first and each thing once: to one sandbox, or to all.
    #[must_use]
    pub fn events(&self, of: Option<&SandboxRef>) -> Vec<EngineEvent> {
        let is_meant = |event: &&EngineEvent| of.is_none_or(|of| event.sandbox == *of);
        let meant = self.events.iter().filter(is_meant).cloned();
        let mut merged = merge_events(meant.collect());
        merged.reverse();
        merged
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{EngineEventKind, SandboxId};
    use crate::protocol::{Failure, FailureKind};

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_000 + seconds, 0).expect("a time")
    }

    fn event(seconds: i64, name: &str) -> EngineEvent {
        EngineEvent {
            at: at(seconds),
            sandbox: SandboxRef::new(HostName::new("here"), SandboxId::new(name)),
            name: name.to_owned(),
            what: EngineEventKind::Started,
        }
    }

    fn names(state: &EngineState) -> String {
        state
            .events(None)
            .into_iter()
            .map(|event| event.name)
            .collect()
    }

    #[test]
    fn the_past_and_the_present_become_one_story() {
        let mut state = EngineState::default();
        state.on_engine_event(event(5, "e"));
        state.on_engine_event(event(7, "g"));
        state.on_past_events(vec![
            event(1, "a"),
            event(5, "e"),
            event(5, "f"),
            event(7, "g"),
        ]);
        assert_eq!(names(&state), "gfea");
        let of = event(0, "f").sandbox;
        assert_eq!(state.events(Some(&of)).len(), 1);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut state = EngineState::default();
        let count = i64::try_from(KEPT).expect("a number");
        (0..count + 5).for_each(|n| state.on_engine_event(event(n, "x")));
        assert_eq!(state.events(None).len(), KEPT);
        assert_eq!(state.events(None).last().map(|e| e.at), Some(at(5)));
    }

    #[test]
    fn a_lost_engine_is_counted_down_and_keeps_its_address() {
        let mut state = EngineState::default();
        assert!(state.down().is_none());
        let info = crate::domain::EngineInfo {
            kind: crate::domain::EngineKind::Docker,
            endpoint: "unix:///x".to_owned(),
            version: String::new(),
            api_version: String::new(),
            cpus: 1,
            memory_bytes: 1,
        };
        let host = HostName::new("here");
        state.linked(host.clone(), Link::Up(info), at(0));
        assert!(state.down().is_none());
        let down = Link::Down {
            since: at(1),
            retry_in: Duration::from_secs(8),
            why: Failure::new(FailureKind::Unreachable, "gone"),
        };
        state.linked(host, down, at(1));
        let known = state.down().expect("a lost link");
        assert_eq!(known.endpoint.as_deref(), Some("unix:///x"));
        assert_eq!(known.retry_in(at(4)), Some(5));
        assert_eq!(known.retry_in(at(40)), Some(0));
    }
}
