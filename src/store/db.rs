//! The thread's side of the store: a connection that is opened when it is needed, and set aside when it is damaged.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error, ErrorCode};

use super::open;
use crate::protocol::{Failure, FailureKind};

/// Time between two tries to open what could not be opened.
const AGAIN: Duration = Duration::from_secs(5);

/// The file and, if all is well, the connection to it.
pub(super) struct Db {
    /// `None` keeps everything in memory.
    file: Option<PathBuf>,
    /// Why it may not be opened at all.
    unusable: Option<Failure>,
    connection: Option<Connection>,
    failed: Option<(Instant, Failure)>,
    /// That a damaged file was set aside, if that was not told yet.
    damage: Option<Failure>,
}

impl Db {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            unusable: None,
            connection: None,
            failed: None,
            damage: None,
        }
    }

    pub(super) fn unusable(why: Failure) -> Self {
        Self {
            unusable: Some(why),
            ..Self::new(None)
        }
    }

    /// Does something with the connection; if the file is damaged, once more with a fresh one.
    pub(super) fn run<T>(
        &mut self,
        work: &impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        let first = work(self.connect()?);
        match (first, self.file.clone()) {
            (Err(error), Some(file)) if is_damage(&error) => {
                self.connection = None;
                self.set_aside(&file)?;
                work(self.connect()?).map_err(|error| self.explain(&error))
            }
            (outcome, _) => outcome.map_err(|error| self.explain(&error)),
        }
    }

    /// Opens the file before the first question comes, if nothing is wrong with it; what is, is for whoever asks.
    pub(super) fn prepare(&mut self) {
        self.connection = self.file.as_deref().and_then(|file| open::file(file).ok());
    }

    fn connect(&mut self) -> Result<&Connection, Failure> {
        if self.connection.is_none() {
            self.connection = Some(self.open()?);
        }
        self.connection
            .as_ref()
            .ok_or_else(|| Failure::new(FailureKind::Internal, "the store is not open"))
    }

    fn open(&mut self) -> Result<Connection, Failure> {
        if let Some(why) = &self.unusable {
            return Err(why.clone());
        }
        if let Some((at, failure)) = &self.failed
            && at.elapsed() < AGAIN
        {
            return Err(failure.clone());
        }
        let opened = match &self.file {
            Some(file) => open::file(file),
            None => open::memory(),
        };
        let opened = match opened {
            Err(error) if is_damage(&error) => self.open_afresh(),
            other => other.map_err(|error| self.explain(&error)),
        };
        self.failed = opened.as_ref().err().cloned().map(|f| (Instant::now(), f));
        opened
    }

    fn open_afresh(&mut self) -> Result<Connection, Failure> {
        let Some(file) = self.file.clone() else {
            return open::memory().map_err(|error| self.explain(&error));
        };
        self.set_aside(&file)?;
        open::file(&file).map_err(|error| self.explain(&error))
    }

    fn set_aside(&mut self, file: &Path) -> Result<(), Failure> {
        let aside = open::set_aside(file).map_err(|error| explain_io(file, &error))?;
        self.damage = aside
            .map(|aside| explain_damage(file, &aside))
            .or(self.damage.take());
        Ok(())
    }

    /// Takes the news that a damaged file was set aside.
    pub(super) fn take_damage(&mut self) -> Option<Failure> {
        self.damage.take()
    }

    fn explain(&self, error: &Error) -> Failure {
        let place = self.file.as_deref().unwrap_or(Path::new(":memory:"));
        explain(place, error)
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Says what is wrong with the store and what it costs.
fn explain(file: &Path, error: &Error) -> Failure {
    let (kind, why) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            FailureKind::Busy,
            "another process keeps it locked".to_owned(),
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (FailureKind::Denied, "it cannot be written to".to_owned())
        }
        Some(ErrorCode::DiskFull) => (FailureKind::NoSpace, "the disk is full".to_owned()),
        _ => (FailureKind::Internal, error.to_string()),
    };
    Failure::new(kind, format!("the store {}: {why}", file.display())).with_hint(
        "sandboxes are not affected, but runs, last use and causes of death are not recorded",
    )
}

fn explain_damage(file: &Path, aside: &Path) -> Failure {
    let message = format!(
        "the store {} was damaged; it was set aside as {}, and a new one was begun",
        file.display(),
        aside.display()
    );
    Failure::new(FailureKind::Internal, message).with_hint(
        "sandboxes are not affected; runs, last use, pins and causes of death so far are only in that file",
    )
}

fn explain_io(file: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "the store {} is damaged and cannot be set aside: {error}",
        file.display()
    );
    Failure::new(FailureKind::Internal, message)
}
