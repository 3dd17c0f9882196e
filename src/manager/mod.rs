//! The background task that owns the engines: requests come in by one channel, events go out by another.
//!
//! Every request gets exactly one reply. Work runs in tasks that the manager owns; when it ends, they end. Both channels are
//! bounded: a full request channel is refused at once, so that a front end never waits; a full event channel makes the manager
//! wait, which slows the pump, which slows the sandbox.

mod alive;
mod backoff;
mod cancellations;
mod context;
mod deaths;
mod disk;
mod dispatch;
mod file_streams;
mod host;
mod host_tree;
mod life_changes;
mod lifecycle;
mod meter;
mod mounts;
mod news;
mod package_cache;
mod programs;
mod pump;
mod reap_status;
mod reaper;
mod record;
mod run;
mod runs;
mod selftest;
mod settle;
mod slots;
mod streams;
mod temporary_sandboxes;
mod transfer;
mod usage_snapshot;
mod uses_by_others;
mod watch;

use std::future::Future;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::config::DepsSettings;
use crate::domain::{Owner, Source};
use crate::protocol::{Event, Request};
use crate::store::Store;

pub use host::Host;

/// Requests that may wait.
const REQUESTS: usize = 64;
/// Events that may wait; with output in pieces of at most 64 KiB this bounds memory to 4 MiB.
const EVENTS: usize = 64;

/// What the manager must know.
#[derive(Debug, Clone)]
pub struct Options {
    /// Most sandboxes per host.
    pub max_sandboxes: usize,
    /// Most bytes of a copy, unless the command says otherwise.
    pub copy_limit: Option<u64>,
    /// Most detached runs at once in a sandbox.
    pub max_detached: usize,
    /// The front end, for the record.
    pub source: Source,
    /// May sandboxes of other tools be reaped?
    pub reap_foreign: bool,
    /// This process.
    pub owner: Owner,
    /// Are the files of sandboxes measured?
    pub measures_disk: bool,
    /// How packages are installed and kept.
    pub deps: DepsSettings,
    /// The record.
    pub store: Store,
}

/// Sends requests to the manager.
#[derive(Debug, Clone)]
pub struct ManagerHandle {
    requests: mpsc::Sender<Request>,
}

/// The request could not be taken: too many are waiting, or the manager has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy(pub Request);

impl ManagerHandle {
    /// Hands a request over without waiting.
    ///
    /// # Errors
    /// Too many requests are waiting; the request comes back.
    pub fn submit(&self, request: Request) -> Result<(), Busy> {
        self.requests
            .try_send(request)
            .map_err(|error| Busy(error.into_inner()))
    }
}

/// Starts the manager. It ends when `shutdown` is ready or the handle is dropped, after its tasks have cleaned up.
pub fn spawn(
    hosts: Vec<Host>,
    options: Options,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> (ManagerHandle, mpsc::Receiver<Event>, JoinHandle<()>) {
    let (requests, incoming) = mpsc::channel(REQUESTS);
    let (outgoing, events) = mpsc::channel(EVENTS);
    let manager = run::Manager::new(hosts, options, outgoing);
    let task = tokio::spawn(manager.run(incoming, shutdown));
    (ManagerHandle { requests }, events, task)
}
