//! What a sandbox has done to its files since it was made.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FileKind, SandboxPath};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Its content, mode or owner is another.
    Changed,
    /// It is there no more.
    Deleted,
}

impl ChangeKind {
    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }

    /// Returns the letter that `diff` tools use.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Changed => 'C',
            Self::Deleted => 'D',
        }
    }
}

/// One file that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub path: SandboxPath,
    /// What became of it.
    pub kind: ChangeKind,
    /// What it is now, if the engine can tell.
    pub now: Option<ChangedFile>,
}

/// What is known of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// What it is.
    pub kind: FileKind,
    /// Bytes in it.
    pub size: u64,
    /// When its content last changed.
    pub modified_at: DateTime<Utc>,
}

/// Everything that is not as it was when the sandbox was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The files, by path.
    pub files: Vec<Change>,
    /// How many more there are than are listed.
    pub left_out: u64,
    /// The places that were looked at.
    pub looked_at: Vec<String>,
    /// What could not be told, and why, in words.
    pub gaps: Vec<String>,
}

impl Changes {
    /// Most files that are listed.
    pub const MOST: usize = 5_000;

    /// Sorts by path and leaves out what is too much.
    #[must_use]
    pub fn tidied(mut self) -> Self {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        let over = self.files.len().saturating_sub(Self::MOST);
        self.files.truncate(Self::MOST);
        self.left_out += over as u64;
        self
    }

    /// Counts the files of a kind.
    #[must_use]
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.files.iter().filter(|file| file.kind == kind).count()
    }
}
