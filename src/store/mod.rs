//! What must outlive a process and be shared by all of them: runs, last use, pins, causes of death.
//!
//! One `SQLite` file in the state directory, written by any number of processes at once. It is a memory, not a truth: which
//! sandboxes exist is asked of the engine. So nothing here is needed to go on: a store that is damaged is set aside, one
//! that is locked, read-only or on a full disk costs the records, and that is said once.
//!
//! `SQLite` blocks, so a thread of its own holds the connection; everything comes to it through one bounded channel.

mod clock;
mod deaths;
mod open;
mod runs;
mod shelf;
mod spool;
mod sweep;
#[cfg(test)]
mod tests;
mod uses;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

pub use clock::Moment;
pub use deaths::{Claim, Intent};
pub use runs::{Begun, Found};
pub use spool::{Flush, Flushed, Gap, Piece, Reader, Writer, last_lines};
pub use uses::Memory;

use crate::domain::Retention;
use crate::protocol::{Failure, FailureKind};
use shelf::Shelf;

/// Questions that may wait.
const WAITING: usize = 256;
/// Longest wait for an answer; longer than `SQLite`'s own patience with other processes.
const PATIENCE: Duration = Duration::from_secs(15);

type Job = Box<dyn FnOnce(&mut Shelf) + Send>;

/// A way to the store; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    /// Where runs keep their output; `None` keeps none.
    spools: Option<Arc<PathBuf>>,
    retention: Retention,
    told: Arc<AtomicBool>,
}

impl Store {
    /// Opens the store of a state directory, now and in the background; without one, nothing is kept beyond this process.
    #[must_use]
    pub fn open(state: Option<&Path>, retention: Retention) -> Self {
        let shelf = Shelf::new(state.map(|dir| dir.join("store.db")), retention);
        let spools = state.map(|dir| Arc::new(dir.join("runs")));
        let (jobs, waiting) = mpsc::channel(WAITING);
        let named = std::thread::Builder::new().name("store".to_owned());
        let spools_there = spools.clone();
        let started = named.spawn(move || serve(shelf, waiting, spools_there.as_deref()));
        if let Err(error) = started {
            tracing::warn!(%error, "the store's thread did not start");
        }
        Self {
            jobs,
            spools,
            retention,
            told: Arc::default(),
        }
    }

    /// Returns how much is kept.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Returns where runs keep their output.
    #[must_use]
    pub fn spools(&self) -> Option<&Path> {
        self.spools.as_deref().map(PathBuf::as_path)
    }

    /// Tells whether this is the first trouble, which is the one to speak of.
    #[must_use]
    pub fn is_news(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// Has the store's thread do something and waits for the outcome. It may be done twice, if the file turns out damaged.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |shelf| {
            // Whoever asked may have given up.
            let _ = answer.send(shelf.run(&work));
        });
        let asking = async {
            self.jobs.send(job).await.map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?
        };
        let waited = tokio::time::timeout(PATIENCE, asking).await;
        waited.unwrap_or_else(|_| {
            let words = "the store did not answer in time";
            Err(Failure::new(FailureKind::Timeout, words))
        })
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Internal, "the store's thread has ended")
}

/// Serves until nobody can ask any more, and sweeps when there is time.
fn serve(mut shelf: Shelf, mut jobs: mpsc::Receiver<Job>, spools: Option<&PathBuf>) {
    // The first question comes soon; what goes wrong is told to whoever asks it.
    let _ = shelf.connect();
    let mut swept = false;
    while let Some(job) = jobs.blocking_recv() {
        job(&mut shelf);
        if !swept && jobs.is_empty() {
            swept = true;
            shelf.sweep(spools.map(PathBuf::as_path));
        }
    }
}
