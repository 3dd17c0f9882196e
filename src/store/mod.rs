//! What must outlive a process and be shared by all of them: runs, last use, pins, causes of death.
//!
//! One `SQLite` file in the state directory, written by any number of processes at once. It is a memory, not a truth: which
//! sandboxes exist is asked of the engine. So nothing here is needed to go on: a store that is damaged is set aside, one
//! that is locked, read-only or on a full disk costs the records, and that is said once.
//!
//! `SQLite` blocks, so a thread of its own holds the connection; everything comes to it through one bounded channel.

mod check;
mod clock;
mod db;
mod deaths;
mod open;
mod refusals;
mod run_rows;
mod runs;
mod spool;
mod sweep;
#[cfg(test)]
mod tests;
mod uses;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

pub use clock::Moment;
pub use deaths::{Claim, LifecycleIntent};
pub use refusals::Refusals;
pub use runs::{Begun, Found};
pub use spool::{Flush, Flushed, Gap, Piece, Reader, Writer, last_lines};
pub use uses::Memory;

use crate::domain::{Check, ExecId, Retention, Spooled};
use crate::protocol::{Failure, FailureKind};
use db::Db;

/// Questions that may wait.
const WAITING: usize = 256;
/// Longest wait for an answer; longer than `SQLite`'s own patience with other processes.
const PATIENCE: Duration = Duration::from_secs(15);

type Job = Box<dyn FnOnce(&mut Db) + Send>;

/// A way to the store; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    /// Where runs keep their output; `None` keeps none.
    spools: Option<Arc<PathBuf>>,
    retention: Retention,
    told: Arc<AtomicBool>,
    swept: Arc<AtomicBool>,
    /// What was found damaged and not told yet.
    damage: Arc<Mutex<Option<Failure>>>,
    file: Option<Arc<PathBuf>>,
    /// Why nothing may be kept.
    unusable: Option<Arc<Failure>>,
}

impl Store {
    /// Opens the store of a state directory in the background; without one, nothing is kept beyond this process.
    #[must_use]
    pub fn open(state: Option<&Path>) -> Self {
        let file = state.map(|dir| dir.join("store.db"));
        Self::start(Db::new(file.clone()), state, file)
    }

    /// A store that cannot be used, and says why whenever it is asked: then nobody knows what was used when.
    #[must_use]
    pub fn unusable(why: Failure) -> Self {
        let store = Self::start(Db::unusable(why.clone()), None, None);
        Self {
            unusable: Some(Arc::new(why)),
            ..store
        }
    }

    /// Tells why it cannot be used, if that is known from the start.
    #[must_use]
    pub fn why_unusable(&self) -> Option<&Failure> {
        self.unusable.as_deref()
    }

    fn start(db: Db, state: Option<&Path>, file: Option<PathBuf>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let named = std::thread::Builder::new().name("store".to_owned());
        if let Err(error) = named.spawn(move || serve(db, waiting)) {
            tracing::warn!(%error, "the store's thread did not start");
        }
        Self {
            jobs,
            spools: state.map(|dir| Arc::new(dir.join("runs"))),
            retention: Retention::default(),
            told: Arc::default(),
            swept: Arc::default(),
            damage: Arc::default(),
            file: file.map(Arc::new),
            unusable: None,
        }
    }

    /// Says how much is kept; opening need not wait until that is known.
    #[must_use]
    pub fn keeping(self, retention: Retention) -> Self {
        Self { retention, ..self }
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

    /// Takes the news that the file was damaged and set aside; it is told once.
    #[must_use]
    pub fn take_damage(&self) -> Option<Failure> {
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        damage.take()
    }

    /// Tells how the record stands, and which damaged ones lie beside it.
    pub async fn check(&self) -> Check {
        let asked = self
            .ask(|db| db.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0)))
            .await;
        let file = self.file.as_deref().map(PathBuf::as_path);
        check::check(file, &asked, self.take_damage())
    }

    /// Has the store's thread do something and waits for the outcome. It may be done twice, if the file turns out damaged.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (answer, answered) = oneshot::channel();
        let damage = Arc::clone(&self.damage);
        let job: Job = Box::new(move |db| {
            let outcome = db.run(&work);
            if let Some(found) = db.take_damage() {
                *damage.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            }
            // Whoever asked may have given up.
            let _ = answer.send(outcome);
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

    /// Has what is too old or too much removed, once in a process and without waiting for it.
    fn tidy(&self) {
        if self.swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let (spools, keep) = (self.spools.clone(), self.retention);
        self.beside("sweeping the store", move |db| {
            sweep::sweep(db, spools.as_deref().map(PathBuf::as_path), keep)
        });
    }

    /// Notes how much a run has printed so far, without waiting for it; what is not noted now is noted with more later.
    pub fn note_output(&self, id: &ExecId, so_far: Spooled) {
        let id = id.clone();
        let sql = "UPDATE runs SET out_bytes = max(out_bytes, ?2), err_bytes = max(err_bytes, ?3) \
            WHERE id = ?1 AND status IS NULL";
        self.beside("noting output", move |db| {
            let bytes = [so_far.stdout, so_far.stderr].map(runs::number);
            db.execute(sql, rusqlite::params![id.as_str(), bytes[0], bytes[1]])
                .map(drop)
        });
    }

    /// Has the store's thread do something that nobody waits for.
    fn beside(
        &self,
        what: &'static str,
        work: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) {
        let job: Job = Box::new(move |db| {
            if let Err(failure) = db.run(&work) {
                tracing::debug!(%failure, "{what} failed");
            }
        });
        // If too much waits, there is no time for it.
        let _ = self.jobs.try_send(job);
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Internal, "the store's thread has ended")
}

/// Serves until nobody can ask any more.
fn serve(mut db: Db, mut jobs: mpsc::Receiver<Job>) {
    db.prepare();
    while let Some(job) = jobs.blocking_recv() {
        job(&mut db);
    }
}
