//! Unsaved buffers on disk, where a crash or a kill does not reach them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::app::msg::RecoveredBuffer;

/// Where this process keeps its unsaved buffers.
pub(super) struct Recovery {
    folder: PathBuf,
    file: PathBuf,
}

impl Recovery {
    /// Names the file after this process, so that dashboards do not overwrite each other's.
    pub(super) fn new(state_dir: &Path) -> Self {
        let folder = state_dir.join("recovery");
        let file = folder.join(format!("{}.json", std::process::id()));
        Self { folder, file }
    }

    /// Keeps the buffers; none removes the file.
    pub(super) fn keep(&self, buffers: &[RecoveredBuffer]) {
        if buffers.is_empty() {
            return self.forget();
        }
        let fresh = self.file.with_extension("new");
        let kept = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&fresh, serde_json::to_vec(buffers).unwrap_or_default()))
            .and_then(|()| fs::rename(&fresh, &self.file));
        if let Err(error) = kept {
            tracing::warn!(%error, "unsaved buffers could not be kept");
        }
    }

    /// Removes the file: nothing is unsaved any more.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.file);
    }

    /// Takes what dead processes left behind.
    pub(super) fn take(&self) -> Vec<RecoveredBuffer> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let pid = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .and_then(|stem| stem.parse::<u32>().ok());
            let dead = pid.is_some_and(|pid| pid != std::process::id() && !lives(pid));
            if !dead || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let buffers = fs::read(&path)
                .ok()
                .and_then(|bytes| serde_json::from_slice::<Vec<RecoveredBuffer>>(&bytes).ok());
            // What cannot be read now may be read by another version, or by a person.
            if let Some(buffers) = buffers {
                found.extend(buffers);
                let _ = fs::remove_file(&path);
            }
        }
        found
    }
}

/// Tells whether a process of our name has this number: one that only waits to be collected is dead, and so is ours whose
/// number another program has by now.
fn lives(pid: u32) -> bool {
    let read = |pid: &str| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let (own, other) = (read("self"), read(&pid.to_string()));
    living(&other).is_some_and(|name| Some(name) == living(&own))
}

/// Finds the name in what the kernel says of a process, unless that has ended.
fn living(stat: &str) -> Option<&str> {
    let (name, rest) = stat.rsplit_once(") ")?;
    let (_, name) = name.split_once('(')?;
    (!rest.starts_with('Z')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_told_from_the_living() {
        assert!(lives(std::process::id()));
        assert!(!lives(1), "another program");
        assert!(!lives(u32::MAX), "nobody");
        assert_eq!(living("7 (sand) top) S 1 7"), Some("sand) top"));
        assert_eq!(
            living("7 (sandtop) Z 1 7"),
            None,
            "it waits to be collected"
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_thrown_away() {
        let place = tempfile::tempdir().expect("a folder");
        let recovery = Recovery::new(place.path());
        fs::create_dir(&recovery.folder).expect("a folder");
        let odd = recovery.folder.join("4294967290.json");
        fs::write(&odd, "not for us").expect("a file");
        assert!(recovery.take().is_empty());
        assert!(odd.exists());
    }
}
