//! Lists what the cache holds, and removes what is asked for, too old or too much.
//!
//! Which sets exist is asked of the engine; how they were used stands in [`KeyFiles`].

use super::key_files::{KeyFiles, LockMode};
use super::{Context, PackageCache};
use crate::domain::{CachedPackages, HostName, PackageSet, RemovedPackages};
use crate::protocol::{Failure, FailureKind, Reply};

/// Shortest start of a key that stands for it.
const SHORTEST: usize = 4;

/// Lists the complete sets, the last used one first.
pub(in crate::manager) async fn list(context: Context, host: HostName) -> Result<Reply, Failure> {
    let cache = PackageCache::new(&context, context.host(&host)?);
    let entries = Entries::read(cache).await?;
    Ok(Reply::PackageSets(entries.all))
}

/// Removes the sets whose keys start so; none given means all.
pub(in crate::manager) async fn remove(
    context: Context,
    host: HostName,
    keys: Vec<String>,
) -> Result<Reply, Failure> {
    let cache = PackageCache::new(&context, context.host(&host)?);
    let entries = Entries::read(cache).await?;
    let mut picked: Vec<&CachedPackages> = Vec::new();
    for key in &keys {
        picked.extend(pick(&entries.all, key)?);
    }
    if keys.is_empty() {
        picked.extend(&entries.all);
    }
    let mut removed = Vec::new();
    for one in picked {
        removed.push(entries.remove(cache, &one.set, "asked").await);
    }
    Ok(Reply::PackagesRemoved(removed))
}

/// Removes what is too old, and then what was not used for longest until the rest is small enough.
pub(in crate::manager) async fn prune(context: Context, host: HostName) -> Result<Reply, Failure> {
    let cache = PackageCache::new(&context, context.host(&host)?);
    prune_except(cache, "").await.map(Reply::PackagesRemoved)
}

/// Prunes; the set that is needed now stays.
pub(super) async fn prune_except(
    cache: PackageCache<'_>,
    needed: &str,
) -> Result<Vec<RemovedPackages>, Failure> {
    let entries = Entries::read(cache).await?;
    let mut removed = Vec::new();
    for (set, why) in superfluous(&entries.all, cache.context.options.deps.size_limit) {
        if set.key != needed {
            removed.push(entries.remove(cache, set, why).await);
        }
    }
    Ok(removed)
}

/// The complete sets of a host, the last used one first.
struct Entries {
    files: KeyFiles,
    all: Vec<CachedPackages>,
}

impl Entries {
    async fn read(cache: PackageCache<'_>) -> Result<Self, Failure> {
        let files = KeyFiles::open(cache)?;
        let sets = cache.host.engine.package_sets().await?.into_iter();
        let mut all: Vec<CachedPackages> = sets
            .filter(|set| set.complete)
            .map(|set| with_use(cache, &files, set))
            .collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.used_at));
        Ok(Self { files, all })
    }

    /// Removes one set, unless somebody is using it.
    async fn remove(
        &self,
        cache: PackageCache<'_>,
        set: &PackageSet,
        why: &'static str,
    ) -> RemovedPackages {
        let done = match self.files.try_lock(&set.key, LockMode::Exclusive) {
            Ok(Some(_lock)) => {
                let removed = cache.host.engine.remove_package_set(&set.name).await;
                if removed.is_ok() {
                    self.files.forget_use(&set.key);
                }
                removed.map_err(|error| match error.kind {
                    FailureKind::Conflict => "a sandbox is using them".to_owned(),
                    _ => error.message,
                })
            }
            Ok(None) => Err("a run is using them".to_owned()),
            Err(failure) => Err(failure.message),
        };
        RemovedPackages {
            set: set.clone(),
            why,
            done,
        }
    }
}

fn with_use(cache: PackageCache<'_>, files: &KeyFiles, set: PackageSet) -> CachedPackages {
    let note = files.use_note(&set.key);
    CachedPackages {
        hits: note.hits,
        used_at: note.used_at.unwrap_or(set.made_at).max(set.made_at),
        expired: cache.is_expired(&set),
        set,
    }
}

/// Finds the sets of one key by its start.
fn pick<'a>(all: &'a [CachedPackages], start: &str) -> Result<Vec<&'a CachedPackages>, Failure> {
    let fits = |one: &&CachedPackages| start.len() >= SHORTEST && one.set.key.starts_with(start);
    let found: Vec<&CachedPackages> = all.iter().filter(fits).collect();
    let Some(first) = found.first() else {
        let words = format!("no packages are kept under the key `{start}`");
        return Err(Failure::new(FailureKind::NotFound, words)
            .with_hint("`sandtop cache ls` lists the keys; four digits are enough"));
    };
    if found.iter().any(|one| one.set.key != first.set.key) {
        let words = format!("`{start}` could mean several keys");
        return Err(Failure::new(FailureKind::Invalid, words).with_hint("write more of it"));
    }
    Ok(found)
}

/// Chooses what goes; `all` starts with what was used last.
fn superfluous(all: &[CachedPackages], limit: u64) -> Vec<(&PackageSet, &'static str)> {
    let mut total = 0_u64;
    let mut going = Vec::new();
    for one in all {
        if one.expired {
            going.push((&one.set, "expired"));
            continue;
        }
        total = total.saturating_add(one.set.size_bytes);
        if total > limit {
            going.push((&one.set, "size"));
        }
    }
    going
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn stocked(key: &str, size_bytes: u64, expired: bool) -> CachedPackages {
        CachedPackages {
            set: PackageSet {
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
            .map(|(set, why)| (set.key.as_str(), why))
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
