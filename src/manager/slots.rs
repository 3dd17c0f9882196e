//! Free places for sandboxes: reserved before the slow work, so that parallel creates cannot pass the limit.
//!
//! Processes that share an engine agree through files: a reservation is a file named after the sandbox and locked as long as
//! its maker lives. A place is taken by a sandbox that exists or by a live reservation; one name counts once, so a sandbox
//! that has just appeared and its reservation are the same place. The lock of a dead process is free, and its file is swept.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::SharedEngine;
use crate::protocol::{Failure, FailureKind};

/// How long to wait for another process that is looking at the places.
const PATIENCE: Duration = Duration::from_secs(20);

/// A place that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    path: Option<PathBuf>,
    _lock: Option<File>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

/// Reserves a place for a sandbox of this name.
pub(super) async fn reserve(
    engine: &SharedEngine,
    folder: Option<&Path>,
    name: &str,
    most: usize,
) -> Result<Reservation, Failure> {
    let Some(folder) = folder else {
        check(engine, &BTreeSet::new(), name, most).await?;
        return Ok(Reservation {
            path: None,
            _lock: None,
        });
    };
    let broken = |error: io::Error| {
        Failure::new(
            FailureKind::Internal,
            format!(
                "reserving a place below {} failed: {error}",
                folder.display()
            ),
        )
        .with_hint("check that the state directory can be written to")
    };
    let _lock = lock_all(folder).await.map_err(broken)?;
    let reserved = live_reservations(folder).map_err(broken)?;
    check(engine, &reserved, name, most).await?;
    let path = folder.join(format!("{name}.slot"));
    let file = File::create(&path).map_err(broken)?;
    file.try_lock().map_err(|_| {
        Failure::new(
            FailureKind::Conflict,
            format!("another process is creating {name} right now"),
        )
    })?;
    Ok(Reservation {
        path: Some(path),
        _lock: Some(file),
    })
}

async fn check(
    engine: &SharedEngine,
    reserved: &BTreeSet<String>,
    name: &str,
    most: usize,
) -> Result<(), Failure> {
    // A name in use is the engine's refusal to give, with better words.
    let fits = |existing: Vec<String>| {
        let taken: BTreeSet<&String> = existing.iter().chain(reserved).collect();
        taken.len() < most || taken.iter().any(|taken| *taken == name)
    };
    if fits(engine.names().await?) {
        return Ok(());
    }
    // Only a list finds out what is left of a crash and takes no place.
    let listed = engine.list().await?.into_iter();
    let ours = listed.filter(|sandbox| sandbox.owner.is_some());
    if fits(ours.map(|sandbox| sandbox.name).collect()) {
        return Ok(());
    }
    Err(Failure::new(
        FailureKind::Refused,
        format!("Maximum number of sandboxes ({most}) reached"),
    )
    .with_hint("remove some with `sandtop rm`, or raise max_sandboxes in the configuration"))
}

/// Waits for our turn to look at the places; the file lock ends with the process, however it ends.
async fn lock_all(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file = File::create(folder.join("lock"))?;
    let waiting = async {
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(3)).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    Ok(file)
}

/// Lists names whose makers live, and sweeps the others.
fn live_reservations(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut live = BTreeSet::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let Some(name) = path
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.strip_suffix(".slot"))
        else {
            continue;
        };
        match File::open(&path).map(|file| file.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => {
                live.insert(name.to_owned());
            }
            Ok(_) => fs::remove_file(&path)?,
            Err(_) => {}
        }
    }
    Ok(live)
}
