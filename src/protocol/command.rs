//! What a front end may ask of the manager.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::{Place, Program};
use crate::domain::{
    ExecId, ExecSpec, HostName, ReapRules, RequestId, Sandbox, SandboxPath, SandboxRef,
    SandboxSpec, StreamId, TtySize,
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
    /// List only those of a name, or, where no sandbox has it, those whose id begins so.
    Find(String),
    /// Make and start a sandbox.
    Create {
        /// Where.
        host: HostName,
        /// What.
        spec: Box<SandboxSpec>,
    },
    /// Make a sandbox, try to get out of it, and remove it.
    SelfTest {
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
        action: LifecycleOp,
    },
    /// Tell everything about a sandbox.
    Inspect(SandboxRef),
    /// List the processes of a sandbox.
    Processes(SandboxRef),
    /// Tell which files of a sandbox are not as they were.
    Changes(SandboxRef),
    /// List the images that a host has.
    Images(HostName),
    /// Run a command; output and end come as events of `stream`.
    Exec {
        /// Where.
        sandbox: SandboxRef,
        /// The id of its stream.
        stream: StreamId,
        /// What.
        spec: Box<ExecSpec>,
    },
    /// Get a program ready to run: packages, sandbox, file. The reply holds the command for `Exec`.
    Prepare {
        /// Where.
        place: Place,
        /// What.
        program: Box<Program>,
    },
    /// Tell what is known of a program before it runs.
    Analyse {
        /// Where it would run; without one, packages are only named.
        sandbox: Option<Box<Sandbox>>,
        /// What.
        program: Box<Program>,
    },
    /// List installed packages.
    ListPackages(HostName),
    /// Remove installed packages.
    RemovePackages {
        /// Of which host.
        host: HostName,
        /// Starts of their keys; none means all.
        keys: Vec<String>,
    },
    /// Remove installed packages that are too old or too much.
    PrunePackages(HostName),
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
        /// The most that is copied, else the limit of the settings.
        max_bytes: Option<u64>,
    },
    /// Copy a file or folder out of a sandbox.
    CopyOut {
        /// Where.
        sandbox: SandboxRef,
        /// From the sandbox.
        from: SandboxPath,
        /// To exactly this path.
        to: PathBuf,
        /// The most that is copied, else the limit of the settings.
        max_bytes: Option<u64>,
    },
    /// Stop a copy that is under way; nothing half-written is left, and its own reply says that it was cancelled.
    CancelRequest(RequestId),
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
    EventsSince {
        /// From when on.
        since: DateTime<Utc>,
    },
    /// List recorded runs, the newest first.
    Runs {
        /// Of which host.
        host: HostName,
        /// Which.
        filter: RunFilter,
    },
    /// Find one recorded run by a unique start of its id.
    FindRun {
        /// Of which host.
        host: HostName,
        /// The start of its id.
        id: String,
    },
    /// Show what a run printed; its output and end come as events of `stream`.
    ReadRun {
        /// Of which host.
        host: HostName,
        /// Which run.
        run: ExecId,
        /// The id of its stream.
        stream: StreamId,
        /// Up to now, or until it ends?
        upto: Upto,
    },
    /// End a run, whatever process holds it.
    CancelRun {
        /// Of which host.
        host: HostName,
        /// Which.
        run: ExecId,
    },
    /// List the sandboxes of a host, and tell how they stand, as far as that is on record.
    ReapStatuses {
        /// Which host.
        host: HostName,
        /// What decides over them.
        rules: ReapRules,
    },
    /// Tell what reaping would do, after a thorough look.
    PreviewReap {
        /// Which host.
        host: HostName,
        /// What decides.
        rules: ReapRules,
    },
    /// Reap.
    Reap {
        /// Which host.
        host: HostName,
        /// What decides.
        rules: ReapRules,
        /// Nothing else than these, and only those of them that are due.
        only: Option<Vec<SandboxRef>>,
    },
    /// Exempt a sandbox from reaping, or let it be reaped again.
    Pin {
        /// Which.
        sandbox: SandboxRef,
        /// Exempt?
        pinned: bool,
    },
    /// Tell what is remembered of a sandbox that is gone.
    Remember {
        /// Of which host.
        host: HostName,
        /// Its name, or the start of its id.
        name: String,
    },
    /// Keep sending events on a topic, across restarts of the engine.
    Watch(Topic),
    /// Check the engine of a host.
    Diagnose(HostName),
}

/// How long the output of a run is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upto {
    /// What there is.
    Now,
    /// Until the run has ended.
    End,
}

/// Which recorded runs are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Only of this sandbox: its name, or the start of its id.
    pub sandbox: Option<String>,
    /// Only those that have not ended.
    pub under_way: bool,
    /// At most so many, the newest.
    pub limit: u32,
}

/// Changes of phase; each is idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LifecycleOp {
    /// Start a stopped one.
    Start,
    /// End its processes, politely first.
    Stop,
    /// Stop and start.
    Restart,
    /// End its processes at once.
    Kill,
    /// Stop its processes where they are.
    Pause,
    /// Let them go on.
    Resume,
    /// Remove it and all it owns.
    Remove {
        /// Also while it runs.
        force: bool,
    },
}

impl LifecycleOp {
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
    /// Events of the engine, with the whole list after each change.
    Events,
    /// How sandboxes stand, every few seconds; with an interval, the reaper runs too.
    ReapStatuses {
        /// What decides over them.
        rules: ReapRules,
        /// Time between two rounds of the reaper; `None` for none.
        reap_every: Option<Duration>,
    },
    /// Live stats of these sandboxes, or of all running ones.
    Samples(Option<Vec<SandboxRef>>),
}
