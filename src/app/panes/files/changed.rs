//! What has changed since the sandbox was made, as a list in place of a folder.

use chrono::DateTime;

use super::ask::{say, shown};
use super::{FilesState, Shows};
use crate::app::intent::Intent;
use crate::domain::{Change, ChangeKind, Changes, FileEntry, FileKind, SandboxPath, SandboxRef};
use crate::keymap::Action;
use crate::protocol::Failure;

impl FilesState {
    /// Tells whether changes are shown in place of a folder.
    #[must_use]
    pub fn shows_changes(&self) -> bool {
        let place = self.place.as_ref();
        place.is_some_and(|place| place.shows == Shows::Changes)
    }

    /// Shows what has changed, or the folder again.
    pub(super) fn toggle_changes(&mut self) -> Vec<Intent> {
        let Some(place) = &mut self.place else {
            return say("Select a running sandbox first.");
        };
        if place.shows == Shows::Changes {
            let folder = place.folder.clone();
            return self.go(folder);
        }
        place.shows = Shows::Changes;
        self.forget();
        self.list()
    }

    /// Takes what has changed; that of a sandbox that was left is ignored.
    pub fn changes_listed(
        &mut self,
        sandbox: &SandboxRef,
        outcome: Result<Changes, Failure>,
    ) -> Vec<Intent> {
        let place = self.place.as_ref();
        if !self.shows_changes() || place.is_none_or(|place| place.sandbox != *sandbox) {
            return Vec::new();
        }
        let kinds = outcome.as_ref().ok().map(kinds).unwrap_or_default();
        self.listing.set_kinds(kinds);
        self.take_listing(outcome.map(|changes| changes.files.iter().map(entry).collect()))
    }

    /// Goes to the folder of a changed file and selects it there.
    pub(super) fn reveal(&mut self) -> Vec<Intent> {
        let Some(path) = self.selected_path() else {
            return Vec::new();
        };
        let Some(folder) = path.parent() else {
            return Vec::new();
        };
        let intents = self.go(folder);
        self.wanted = Some(path.file_name().to_vec());
        intents
    }

    /// Says why an action makes no sense among changes.
    pub(super) fn refusal(&self, action: Action) -> Option<Vec<Intent>> {
        if !self.shows_changes() {
            return None;
        }
        let needs_folder = matches!(
            action,
            Action::NewFile | Action::NewFolder | Action::Upload | Action::Rename
        );
        if needs_folder {
            return Some(say("This needs a folder; Enter goes to the file's own."));
        }
        let needs_file = matches!(
            action,
            Action::EditFile | Action::Download | Action::Delete | Action::Open
        );
        let is_gone =
            |entry: &&FileEntry| self.listing.kind_of(&entry.name) == Some(ChangeKind::Deleted);
        let gone = match self.listing.marked_count() {
            0 => self.selected().filter(is_gone),
            _ => self.listing.marked().find(is_gone),
        };
        let gone = gone.filter(|_| needs_file)?;
        Some(say(&format!(
            "{} was deleted; nothing is left of it.",
            shown(&gone.name)
        )))
    }
}

/// Returns the name of a changed file in the list: its path without the first slash.
fn name(path: &SandboxPath) -> Vec<u8> {
    let bytes = path.as_bytes();
    bytes.strip_prefix(b"/").unwrap_or(bytes).to_vec()
}

fn kinds(changes: &Changes) -> Vec<(Vec<u8>, ChangeKind)> {
    let files = changes.files.iter();
    files
        .map(|change| (name(&change.path), change.kind))
        .collect()
}

/// Describes a changed file as far as it is known; what is not there any more cannot be looked into.
fn entry(change: &Change) -> FileEntry {
    let (kind, size, modified_at) = match &change.now {
        Some(now) => (now.kind.clone(), now.size, now.modified_at),
        None if change.kind == ChangeKind::Deleted => (FileKind::Special, 0, DateTime::UNIX_EPOCH),
        None => (FileKind::File, 0, DateTime::UNIX_EPOCH),
    };
    FileEntry {
        name: name(&change.path),
        kind,
        size,
        mode: 0,
        uid: 0,
        gid: 0,
        modified_at,
    }
}
