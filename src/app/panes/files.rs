//! The files pane's state: one folder of one sandbox, what is selected and marked in it, and a look into the selected file.

mod answer;
mod ask;
mod changed;
mod host;
mod listing;
mod many;
mod order;
mod pick;
mod preview;
#[cfg(test)]
pub(crate) mod tests;
mod travel;

use std::collections::HashMap;

use chrono::{DateTime, Utc};

pub use host::{HostPlaces, complete, host_checked, offered};
pub use listing::{Listing, is_hidden};
pub use preview::{Content, HEX_WIDTH, PREVIEW_LIMIT, Preview, PreviewLine};

use crate::app::geometry::cursor::ListCursor;
use crate::app::intent::{FilesReply, Intent};
use crate::domain::{FileEntry, SandboxPath, SandboxRef};
use crate::keymap::Action;
use crate::protocol::{Failure, FailureKind, Reply};
use ask::OpenQuestion;

/// Lines that a key moves the preview by.
const PREVIEW_STEP: isize = 5;

/// What of a sandbox is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// What is in the folder.
    Folder,
    /// What was added, changed or deleted anywhere since the sandbox was made.
    Changes,
}

/// A folder of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFolder {
    /// Which sandbox.
    pub sandbox: SandboxRef,
    /// Its name, for people.
    pub name: String,
    /// Where `~` leads.
    pub work_dir: SandboxPath,
    /// The folder that is shown.
    pub folder: SandboxPath,
    /// Its content, or what has changed.
    pub shows: Shows,
}

/// A listing that is under way.
#[derive(Debug, Clone, Copy)]
struct Pending {
    since: DateTime<Utc>,
    /// Something changed after it was asked for, so that its answer may be old.
    is_stale: bool,
    /// The folder was reached through a link, which may lead to a file instead.
    is_link: bool,
}

/// The preview and the file whose preview is under way; one at a time, however fast the selection moves.
#[derive(Debug, Clone, Default)]
struct Peek {
    preview: Option<Preview>,
    asked: Option<SandboxPath>,
}

/// The state of the files pane.
#[derive(Debug, Clone, Default)]
pub struct FilesState {
    host: HostPlaces,
    now: DateTime<Utc>,
    place: Option<SandboxFolder>,
    folders: HashMap<SandboxRef, SandboxPath>,
    listing: Listing,
    /// How the last listing of this folder ended; `None` before the first.
    outcome: Option<Result<(), Failure>>,
    cursor: ListCursor,
    page: usize,
    pending: Option<Pending>,
    peek: Peek,
    /// What the open question is about, so that a refresh behind it cannot change its target.
    asked: Option<OpenQuestion>,
    /// The name to select as soon as it is listed.
    wanted: Option<Vec<u8>>,
    /// Files of this machine that are being looked for.
    many: Option<many::Wanted>,
}

impl FilesState {
    /// Starts without a sandbox.
    #[must_use]
    pub fn new(host: HostPlaces) -> Self {
        Self {
            host,
            ..Self::default()
        }
    }

    /// Returns where paths of this machine start.
    #[must_use]
    pub fn host(&self) -> &HostPlaces {
        &self.host
    }

    /// Returns the folder that is shown.
    #[must_use]
    pub fn place(&self) -> Option<&SandboxFolder> {
        self.place.as_ref()
    }

    /// Returns what the folder holds.
    #[must_use]
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Returns where the selection is.
    #[must_use]
    pub fn cursor(&self) -> ListCursor {
        self.cursor
    }

    /// Returns the selected entry.
    #[must_use]
    pub fn selected(&self) -> Option<&FileEntry> {
        self.listing.get(self.cursor.selected())
    }

    /// Returns the preview of the selected file.
    #[must_use]
    pub fn preview(&self) -> Option<&Preview> {
        self.peek.preview.as_ref()
    }

    /// Returns why the folder cannot be listed.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.outcome.as_ref()?.as_ref().err()
    }

    /// Tells whether the folder's content is known.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        matches!(self.outcome, Some(Ok(())))
    }

    /// Returns since when a listing is under way.
    #[must_use]
    pub fn waiting_since(&self) -> Option<DateTime<Utc>> {
        self.pending.map(|pending| pending.since)
    }

    /// Takes the time; what is asked for next counts from here.
    pub fn tick(&mut self, now: DateTime<Utc>) {
        self.now = now;
    }

    /// Shows another sandbox in the folder it was left in, or none.
    pub fn show(&mut self, sandbox: Option<(SandboxRef, String, SandboxPath)>) -> Vec<Intent> {
        let Some((sandbox, name, work_dir)) = sandbox else {
            self.place = None;
            self.forget();
            return Vec::new();
        };
        if let Some(place) = self.place.as_mut().filter(|p| p.sandbox == sandbox) {
            (place.name, place.work_dir) = (name, work_dir);
            return Vec::new();
        }
        let folder = self.folders.get(&sandbox).unwrap_or(&work_dir).clone();
        self.place = Some(SandboxFolder {
            sandbox,
            name,
            work_dir,
            folder: folder.clone(),
            shows: Shows::Folder,
        });
        self.go(folder)
    }

    /// Lists again what an engine could not see while the sandbox was paused.
    pub fn resumed(&mut self) -> Vec<Intent> {
        let refused = self.failure().map(|failure| failure.kind) == Some(FailureKind::Conflict);
        if refused && self.pending.is_none() {
            return self.list();
        }
        Vec::new()
    }

    /// Does what a key asks for; `page` is how many rows of the list are on screen.
    pub fn on_action(&mut self, action: Action, page: usize) -> Vec<Intent> {
        self.page = page;
        let len = self.listing.len();
        if self.cursor.on_action(action, len, page) {
            return self.ask_missing_preview();
        }
        match action {
            Action::Open => self.open(),
            Action::Ascend => self.ascend(),
            Action::GoWorkDir => self.go_work_dir(),
            Action::Changes => self.toggle_changes(),
            Action::PreviewDown => self.turn_preview(PREVIEW_STEP),
            Action::PreviewUp => self.turn_preview(-PREVIEW_STEP),
            Action::Refresh => self.list(),
            Action::ToggleHidden => self.choose(Listing::toggle_hidden),
            Action::Mark => self.mark(),
            Action::InvertMarks => self.choose(Listing::invert_marks),
            Action::ClearMarks => self.choose(Listing::clear_marks),
            Action::Back => self.back(),
            Action::EditFile => self.edit(),
            Action::Copy => self.copy_path(),
            Action::CopyAll => self.copy_paths(),
            // What needs a question first; all else belongs to other panes.
            _ => self.ask(action),
        }
    }

    /// Takes a reply to what the pane asked for.
    pub fn on_reply(&mut self, asked: &FilesReply, outcome: Result<Reply, Failure>) -> Vec<Intent> {
        match (asked, outcome) {
            (FilesReply::Folder(sandbox, path), Ok(Reply::Entries(entries))) => {
                self.listed(sandbox, path, Ok(entries))
            }
            (FilesReply::Folder(sandbox, path), Err(failure)) => {
                self.listed(sandbox, path, Err(failure))
            }
            (FilesReply::Changes(sandbox), Ok(Reply::Changes(changes))) => {
                self.changes_listed(sandbox, Ok(*changes))
            }
            (FilesReply::Changes(sandbox), Err(failure)) => {
                self.changes_listed(sandbox, Err(failure))
            }
            (_, Ok(_)) => Vec::new(),
        }
    }

    /// Takes the entries of a folder; those of one that was left are ignored.
    pub fn listed(
        &mut self,
        sandbox: &SandboxRef,
        path: &SandboxPath,
        outcome: Result<Vec<FileEntry>, Failure>,
    ) -> Vec<Intent> {
        let place = self.place.as_ref();
        let is_asked = |p: &SandboxFolder| {
            p.sandbox == *sandbox && p.folder == *path && p.shows == Shows::Folder
        };
        if !place.is_some_and(is_asked) {
            return Vec::new();
        }
        self.take_listing(outcome)
    }

    fn take_listing(&mut self, outcome: Result<Vec<FileEntry>, Failure>) -> Vec<Intent> {
        let pending = self.pending.take();
        let mut intents = match outcome {
            Ok(entries) => self.take_entries(entries),
            Err(failure) => self.take_failure(failure, pending),
        };
        if pending.is_some_and(|pending| pending.is_stale) && self.pending.is_none() {
            intents.extend(self.list());
        }
        intents
    }

    /// Takes the answer to an `Intent::Preview`, and asks for the next when the selection has moved on.
    pub fn previewed(
        &mut self,
        sandbox: &SandboxRef,
        path: &SandboxPath,
        outcome: Result<(Vec<u8>, bool), Failure>,
    ) -> Vec<Intent> {
        if self.place.as_ref().is_none_or(|p| p.sandbox != *sandbox) {
            return Vec::new();
        }
        if self.peek.asked.as_ref() == Some(path) {
            self.peek.asked = None;
        }
        if self.file_to_preview().as_ref() == Some(path) {
            let old = self.peek.preview.take().filter(|old| old.path == *path);
            self.peek.preview = Some(Preview {
                path: path.clone(),
                content: outcome.map(|(bytes, is_cut)| Content::new(bytes, is_cut)),
                offset: old.map_or(0, |old| old.offset),
            });
        }
        self.ask_missing_preview()
    }

    /// Lists again, because something in the sandbox was changed; many changes at once ask once.
    pub fn changed(&mut self) -> Vec<Intent> {
        match &mut self.pending {
            Some(pending) => pending.is_stale = true,
            None => return self.list(),
        }
        Vec::new()
    }

    /// Takes how many rows of the list are on screen.
    pub fn set_page(&mut self, page: usize) {
        self.page = page;
        self.cursor.clamp(self.listing.len(), page);
    }

    /// Moves the list under the mouse wheel.
    pub fn scroll(&mut self, lines: isize) -> Vec<Intent> {
        self.cursor.scroll(lines, self.listing.len(), self.page);
        self.ask_missing_preview()
    }

    fn turn_preview(&mut self, lines: isize) -> Vec<Intent> {
        self.scroll_preview(lines);
        Vec::new()
    }

    /// Moves the preview under the mouse wheel.
    pub fn scroll_preview(&mut self, lines: isize) {
        if let Some(preview) = &mut self.peek.preview {
            let last = preview.content.as_ref().map_or(0, Content::len);
            let moved = preview.offset.saturating_add_signed(lines);
            preview.offset = moved.min(last.saturating_sub(1));
        }
    }

    /// Selects what is drawn in a row of the list.
    pub fn click(&mut self, row: usize) -> Vec<Intent> {
        let len = self.listing.len();
        if let Some(row) = self.cursor.row_at(row, len) {
            self.cursor.select(row, len, self.page);
        }
        self.ask_missing_preview()
    }
}
