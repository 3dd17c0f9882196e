//! Going from folder to folder, and what a listing brings.

use super::{FilesState, Peek, Pending, SandboxFolder, Shows};
use crate::app::geometry::cursor::ListCursor;
use crate::app::intent::{FilesReply, Intent, ReplyTo, Tone};
use crate::domain::{FileEntry, FileKind, SandboxPath, SandboxRef};
use crate::keymap::Action;
use crate::protocol::{Command, Failure, FailureKind, FileOp};
use crate::text::safe_line;

impl FilesState {
    pub(super) fn open(&mut self) -> Vec<Intent> {
        if let Some(refusal) = self.refusal(Action::Open) {
            return refusal;
        }
        if self.shows_changes() {
            return self.reveal();
        }
        let Some((path, entry)) = self.selected_path().zip(self.selected()) else {
            return Vec::new();
        };
        match entry.kind {
            FileKind::Directory => self.go(path),
            FileKind::Symlink { .. } => self.go_through_link(path),
            FileKind::File | FileKind::Special => self.edit(),
        }
    }

    pub(super) fn edit(&self) -> Vec<Intent> {
        if let Some(refusal) = self.refusal(Action::EditFile) {
            return refusal;
        }
        let (Some(place), Some(entry)) = (&self.place, self.selected()) else {
            return Vec::new();
        };
        let name = safe_line(&entry.name);
        let refusal = match entry.kind {
            FileKind::File | FileKind::Symlink { .. } => None,
            FileKind::Directory => Some(format!("{name} is a folder; open it instead.")),
            FileKind::Special => Some(format!("{name} is a device, pipe or socket, not a file.")),
        };
        match refusal {
            Some(sentence) => vec![Intent::Toast(Tone::Plain, sentence)],
            None => edit_file(place, self.selected_path()),
        }
    }

    pub(super) fn ascend(&mut self) -> Vec<Intent> {
        if self.shows_changes() {
            return self.toggle_changes();
        }
        let Some(folder) = self.place.as_ref().map(|place| place.folder.clone()) else {
            return Vec::new();
        };
        let Some(parent) = folder.parent() else {
            return Vec::new();
        };
        let intents = self.go(parent);
        self.wanted = Some(folder.file_name().to_vec());
        intents
    }

    pub(super) fn go_work_dir(&mut self) -> Vec<Intent> {
        let target = self.place.as_ref().map(|place| place.work_dir.clone());
        target.map(|folder| self.go(folder)).unwrap_or_default()
    }

    pub(super) fn go_through_link(&mut self, path: SandboxPath) -> Vec<Intent> {
        let intents = self.go(path);
        if let Some(pending) = &mut self.pending {
            pending.is_link = true;
        }
        intents
    }

    pub(super) fn go(&mut self, folder: SandboxPath) -> Vec<Intent> {
        self.forget();
        if let Some(place) = &mut self.place {
            self.folders.insert(place.sandbox.clone(), folder.clone());
            (place.folder, place.shows) = (folder, Shows::Folder);
        }
        self.list()
    }

    /// Forgets all that belongs to the folder.
    pub(super) fn forget(&mut self) {
        self.listing.clear();
        self.cursor = ListCursor::default();
        self.peek = Peek::default();
        (self.outcome, self.pending, self.wanted) = (None, None, None);
    }

    pub(super) fn list(&mut self) -> Vec<Intent> {
        let Some(place) = &self.place else {
            return Vec::new();
        };
        self.pending = Some(Pending {
            since: self.now,
            is_stale: false,
            is_link: false,
        });
        let sandbox = place.sandbox.clone();
        vec![match place.shows {
            Shows::Changes => list_changes(sandbox),
            Shows::Folder => list_folder(sandbox, place.folder.clone()),
        }]
    }

    pub(super) fn take_entries(&mut self, entries: Vec<FileEntry>) -> Vec<Intent> {
        self.outcome = Some(Ok(()));
        self.reselect(|listing| listing.replace(entries));
        if let Some(row) = self.wanted.as_ref().and_then(|n| self.listing.row_of(n)) {
            self.wanted = None;
            self.cursor.select(row, self.listing.len(), self.page);
        }
        // Read the selected file again even if it is there, since it may have changed too.
        self.drop_other_preview();
        self.peek.asked = None;
        self.ask_preview()
    }

    pub(super) fn take_failure(
        &mut self,
        failure: Failure,
        pending: Option<Pending>,
    ) -> Vec<Intent> {
        let is_link = pending.is_some_and(|pending| pending.is_link);
        if let Some(place) = self.place.clone()
            && is_link
            && failure.kind == FailureKind::Invalid
        {
            let mut intents = edit_file(&place, Some(place.folder.clone()));
            intents.extend(self.ascend());
            return intents;
        }
        self.listing.clear();
        self.peek = Peek::default();
        self.outcome = Some(Err(failure));
        Vec::new()
    }
}

fn edit_file(place: &SandboxFolder, path: Option<SandboxPath>) -> Vec<Intent> {
    let sandbox = place.sandbox.clone();
    path.map(|path| vec![Intent::EditFile { sandbox, path }])
        .unwrap_or_default()
}

/// Asks what has changed in a sandbox.
pub(super) fn list_changes(sandbox: SandboxRef) -> Intent {
    let reply_to = ReplyTo::Files(FilesReply::Changes(sandbox.clone()));
    Intent::submit(Command::Changes(sandbox), "", reply_to)
}

/// Asks for the entries of a folder.
pub(super) fn list_folder(sandbox: SandboxRef, path: SandboxPath) -> Intent {
    let reply_to = ReplyTo::Files(FilesReply::Folder(sandbox.clone(), path.clone()));
    let op = FileOp::List(path);
    Intent::submit(Command::File { sandbox, op }, "", reply_to)
}
