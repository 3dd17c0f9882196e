//! What happened: sent to whoever listens, and remembered for a while.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::domain::{EngineEvent, EngineEventKind, Sandbox};
use crate::engine::{Result, unfold};

/// How many events are remembered, and how far a listener may lag.
const MOST: usize = 256;

/// The last events, and a channel for the next ones.
pub(super) struct EventLog {
    past: VecDeque<EngineEvent>,
    sender: broadcast::Sender<EngineEvent>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            past: VecDeque::with_capacity(MOST),
            sender: broadcast::channel(MOST).0,
        }
    }
}

impl EventLog {
    /// Notes that something happened now.
    pub(super) fn record(&mut self, sandbox: &Sandbox, what: EngineEventKind) {
        let event = EngineEvent {
            at: Utc::now(),
            sandbox: sandbox.reference.clone(),
            name: sandbox.name.clone(),
            what,
        };
        if self.past.len() == MOST {
            self.past.pop_front();
        }
        self.past.push_back(event.clone());
        // Nobody listening is fine.
        let _ = self.sender.send(event);
    }

    /// Returns what happened at or after a moment.
    pub(super) fn since(&self, since: DateTime<Utc>) -> Vec<EngineEvent> {
        let recent = self.past.iter().filter(|event| event.at >= since);
        recent.cloned().collect()
    }

    /// Streams what happens from now on; what a listener missed by lagging is skipped.
    pub(super) fn listen(&self) -> BoxStream<'static, Result<EngineEvent>> {
        unfold(self.sender.subscribe(), |mut receiver| async {
            loop {
                match receiver.recv().await {
                    Ok(event) => return Some((Ok(event), receiver)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        })
        .boxed()
    }
}
