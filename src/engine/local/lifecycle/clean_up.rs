//! Cleans up after processes of sandtop and keepers that were killed, and deletes what sandboxes leave on disk.

use std::fs;
use std::io;

use chrono::Utc;

use super::super::cgroups::Cgroups;
use super::super::record::SandboxRecord;
use super::super::state_dir::{self, ScopeLock};
use super::super::{keeper, unpacked};
use super::{Lifecycle, failure};
use crate::domain::EngineEventKind;
use crate::engine::Result;
use crate::guest::wire::{self, KeeperRequest};

impl Lifecycle {
    /// Tells whether a crash has left something.
    pub(super) fn needs_clean_up(&self) -> bool {
        !self.state_dir.removed_dirs().is_empty()
            || !self.state_dir.partial_dirs().is_empty()
            || unpacked::has_partial(&self.state_dir)
            || self.state_dir.ids().iter().any(|id| self.is_left(id))
    }

    /// Tells whether a sandbox was never finished, or its keeper was killed.
    pub(super) fn is_left(&self, id: &str) -> bool {
        self.state_dir.is_new(id) || keeper::was_killed(&self.state_dir.folder(id))
    }

    /// Cleans up. Who holds the lock knows that nobody else is making or removing anything.
    pub(super) fn clean_up(&self, lock: &ScopeLock) {
        for id in self.state_dir.ids().iter().filter(|id| self.is_left(id)) {
            if let Some(record) = self.state_dir.record(id) {
                self.clean_up_one(&record, lock);
            }
        }
        self.clean_up_folders(lock);
        for folder in self.state_dir.partial_dirs() {
            let _ = state_dir::remove_all(&folder);
        }
    }

    /// Cleans up after one sandbox, if that is needed.
    pub(super) fn clean_up_one(&self, record: &SandboxRecord, _lock: &ScopeLock) {
        let folder = self.state_dir.folder(&record.id);
        if self.state_dir.is_new(&record.id) {
            let _ = keeper::end(&folder, &KeeperRequest::Kill);
            let _ = self.delete_files(record);
        } else if keeper::was_killed(&folder) {
            self.mark_dead(record);
        }
    }

    /// Deletes what was to be deleted; that takes no look at any sandbox.
    pub(super) fn clean_up_folders(&self, _lock: &ScopeLock) {
        for folder in self.state_dir.removed_dirs() {
            let _ = state_dir::remove_all(&folder);
        }
        unpacked::remove_partial(&self.state_dir);
    }

    /// Clears up after a keeper that was killed; its sandbox is stopped, with its workspace.
    fn mark_dead(&self, record: &SandboxRecord) {
        let folder = self.state_dir.folder(&record.id);
        Cgroups::of(&record.id).remove();
        let _ = fs::remove_file(folder.join(wire::KEEPER_SOCKET));
        let _ = fs::write(
            folder.join(wire::KEEPER_DEATH),
            Utc::now().timestamp_millis().to_string(),
        );
        let died = EngineEventKind::Died {
            exit_code: Some(137),
        };
        self.journal.append(&record.id, &record.asked.name, &died);
    }

    /// Removes all of a sandbox, whose keeper has ended.
    pub(super) fn delete_files(&self, record: &SandboxRecord) -> Result<()> {
        let failed = |error: io::Error| failure(&format!("removing {}", record.asked.name), &error);
        Cgroups::of(&record.id).remove();
        match self.state_dir.mark_removed(&record.id) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            gone => state_dir::remove_all(&gone.map_err(failed)?).map_err(failed)?,
        }
        self.journal.append(
            &record.id,
            &record.asked.name,
            &EngineEventKind::Removed { by: None },
        );
        Ok(())
    }
}
