//! Unsaved buffers on disk, where a crash or a kill does not reach them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::app::editor::RecoveredBuffer;

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
            let dead = pid.is_some_and(|pid| {
                pid != std::process::id() && !Path::new(&format!("/proc/{pid}")).exists()
            });
            if !dead || path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let buffers = fs::read(&path)
                .ok()
                .and_then(|bytes| serde_json::from_slice::<Vec<RecoveredBuffer>>(&bytes).ok());
            found.extend(buffers.unwrap_or_default());
            let _ = fs::remove_file(&path);
        }
        found
    }
}
