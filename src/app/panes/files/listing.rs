//! What a folder holds: sorted once, and filtered as indices, so that thousands of files stay fast.

use std::collections::{HashMap, HashSet};

use super::order::natural;
use crate::domain::{ChangeKind, FileEntry, FileKind};

/// The entries of one folder and which of them are shown.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Folders first, each part in natural order.
    entries: Vec<FileEntry>,
    /// Indices of the entries that are shown.
    shown: Vec<usize>,
    shows_hidden: bool,
    filter: String,
    /// Names of marked entries, shown or not.
    marks: HashSet<Vec<u8>>,
    /// What became of the entries, where changes are listed.
    kinds: HashMap<Vec<u8>, ChangeKind>,
}

impl Listing {
    /// Returns how many entries there are, shown or not.
    #[must_use]
    pub fn total(&self) -> usize {
        self.entries.len()
    }

    /// Returns how many entries are shown.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Tells whether nothing is shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Returns a shown entry by its row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&FileEntry> {
        self.entries.get(*self.shown.get(row)?)
    }

    /// Returns the shown entries from a row on.
    pub fn rows(&self, from: usize) -> impl Iterator<Item = &FileEntry> {
        let shown = self.shown.get(from..).unwrap_or_default();
        shown.iter().filter_map(|index| self.entries.get(*index))
    }

    /// Finds an entry by its name, shown or not.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<&FileEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Finds the row of a shown entry by its name.
    #[must_use]
    pub fn row_of(&self, name: &[u8]) -> Option<usize> {
        self.rows(0).position(|entry| entry.name == name)
    }

    /// Returns what the names are filtered by; empty for no filter.
    #[must_use]
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Tells whether names that start with a dot are shown.
    #[must_use]
    pub fn shows_hidden(&self) -> bool {
        self.shows_hidden
    }

    /// Tells whether an entry is marked.
    #[must_use]
    pub fn is_marked(&self, name: &[u8]) -> bool {
        self.marks.contains(name)
    }

    /// Returns what became of an entry, where changes are listed.
    #[must_use]
    pub fn kind_of(&self, name: &[u8]) -> Option<ChangeKind> {
        self.kinds.get(name).copied()
    }

    /// Returns how many entries are marked.
    #[must_use]
    pub fn marked_count(&self) -> usize {
        self.marks.len()
    }

    /// Returns the marked entries in order, shown or not.
    pub fn marked(&self) -> impl Iterator<Item = &FileEntry> {
        self.entries
            .iter()
            .filter(|entry| self.is_marked(&entry.name))
    }

    /// Takes what the folder holds now; marks of files that are gone are forgotten.
    pub(super) fn replace(&mut self, mut entries: Vec<FileEntry>) {
        entries.sort_by(|a, b| {
            let files_last = is_file(a).cmp(&is_file(b));
            files_last.then_with(|| natural(&a.name, &b.name))
        });
        self.entries = entries;
        if !self.marks.is_empty() {
            let marked = std::mem::take(&mut self.marks);
            let names = self.entries.iter().map(|entry| &entry.name);
            self.marks = names.filter(|n| marked.contains(*n)).cloned().collect();
        }
        self.choose();
    }

    pub(super) fn set_kinds(&mut self, kinds: Vec<(Vec<u8>, ChangeKind)>) {
        self.kinds = kinds.into_iter().collect();
    }

    /// Forgets all but what the user chose for every folder.
    pub(super) fn clear(&mut self) {
        *self = Self {
            shows_hidden: self.shows_hidden,
            ..Self::default()
        };
    }

    pub(super) fn toggle_hidden(&mut self) {
        self.shows_hidden = !self.shows_hidden;
        self.choose();
    }

    pub(super) fn set_filter(&mut self, filter: &str) {
        filter.clone_into(&mut self.filter);
        self.choose();
    }

    pub(super) fn toggle_mark(&mut self, name: &[u8]) {
        if !self.marks.remove(name) {
            self.marks.insert(name.to_vec());
        }
    }

    /// Inverts the marks of what is shown.
    pub(super) fn invert_marks(&mut self) {
        let names: Vec<Vec<u8>> = self.rows(0).map(|entry| entry.name.clone()).collect();
        for name in names {
            self.toggle_mark(&name);
        }
    }

    pub(super) fn clear_marks(&mut self) {
        self.marks.clear();
    }

    fn choose(&mut self) {
        let wanted = self.filter.to_lowercase();
        let all = self.entries.iter().enumerate();
        self.shown = all
            .filter(|(_, entry)| self.shows_hidden || !is_hidden(entry))
            .filter(|(_, entry)| matches(entry, &wanted))
            .map(|(index, _)| index)
            .collect();
    }
}

/// Tells whether an entry's name starts with a dot.
#[must_use]
pub fn is_hidden(entry: &FileEntry) -> bool {
    entry.name.starts_with(b".")
}

fn is_file(entry: &FileEntry) -> bool {
    entry.kind != FileKind::Directory
}

fn matches(entry: &FileEntry, wanted: &str) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let name = String::from_utf8_lossy(&entry.name);
    name.to_lowercase().contains(wanted)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, folder};
    use super::*;

    fn names(listing: &Listing) -> Vec<String> {
        let name = |entry: &FileEntry| String::from_utf8_lossy(&entry.name).into_owned();
        listing.rows(0).map(name).collect()
    }

    fn listing() -> Listing {
        let mut listing = Listing::default();
        listing.replace(vec![
            file("f10"),
            file(".rc"),
            folder("src"),
            file("F2"),
            folder("bin"),
        ]);
        listing
    }

    #[test]
    fn folders_come_first_and_dots_are_hidden() {
        let mut listing = listing();
        assert_eq!(names(&listing), ["bin", "src", "F2", "f10"]);
        listing.toggle_hidden();
        assert_eq!(names(&listing), ["bin", "src", ".rc", "F2", "f10"]);
        assert_eq!((listing.len(), listing.total()), (5, 5));
    }

    #[test]
    fn the_filter_ignores_case_and_keeps_the_order() {
        let mut listing = listing();
        listing.set_filter("f");
        assert_eq!(names(&listing), ["F2", "f10"]);
        listing.set_filter("(");
        assert!(listing.is_empty());
        listing.set_filter("");
        assert_eq!(listing.len(), 4);
    }

    #[test]
    fn marks_follow_names_and_go_with_the_file() {
        let mut listing = listing();
        listing.toggle_mark(b"f10");
        listing.toggle_mark(b"src");
        listing.replace(vec![file("f10"), file("f11")]);
        assert_eq!(listing.marked().count(), 1);
        listing.invert_marks();
        assert!(listing.is_marked(b"f11") && !listing.is_marked(b"f10"));
        listing.clear_marks();
        assert_eq!(listing.marked_count(), 0);
    }
}
