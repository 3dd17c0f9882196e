//! Who takes the reply to a request: success, failure and "too busy" come to the same place.

use chrono::{DateTime, Utc};

use super::ProgramRun;
use crate::domain::{SandboxPath, SandboxRef, StreamId};

/// A sandbox and its name; `None` is all sandboxes, also those that are gone.
pub type RunsOf = Option<(SandboxRef, String)>;

/// Who takes a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyTo {
    /// Nobody; only a failure is worth a word.
    Quiet,
    /// Nobody; success is worth a word too.
    Told,
    /// The list, which is read again: what one asked for oneself is seen as it is.
    Acted,
    /// The list, which selects the new sandbox.
    NewSandbox,
    /// The files pane.
    Files(FilesReply),
    /// Work on files: the next one starts.
    FileWork(Work),
    /// The view of a sandbox.
    Inspect {
        /// Of which.
        sandbox: SandboxRef,
        /// What of it.
        part: InspectPart,
    },
    /// The story of what happened before.
    PastEvents,
    /// The preview of reaping, which opens.
    ReapPreview,
    /// Whoever has had sandboxes reaped.
    Reap,
    /// The list of recorded runs.
    Runs {
        /// Whose.
        of: RunsOf,
        /// Is the list to be opened?
        opens: bool,
    },
    /// What other processes have under way.
    ForeignRuns,
    /// The form for a new sandbox, which offers images.
    Images,
    /// A buffer that is to be saved, if its file is as it was.
    BeforeSave(Box<Save>),
    /// A buffer that was saved, which learns when.
    AfterSave(SandboxRef, SandboxPath),
    /// A buffer that is to be loaded, which learns how old its file is.
    BeforeLoad(SandboxRef, SandboxPath),
    /// A program that is ready to run, or about which the policy says no.
    Prepared(Box<ProgramRun>),
    /// A buffer of the editor: what is known of its code.
    Analysis(u64),
    /// The panel of installed packages.
    Packages,
    /// Whoever reads or writes the stream that was opened.
    Stream(StreamId),
    /// Whoever sends input: a piece was taken.
    Input(StreamId),
}

/// What the files pane asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesReply {
    /// The entries of a folder.
    Folder(SandboxRef, SandboxPath),
    /// What has changed in a sandbox.
    Changes(SandboxRef),
}

/// What the view of a sandbox asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InspectPart {
    /// What it is and what isolates it.
    Details,
    /// What runs in it.
    Processes,
    /// What it did to its files.
    Changes,
}

/// Work on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Something is made, renamed or deleted.
    Change,
    /// Something is copied into a sandbox.
    CopyIn,
    /// Something is copied out of one.
    CopyOut,
}

/// A buffer to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Save {
    /// Where.
    pub sandbox: SandboxRef,
    /// Which file.
    pub path: SandboxPath,
    /// The content.
    pub text: String,
    /// What must be there now.
    pub expect: Expect,
}

/// What must be at a path before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Whatever it is, it is replaced.
    Anything,
    /// Nothing.
    Nothing,
    /// A file that was last changed then.
    Unchanged(DateTime<Utc>),
}

impl Expect {
    /// Expects a file as it is known; one of which nothing is known may be as it likes.
    #[must_use]
    pub fn of(known: Option<DateTime<Utc>>) -> Self {
        known.map_or(Self::Anything, Self::Unchanged)
    }
}
