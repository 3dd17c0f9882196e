//! The stock of installed packages: which shelves there are, who uses them, and which have to go.
//!
//! What exists is asked of the engine. On this machine there are only notes on use, and for each key a lock: shared by runs
//! until their sandbox holds the shelf, exclusive for who installs or removes. Locks end with the process, however it ends.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Host;
use super::context::Context;
use crate::domain::{Cleared, HostName, Shelf, Stocked};
use crate::protocol::{Failure, FailureKind, Reply};

/// Time between two tries to get a lock.
const AGAIN: Duration = Duration::from_millis(20);
/// Shortest start of a key that stands for it.
const SHORTEST: usize = 4;

/// What is noted of a shelf's use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    hits: u64,
    used_at: Option<DateTime<Utc>>,
}

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct Held(#[allow(dead_code)] File);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// With others who only use the shelf.
    Shared,
    /// Alone.
    Alone,
}

/// Notes and locks of one host.
#[derive(Debug, Clone)]
pub(super) struct Stock {
    folder: PathBuf,
}

impl Stock {
    /// Finds the folder of a host's notes.
    pub(super) fn of(context: &Context, host: &Host) -> Result<Self, Failure> {
        let top = &context.options.deps.cache_dir;
        let folder = top.join("packages").join(&host.place);
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder);
        made.map_err(|error| broken(&folder, &error))?;
        Ok(Self { folder })
    }

    fn file(&self, key: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{key}.{ending}"))
    }

    /// Gets a lock if nobody is in the way.
    pub(super) fn try_hold(&self, key: &str, hold: Hold) -> Result<Option<Held>, Failure> {
        let path = self.file(key, "lock");
        let file = File::create(&path).map_err(|error| broken(&path, &error))?;
        let locked = match hold {
            Hold::Shared => file.try_lock_shared(),
            Hold::Alone => file.try_lock(),
        };
        match locked {
            Ok(()) => Ok(Some(Held(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(broken(&path, &error)),
        }
    }

    /// Waits for a lock; `waiting` is called once if somebody is in the way.
    pub(super) async fn hold(
        &self,
        context: &Context,
        key: &str,
        hold: Hold,
        waiting: impl FnOnce(),
    ) -> Result<Held, Failure> {
        if let Some(held) = self.try_hold(key, hold)? {
            return Ok(held);
        }
        waiting();
        loop {
            tokio::select! {
                () = tokio::time::sleep(AGAIN) => {}
                () = context.closing() => return Err(Failure::new(FailureKind::Interrupted, "interrupted")),
            }
            if let Some(held) = self.try_hold(key, hold)? {
                return Ok(held);
            }
        }
    }

    fn note(&self, key: &str) -> Note {
        let text = fs::read(self.file(key, "json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Notes that a run uses a shelf. Of two runs at once one may not be counted; nothing hangs on it.
    pub(super) fn used(&self, key: &str, is_hit: bool) {
        let before = self.note(key);
        let note = Note {
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

    fn forget(&self, key: &str) {
        let _ = fs::remove_file(self.file(key, "json"));
    }

    fn stocked(&self, context: &Context, found: Shelf) -> Stocked {
        let note = self.note(&found.key);
        Stocked {
            hits: note.hits,
            used_at: note.used_at.unwrap_or(found.made_at).max(found.made_at),
            expired: is_expired(context, &found),
            shelf: found,
        }
    }
}

fn broken(path: &Path, error: &io::Error) -> Failure {
    let words = format!(
        "keeping notes on packages in {} failed: {error}",
        path.display()
    );
    Failure::new(FailureKind::Denied, words)
        .with_hint("set cache_dir in [deps] to a folder of yours")
}

/// Tells whether a shelf is too old to be used.
pub(super) fn is_expired(context: &Context, shelf: &Shelf) -> bool {
    let age = (Utc::now() - shelf.made_at).to_std();
    age.is_ok_and(|age| age >= context.options.deps.ttl)
}

async fn all(context: &Context, host: &Host) -> Result<(Stock, Vec<Stocked>), Failure> {
    let stock = Stock::of(context, host)?;
    let shelves = host.engine.shelves().await?.into_iter();
    let mut all: Vec<Stocked> = shelves
        .filter(|shelf| shelf.complete)
        .map(|shelf| stock.stocked(context, shelf))
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.used_at));
    Ok((stock, all))
}

/// Lists the shelves, the last used one first.
pub(super) async fn list(context: &Context, host: &HostName) -> Result<Reply, Failure> {
    let (_, all) = all(context, context.host(host)?).await?;
    Ok(Reply::Stock(all))
}

/// Removes the shelves whose keys start so; none given means all.
pub(super) async fn remove(
    context: &Context,
    host: &HostName,
    keys: &[String],
) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let (stock, all) = all(context, host).await?;
    let mut chosen: Vec<&Stocked> = Vec::new();
    for key in keys {
        chosen.extend(pick(&all, key)?);
    }
    if keys.is_empty() {
        chosen.extend(&all);
    }
    let mut cleared = Vec::new();
    for one in chosen {
        cleared.push(clear(host, &stock, &one.shelf, "asked").await);
    }
    Ok(Reply::Cleared(cleared))
}

/// Finds the shelves of one key by its start.
fn pick<'a>(all: &'a [Stocked], start: &str) -> Result<Vec<&'a Stocked>, Failure> {
    let fits = |one: &&Stocked| start.len() >= SHORTEST && one.shelf.key.starts_with(start);
    let found: Vec<&Stocked> = all.iter().filter(fits).collect();
    let Some(first) = found.first() else {
        let words = format!("no packages are kept under the key `{start}`");
        return Err(Failure::new(FailureKind::NotFound, words)
            .with_hint("`sandtop cache ls` lists the keys; four digits are enough"));
    };
    if found.iter().any(|one| one.shelf.key != first.shelf.key) {
        let words = format!("`{start}` could mean several keys");
        return Err(Failure::new(FailureKind::Invalid, words).with_hint("write more of it"));
    }
    Ok(found)
}

/// Removes one shelf, unless somebody is using it.
async fn clear(host: &Host, stock: &Stock, shelf: &Shelf, why: &'static str) -> Cleared {
    let done = match stock.try_hold(&shelf.key, Hold::Alone) {
        Ok(Some(_held)) => {
            let removed = host.engine.remove_shelf(&shelf.name).await;
            if removed.is_ok() {
                stock.forget(&shelf.key);
            }
            removed.map_err(|error| match error.kind {
                FailureKind::Conflict => "a sandbox is using them".to_owned(),
                _ => error.message,
            })
        }
        Ok(None) => Err("a run is using them".to_owned()),
        Err(failure) => Err(failure.message),
    };
    Cleared {
        shelf: shelf.clone(),
        why,
        done,
    }
}

/// Removes what is too old, and then what was not used for longest until the rest is small enough.
pub(super) async fn prune(context: &Context, host: &HostName) -> Result<Reply, Failure> {
    Ok(Reply::Cleared(
        tidy(context, context.host(host)?, "").await?,
    ))
}

/// Prunes; the shelf that is needed now stays.
pub(super) async fn tidy(
    context: &Context,
    host: &Host,
    needed: &str,
) -> Result<Vec<Cleared>, Failure> {
    let (stock, all) = all(context, host).await?;
    let mut cleared = Vec::new();
    for (shelf, why) in superfluous(&all, context.options.deps.size_limit) {
        if shelf.key != needed {
            cleared.push(clear(host, &stock, shelf, why).await);
        }
    }
    Ok(cleared)
}

/// Chooses what goes; `all` starts with what was used last.
fn superfluous(all: &[Stocked], limit: u64) -> Vec<(&Shelf, &'static str)> {
    let mut total = 0_u64;
    let mut going = Vec::new();
    for one in all {
        if one.expired {
            going.push((&one.shelf, "expired"));
            continue;
        }
        total = total.saturating_add(one.shelf.size_bytes);
        if total > limit {
            going.push((&one.shelf, "size"));
        }
    }
    going
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stocked(key: &str, size_bytes: u64, expired: bool) -> Stocked {
        Stocked {
            shelf: Shelf {
                name: key.to_owned(),
                key: key.to_owned(),
                language: "python".to_owned(),
                image: String::new(),
                packages: Vec::new(),
                made_at: DateTime::UNIX_EPOCH,
                size_bytes,
                complete: true,
            },
            hits: 0,
            used_at: DateTime::UNIX_EPOCH,
            expired,
        }
    }

    #[test]
    fn the_old_and_the_least_used_go() {
        let all = [
            stocked("aaaa1", 40, false),
            stocked("aaaa2", 500, true),
            stocked("bbbb", 60, false),
            stocked("cccc", 1, false),
        ];
        let going: Vec<_> = superfluous(&all, 100)
            .into_iter()
            .map(|(shelf, why)| (shelf.key.as_str(), why))
            .collect();
        assert_eq!(going, [("aaaa2", "expired"), ("cccc", "size")]);
        let found = |start: &str| {
            pick(&all, start)
                .map(|found| found.len())
                .map_err(|failure| failure.kind)
        };
        assert_eq!(found("bbbb"), Ok(1));
        assert_eq!(found("aaaa"), Err(FailureKind::Invalid));
        assert_eq!(found("bbb"), Err(FailureKind::NotFound), "too short");
        assert_eq!(found("dddd"), Err(FailureKind::NotFound));
    }
}
