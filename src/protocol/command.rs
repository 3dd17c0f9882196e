//! What a front end may ask of the manager.

use std::path::PathBuf;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::domain::{
    ExecSpec, HostName, RequestId, SandboxPath, SandboxRef, SandboxSpec, StreamId, TtySize,
};

/// A command with the id that its one reply will carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Chosen by the front end, unique in its session.
    pub id: RequestId,
    /// What to do.
    pub command: Command,
}

/// Everything the manager can do.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// List the sandboxes of all hosts.
    Refresh,
    /// Make and start a sandbox.
    Create {
        /// Where.
        host: HostName,
        /// What.
        spec: Box<SandboxSpec>,
    },
    /// Change the phase of a sandbox.
    Act {
        /// Which.
        sandbox: SandboxRef,
        /// How.
        action: Action,
    },
    /// Tell everything about a sandbox.
    Inspect(SandboxRef),
    /// Run a command; output and end come as events of `stream`.
    Exec {
        /// Where.
        sandbox: SandboxRef,
        /// The id of its stream.
        stream: StreamId,
        /// What.
        spec: Box<ExecSpec>,
    },
    /// Read a file; its bytes and end come as events of `stream`.
    ReadFile {
        /// Where.
        sandbox: SandboxRef,
        /// The id of its stream.
        stream: StreamId,
        /// Which file.
        path: SandboxPath,
        /// Stop after this many bytes.
        limit: Option<u64>,
    },
    /// Replace a file by what `Input` brings until `EndInput`; the end comes as an event of `stream`.
    WriteFile {
        /// Where.
        sandbox: SandboxRef,
        /// The id of its stream.
        stream: StreamId,
        /// Which file.
        path: SandboxPath,
        /// Permission bits of a new file.
        mode: Option<u32>,
    },
    /// Send bytes to a stream.
    Input {
        /// Which.
        stream: StreamId,
        /// What.
        bytes: Bytes,
    },
    /// Say that no more input comes.
    EndInput(StreamId),
    /// Tell the terminal of an exec its new size.
    Resize {
        /// Which.
        stream: StreamId,
        /// The size.
        size: TtySize,
    },
    /// End a stream; an exec's whole process tree is killed.
    Cancel(StreamId),
    /// Work on files.
    File {
        /// Where.
        sandbox: SandboxRef,
        /// What.
        op: FileOp,
    },
    /// Copy a host file or folder into a sandbox.
    CopyIn {
        /// Where.
        sandbox: SandboxRef,
        /// From the host.
        from: PathBuf,
        /// To exactly this path.
        to: SandboxPath,
    },
    /// Copy a file or folder out of a sandbox.
    CopyOut {
        /// Where.
        sandbox: SandboxRef,
        /// From the sandbox.
        from: SandboxPath,
        /// To exactly this path.
        to: PathBuf,
    },
    /// List the named sessions of a sandbox.
    Sessions(SandboxRef),
    /// Forget a named session.
    DropSession {
        /// Where.
        sandbox: SandboxRef,
        /// Which.
        name: String,
    },
    /// Tell what happened since a moment.
    History {
        /// From when on.
        since: DateTime<Utc>,
    },
    /// Keep sending events on a topic, across restarts of the engine.
    Watch(Topic),
    /// Check the engine of a host.
    Diagnose(HostName),
}

/// Changes of phase; each is idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Start a stopped one.
    Start,
    /// End its processes, politely first.
    Stop,
    /// Stop and start.
    Restart,
    /// End its processes at once.
    Kill,
    /// Freeze.
    Pause,
    /// Thaw.
    Resume,
    /// Remove it and all it owns.
    Remove {
        /// Also while it runs.
        force: bool,
    },
}

impl Action {
    /// Returns the verb for messages.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Remove { .. } => "remove",
        }
    }
}

/// Small work on files that ends in one reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// List a directory.
    List(SandboxPath),
    /// Look at one file, not through a final link.
    Stat(SandboxPath),
    /// Make a directory and the ones above it.
    MakeDir(SandboxPath),
    /// Move a file or directory.
    Rename {
        /// From.
        from: SandboxPath,
        /// To.
        to: SandboxPath,
    },
    /// Delete a file, or a directory with all below it.
    Delete {
        /// Which.
        path: SandboxPath,
        /// Also a directory that is not empty.
        recursive: bool,
    },
}

/// What can be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// Happenings, with the whole list after each change.
    Happenings,
    /// Live figures of these sandboxes, or of all running ones.
    Samples(Option<Vec<SandboxRef>>),
}
