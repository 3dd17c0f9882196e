//! What is looked up of the sandboxes of a scope without reading every record: a cache that anybody may throw away.
//!
//! Ids are never used twice and records never change, so an entry is right for ever. Two who write at once may lose entries of
//! each other; whoever misses one reads its record.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::record::{self, SandboxRecord};
use crate::engine::guest::random_word;

/// The file in the folder of the scope.
const FILE: &str = "index.json";
/// So many entries may be missing or too many before the file is written again.
const TOLERATED: usize = 8;

/// What is known of one sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexEntry {
    pub(super) id: String,
    pub(super) name: String,
    /// First of the user numbers that are its own outside.
    pub(super) block: Option<u32>,
}

impl IndexEntry {
    fn of(record: SandboxRecord) -> Self {
        Self {
            id: record.id,
            name: record.asked.name,
            block: record.block,
        }
    }
}

/// Looks sandboxes up by their ids, which are those of the folder; `read` is for those that are not in the cache.
pub(super) fn look_up(
    scope: &Path,
    ids: Vec<String>,
    read: impl Fn(&str) -> Option<SandboxRecord>,
) -> Vec<IndexEntry> {
    let cached: Vec<IndexEntry> = record::read_json(&scope.join(FILE)).unwrap_or_default();
    let pairs = cached.into_iter().map(|entry| (entry.id.clone(), entry));
    let mut cached: HashMap<String, IndexEntry> = pairs.collect();
    let mut missing = 0;
    let entries = ids.into_iter().filter_map(|id| {
        cached.remove(&id).or_else(|| {
            missing += 1;
            read(&id).map(IndexEntry::of)
        })
    });
    let entries: Vec<IndexEntry> = entries.collect();
    if missing + cached.len() > TOLERATED {
        keep(scope, &entries);
    }
    entries
}

/// Writes the cache; without it, all is as right and only slower.
fn keep(scope: &Path, entries: &[IndexEntry]) {
    let fresh = scope.join(format!("{FILE}-{}", random_word()));
    let text = serde_json::to_vec(entries).unwrap_or_default();
    let written = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, scope.join(FILE)));
    if let Err(error) = written {
        tracing::debug!(%error, "the index was not written");
        let _ = fs::remove_file(fresh);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn record(id: &str) -> SandboxRecord {
        let json = include_str!("oldest_record.json").replace("0123456789abcdef01234567", id);
        serde_json::from_str(&json).expect("a record")
    }

    /// Looks ids up, and returns the ids found and how many records were read for that.
    fn looked_up(scope: &Path, ids: std::ops::Range<u32>) -> (Vec<String>, u32) {
        let read = Cell::new(0);
        let reading = |id: &str| {
            read.set(read.get() + 1);
            Some(record(id))
        };
        let ids = ids.map(|id| id.to_string()).collect();
        let found = look_up(scope, ids, reading);
        (
            found.into_iter().map(|entry| entry.id).collect(),
            read.get(),
        )
    }

    #[test]
    fn each_record_is_read_once() {
        let scope = tempfile::tempdir().expect("a folder");
        assert_eq!(looked_up(scope.path(), 0..100).1, 100);
        assert_eq!(looked_up(scope.path(), 0..100).1, 0);
        // Some are gone, some are new, and few are worth no writing.
        let (found, read) = looked_up(scope.path(), 2..103);
        assert_eq!((found.len(), read), (101, 3));
        assert_eq!(looked_up(scope.path(), 2..103).1, 3);
        assert_eq!(looked_up(scope.path(), 50..120).1, 20);
        assert_eq!(looked_up(scope.path(), 50..120).1, 0);
    }

    #[test]
    fn a_cache_that_is_none_is_written_anew() {
        let scope = tempfile::tempdir().expect("a folder");
        fs::write(scope.path().join(FILE), "[{").expect("a file");
        assert_eq!(looked_up(scope.path(), 0..20).1, 20);
        assert_eq!(looked_up(scope.path(), 0..20).1, 0);
        let left = fs::read_dir(scope.path()).expect("a folder");
        assert_eq!(left.count(), 1);
    }
}
