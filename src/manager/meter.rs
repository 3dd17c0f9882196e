//! What a copy moves: counted, and bounded.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::StreamExt;

use crate::domain::{FileEntry, FileKind, TreeItem};
use crate::engine::{EngineError, Result, TreeStream};
use crate::protocol::{Copied, FailureKind};
use crate::text::human;

/// How many names of what could not be read are told.
const NAMES: usize = 10;

/// Counts what passes, up to a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    most: Option<u64>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    copied: Copied,
    /// The bytes of a single file, once they are known.
    total: Option<u64>,
}

impl Meter {
    /// Takes the most bytes that may pass.
    pub(super) fn up_to(most: Option<u64>) -> Self {
        Self {
            most,
            counts: Arc::default(),
        }
    }

    /// Counts a tree on its way; it fails where it becomes too large.
    pub(super) fn measure(&self, tree: TreeStream) -> TreeStream {
        let meter = self.clone();
        tree.map(move |item| item.and_then(|item| meter.count(item)))
            .boxed()
    }

    fn count(&self, item: TreeItem) -> Result<TreeItem> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let coming = match &item {
            TreeItem::Entry(entry) => counts.note(entry),
            TreeItem::Data(bytes) => {
                counts.copied.bytes += bytes.len() as u64;
                0
            }
            TreeItem::Unreadable(name) => {
                counts.leave(name);
                0
            }
        };
        match self.most {
            Some(most) if counts.copied.bytes.saturating_add(coming) > most => Err(too_large(most)),
            _ => Ok(item),
        }
    }

    /// Returns the bytes of a single file, once they are known.
    pub(super) fn total(&self) -> Option<u64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.total
    }

    /// Returns what has passed.
    pub(super) fn totals(&self) -> Copied {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.copied.clone()
    }
}

impl Counts {
    /// Counts an entry, and returns how many bytes it announces.
    fn note(&mut self, entry: &FileEntry) -> u64 {
        match entry.kind {
            FileKind::Special => {
                self.copied.skipped += 1;
                0
            }
            FileKind::File => {
                self.copied.entries += 1;
                if entry.name.is_empty() && entry.size > 0 {
                    self.total = Some(entry.size);
                }
                entry.size
            }
            FileKind::Directory | FileKind::Symlink { .. } => {
                self.copied.entries += 1;
                0
            }
        }
    }

    fn leave(&mut self, name: &[u8]) {
        self.copied.unreadable += 1;
        if self.copied.unreadable_names.len() < NAMES {
            let name = String::from_utf8_lossy(name).into_owned();
            self.copied.unreadable_names.push(name);
        }
    }
}

fn too_large(most: u64) -> EngineError {
    let message = format!(
        "it is larger than the {} that a copy may move",
        human::bytes(most)
    );
    EngineError::new(FailureKind::Refused, message).with_hint(
        "allow more with `cp --max-size`, or with copy_limit in [manager] of the configuration",
    )
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn file(name: &str, size: u64) -> TreeItem {
        TreeItem::Entry(FileEntry {
            name: name.into(),
            kind: FileKind::File,
            size,
            mode: 0o644,
            uid: 0,
            gid: 0,
            modified_at: DateTime::UNIX_EPOCH,
        })
    }

    fn passes(most: Option<u64>, items: Vec<TreeItem>) -> std::result::Result<Copied, FailureKind> {
        let meter = Meter::up_to(most);
        for item in items {
            meter.count(item).map_err(|error| error.kind)?;
        }
        Ok(meter.totals())
    }

    #[test]
    fn a_limit_holds_for_all_files_together_and_for_what_is_announced() {
        let data = |length: usize| TreeItem::Data(vec![1; length].into());
        let two = || vec![file("a", 3), data(3), file("b", 2), data(2)];
        assert!(passes(Some(5), two()).is_ok_and(|copied| copied.bytes == 5));
        assert_eq!(passes(Some(4), two()), Err(FailureKind::Refused));
        assert_eq!(
            passes(Some(4), vec![file("a", 5)]),
            Err(FailureKind::Refused)
        );
        // A file may hold more than it announces.
        let lie = vec![file("a", 0), data(5)];
        assert_eq!(passes(Some(4), lie), Err(FailureKind::Refused));
        assert!(passes(None, vec![file("a", u64::MAX)]).is_ok());
    }

    #[test]
    fn what_could_not_be_read_is_counted_and_the_first_are_named() {
        let items = (0..12).map(|n| TreeItem::Unreadable(format!("f{n}").into()));
        let copied = passes(None, items.collect()).expect("no limit");
        assert_eq!(
            (copied.unreadable, copied.unreadable_names.len()),
            (12, NAMES)
        );
        let first = copied.unreadable_names.first();
        assert_eq!(first.map(String::as_str), Some("f0"));
    }
}
