//! What is selected, shown, marked and looked into.

use super::{FilesState, Listing};
use crate::app::intent::Intent;
use crate::domain::{FileEntry, FileKind, SandboxPath};
use crate::text::safe_line;

impl FilesState {
    /// Changes what is shown or marked.
    pub(super) fn choose(&mut self, change: impl FnOnce(&mut Listing)) -> Vec<Intent> {
        self.reselect(change);
        self.ask_missing_preview()
    }

    /// Changes what is shown and keeps the selection on its name.
    pub(super) fn reselect(&mut self, change: impl FnOnce(&mut Listing)) {
        let name = self.selected().map(|entry| entry.name.clone());
        change(&mut self.listing);
        let kept = name.and_then(|name| self.listing.row_of(&name));
        let row = kept.unwrap_or(self.cursor.selected());
        self.cursor.select(row, self.listing.len(), self.page);
    }

    pub(super) fn mark(&mut self) -> Vec<Intent> {
        if let Some(name) = self.selected().map(|entry| entry.name.clone()) {
            self.listing.toggle_mark(&name);
            self.cursor.down(self.listing.len(), self.page);
        }
        self.ask_missing_preview()
    }

    pub(super) fn back(&mut self) -> Vec<Intent> {
        if self.listing.filter().is_empty() {
            return match (self.shows_changes(), self.listing.marked_count()) {
                (true, 0) => self.toggle_changes(),
                _ => self.choose(Listing::clear_marks),
            };
        }
        self.choose(|listing| listing.set_filter(""))
    }

    pub(super) fn copy_path(&self) -> Vec<Intent> {
        let path = self.selected_path();
        // A line break in a name must not run a command where it is pasted.
        path.map(|path| vec![Intent::Copy(safe_line(path.as_bytes()))])
            .unwrap_or_default()
    }

    /// Copies the paths of what is marked, else of all that is shown.
    pub(super) fn copy_paths(&self) -> Vec<Intent> {
        let line = |entry| {
            self.path_of(entry)
                .map(|path| safe_line(path.as_bytes()))
                .unwrap_or_default()
        };
        let lines: Vec<String> = match self.listing.marked_count() {
            0 => self.listing.rows(0).map(line).collect(),
            _ => self.listing.marked().map(line).collect(),
        };
        if lines.is_empty() {
            return Vec::new();
        }
        vec![Intent::Copy(lines.join("\n"))]
    }

    /// Returns where an entry is; `None` for a name that no file can have.
    pub(super) fn path_of(&self, entry: &FileEntry) -> Option<SandboxPath> {
        let folder = &self.place.as_ref()?.folder;
        if self.shows_changes() {
            return SandboxPath::root().join(&entry.name).ok();
        }
        let path = folder.join(&entry.name).ok()?;
        (path.file_name() == entry.name).then_some(path)
    }

    pub(super) fn selected_path(&self) -> Option<SandboxPath> {
        self.path_of(self.selected()?)
    }

    /// Only regular files: reading a pipe or device may wait for ever.
    pub(super) fn file_to_preview(&self) -> Option<SandboxPath> {
        let entry = self.selected().filter(|e| e.kind == FileKind::File)?;
        self.path_of(entry)
    }

    /// Asks for a preview of the selected file unless it is there.
    pub(super) fn ask_missing_preview(&mut self) -> Vec<Intent> {
        self.drop_other_preview();
        if self.peek.preview.is_some() {
            return Vec::new();
        }
        self.ask_preview()
    }

    pub(super) fn drop_other_preview(&mut self) {
        let file = self.file_to_preview();
        let preview = self.peek.preview.take();
        self.peek.preview = preview.filter(|preview| Some(&preview.path) == file.as_ref());
    }

    pub(super) fn ask_preview(&mut self) -> Vec<Intent> {
        let (Some(place), Some(path)) = (&self.place, self.file_to_preview()) else {
            return Vec::new();
        };
        if self.peek.asked.is_some() {
            return Vec::new();
        }
        self.peek.asked = Some(path.clone());
        let sandbox = place.sandbox.clone();
        vec![Intent::Preview { sandbox, path }]
    }
}
