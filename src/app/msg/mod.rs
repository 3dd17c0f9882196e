//! What `update` hears and what it asks of the shell around it.

mod download;
mod mouse;
mod recovered;
mod snippet;

use std::path::PathBuf;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::domain::RequestId;
use crate::keymap::Key;
use crate::protocol::{Event, Request};

pub use download::{Download, HostKind};
pub use mouse::{Mouse, MouseButton, MouseKind};
pub use recovered::{RecoveredBuffer, RecoveredOrigin};
pub use snippet::{SnippetNews, SnippetOp};

/// Something that happened, in the order it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal has a new size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// Time has passed.
    Tick(DateTime<Utc>),
    /// The manager tells something.
    Engine(Event),
    /// A request could not be handed over.
    Busy(RequestId),
    /// The person came back from `$EDITOR` with this text.
    Edited(Result<String, String>),
    /// A file of this machine was written, or not.
    SavedLocal(Result<String, NotSaved>),
    /// The names in a folder of this machine, those of folders with a slash.
    HostListed {
        /// Which folder.
        folder: PathBuf,
        /// The names, or why there are none.
        outcome: Result<Vec<String>, String>,
    },
    /// What is where a download is to go.
    HostChecked {
        /// What is to be copied.
        download: Box<Download>,
        /// What is at each of its places.
        found: Vec<HostKind>,
    },
    /// What came of work on the snippets.
    Snippet(SnippetNews),
    /// Buffers that a crash left behind.
    Recovered(Vec<RecoveredBuffer>),
    /// The process was asked to end.
    Quit,
}

/// Why a file of this machine was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSaved {
    /// There is one of that name, and nobody said that it may be replaced.
    Exists {
        /// Where.
        path: String,
        /// What was to be written.
        bytes: Bytes,
    },
    /// For another reason.
    Failed(String),
}

/// Something the shell around the core must do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send a request to the manager.
    Submit(Request),
    /// Put text on the clipboard.
    Copy(String),
    /// Let the person edit text in `$EDITOR`.
    EditExternally {
        /// The text.
        text: String,
        /// The ending of the file, so that the editor knows the language.
        extension: String,
    },
    /// Write a file of this machine.
    SaveLocal {
        /// Where.
        path: String,
        /// What.
        bytes: Bytes,
        /// May a file that is there be replaced?
        replace: bool,
    },
    /// List a folder of this machine, for completion.
    ListHost {
        /// Which.
        folder: PathBuf,
    },
    /// Look what is where a download is to go.
    CheckHost(Box<Download>),
    /// Work on the snippets.
    Snippet(SnippetOp),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Ring the terminal's bell.
    Bell,
    /// Go back to the shell until continued.
    Suspend,
    /// Keep unsaved buffers where a crash does not reach them.
    Recovery(Vec<RecoveredBuffer>),
    /// End the program.
    Quit,
}
