//! What every task of the manager needs: the hosts, the way out for events, and word of the end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};

use super::{Host, Options};
use crate::domain::{HostName, RequestId, SandboxRef};
use crate::engine::{Note, SharedEngine};
use crate::protocol::{Event, Failure, FailureKind, Reply};

/// Shared by the tasks; cheap to clone.
#[derive(Clone)]
pub(super) struct Context {
    hosts: Arc<Vec<Host>>,
    /// What the manager was started with.
    pub(super) options: Arc<Options>,
    events: mpsc::Sender<Event>,
    closing: watch::Receiver<bool>,
    turns: Arc<Turns>,
}

/// One lock per sandbox, for operations that must not overlap.
#[derive(Default)]
struct Turns(Mutex<HashMap<SandboxRef, Arc<tokio::sync::Mutex<()>>>>);

impl Context {
    pub(super) fn new(
        hosts: Vec<Host>,
        options: Options,
        events: mpsc::Sender<Event>,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            hosts: Arc::new(hosts),
            options: Arc::new(options),
            events,
            closing,
            turns: Arc::default(),
        }
    }

    /// Returns all hosts.
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Finds a host by its name.
    pub(super) fn host(&self, name: &HostName) -> Result<&Host, Failure> {
        let found = self.hosts.iter().find(|host| host.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
            Failure::new(
                FailureKind::NotFound,
                format!("the host {name} was not found"),
            )
            .with_hint(format!("there is: {}", known.join(", ")))
        })
    }

    /// Finds the engine of a sandbox.
    pub(super) fn engine(&self, sandbox: &SandboxRef) -> Result<&SharedEngine, Failure> {
        self.host(&sandbox.host).map(|host| &host.engine)
    }

    /// Sends an event, waiting for room; a front end that is gone needs none.
    pub(super) async fn send(&self, event: Event) {
        let _ = self.events.send(event).await;
    }

    /// Sends an event if there is room; for what is outdated a moment later anyway.
    pub(super) fn offer(&self, event: Event) {
        let _ = self.events.try_send(event);
    }

    /// Sends the one reply to a request.
    pub(super) async fn reply(&self, request: RequestId, outcome: Result<Reply, Failure>) {
        self.send(Event::Replied { request, outcome }).await;
    }

    /// Passes a note of an engine on.
    pub(super) fn progress(&self, request: RequestId, note: Note) {
        self.offer(Event::Progress {
            request,
            note: note.text,
            done: note.done,
            total: note.total,
        });
    }

    /// Waits until the manager is about to end.
    pub(super) async fn closing(&self) {
        let mut closing = self.closing.clone();
        let _ = closing.wait_for(|closing| *closing).await;
    }

    /// Waits for the turn of an operation on a sandbox.
    pub(super) async fn turn(&self, sandbox: &SandboxRef) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut turns = self.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|known, lock| known == sandbox || Arc::strong_count(lock) > 1);
            turns.entry(sandbox.clone()).or_default().clone()
        };
        lock.lock_owned().await
    }
}
