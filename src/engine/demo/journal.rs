//! What happened: sent to whoever listens, and remembered for a while.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::faults::unreachable;
use crate::domain::{EngineEvent, EngineEventKind, Sandbox};
use crate::engine::Result;

/// How many happenings are remembered, and how far a listener may lag.
const REMEMBERED: usize = 256;

/// The memory and the loudspeaker.
pub(super) struct Journal {
    past: VecDeque<EngineEvent>,
    sender: broadcast::Sender<EngineEvent>,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self {
            past: VecDeque::with_capacity(REMEMBERED),
            sender: broadcast::channel(REMEMBERED).0,
        }
    }

    /// Notes that something happened now.
    pub(super) fn record(&mut self, sandbox: &Sandbox, what: EngineEventKind) {
        let happening = EngineEvent {
            at: Utc::now(),
            sandbox: sandbox.reference.clone(),
            name: sandbox.name.clone(),
            what,
        };
        if self.past.len() == REMEMBERED {
            self.past.pop_front();
        }
        self.past.push_back(happening.clone());
        // Nobody listening is fine.
        let _ = self.sender.send(happening);
    }

    /// Returns what happened at or after a moment.
    pub(super) fn since(&self, since: DateTime<Utc>) -> Vec<EngineEvent> {
        let recent = self.past.iter().filter(|happening| happening.at >= since);
        recent.cloned().collect()
    }

    /// Streams what happens from now on; `reach` tells when the engine goes away.
    pub(super) fn listen(
        &self,
        reach: watch::Receiver<bool>,
    ) -> BoxStream<'static, Result<EngineEvent>> {
        let ears = (self.sender.subscribe(), reach);
        stream::unfold(Some(ears), |ears| async {
            let (mut happenings, mut reach) = ears?;
            match hear(&mut happenings, &mut reach).await? {
                Ok(happening) => Some((Ok(happening), Some((happenings, reach)))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }
}

/// Waits for the next happening; what was missed by lagging is skipped.
async fn hear(
    happenings: &mut broadcast::Receiver<EngineEvent>,
    reach: &mut watch::Receiver<bool>,
) -> Option<Result<EngineEvent>> {
    loop {
        tokio::select! {
            biased;
            heard = happenings.recv() => match heard {
                Ok(happening) => return Some(Ok(happening)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            },
            gone = reach.wait_for(|reachable| !reachable) => {
                return gone.is_ok().then(|| Err(unreachable()));
            }
        }
    }
}
