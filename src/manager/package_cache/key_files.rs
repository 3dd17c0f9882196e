//! What this machine keeps for each key: a note on its use, and a lock.
//!
//! The lock is shared by runs until their sandbox holds the packages, and exclusive for who installs or removes them. Locks
//! end with the process, however it ends.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::PackageCache;
use crate::protocol::{Failure, FailureKind};

/// Ending of the note that nothing has to be installed.
const PROVIDED: &str = "provided";
/// Time between two tries to get a lock.
const RETRY_EVERY: Duration = Duration::from_millis(20);

/// How often and when a set of packages was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UseNote {
    pub(super) hits: u64,
    pub(super) used_at: Option<DateTime<Utc>>,
}

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct KeyLock(#[allow(dead_code)] File);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockMode {
    /// With others who only use the packages.
    Shared,
    /// Alone.
    Exclusive,
}

/// The folder with the files of one host's keys.
#[derive(Debug, Clone)]
pub(super) struct KeyFiles {
    folder: PathBuf,
}

impl KeyFiles {
    /// Finds or makes the folder of a host.
    pub(super) fn open(cache: PackageCache<'_>) -> Result<Self, Failure> {
        let top = &cache.context.options.deps.cache_dir;
        let folder = top.join("packages").join(&cache.host.engine_key);
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder);
        made.map_err(|error| not_writable(&folder, &error))?;
        Ok(Self { folder })
    }

    fn file(&self, key: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{key}.{ending}"))
    }

    /// Gets a lock if nobody is in the way.
    pub(super) fn try_lock(&self, key: &str, mode: LockMode) -> Result<Option<KeyLock>, Failure> {
        let path = self.file(key, "lock");
        let file = File::create(&path).map_err(|error| not_writable(&path, &error))?;
        let locked = match mode {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Exclusive => file.try_lock(),
        };
        match locked {
            Ok(()) => Ok(Some(KeyLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(not_writable(&path, &error)),
        }
    }

    /// Waits for a lock; `on_wait` is called once if somebody is in the way.
    pub(super) async fn lock(
        &self,
        key: &str,
        mode: LockMode,
        on_wait: impl FnOnce(),
    ) -> Result<KeyLock, Failure> {
        if let Some(lock) = self.try_lock(key, mode)? {
            return Ok(lock);
        }
        on_wait();
        loop {
            tokio::time::sleep(RETRY_EVERY).await;
            if let Some(lock) = self.try_lock(key, mode)? {
                return Ok(lock);
            }
        }
    }

    /// Reads the note on a key's use; nothing is noted of one that was never used.
    pub(super) fn use_note(&self, key: &str) -> UseNote {
        let text = fs::read(self.file(key, "json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Notes that a run uses a key. Of two runs at once one may not be counted; nothing hangs on it.
    pub(super) fn record_use(&self, key: &str, is_hit: bool) {
        let before = self.use_note(key);
        let note = UseNote {
            hits: if is_hit { before.hits + 1 } else { 0 },
            used_at: Some(Utc::now()),
        };
        let (new, file) = (
            self.file(key, &format!("{}.new", std::process::id())),
            self.file(key, "json"),
        );
        let text = serde_json::to_vec(&note).unwrap_or_default();
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &file));
        if let Err(error) = written {
            tracing::warn!(%error, "the use of packages was not noted");
        }
    }

    /// Notes that the image itself has all of a key's packages.
    pub(super) fn note_provided(&self, key: &str) {
        if let Err(error) = fs::write(self.file(key, PROVIDED), "") {
            tracing::warn!(%error, "that the image has its packages was not noted");
        }
    }

    /// Tells whether that was noted, and not too long ago.
    pub(super) fn is_provided(&self, key: &str, ttl: Duration) -> bool {
        let noted = fs::metadata(self.file(key, PROVIDED)).and_then(|meta| meta.modified());
        noted.is_ok_and(|noted| noted.elapsed().is_ok_and(|age| age < ttl))
    }

    /// Removes the note on a key's use.
    pub(super) fn forget_use(&self, key: &str) {
        let _ = fs::remove_file(self.file(key, "json"));
    }
}

fn not_writable(path: &Path, error: &io::Error) -> Failure {
    let words = format!(
        "keeping notes on packages in {} failed: {error}",
        path.display()
    );
    Failure::new(FailureKind::Denied, words)
        .with_hint("set cache_dir in [deps] to a folder of yours")
}
