//! What the manager tells a front end.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Analysis, Denied, Failure, Prepared};
use crate::domain::{
    CachedPackages, Changes, Check, Death, Details, EngineEvent, EngineInfo, ExecEnd, FileEntry,
    HostName, Image, LastEnd, OutputChunk, Process, ReapStatus, Reaped, RemovedPackages, RequestId,
    Run, Sample, Sandbox, SandboxRef, SelfTest, StreamId,
};

/// Something the front end should know.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The one answer to a request.
    Replied {
        /// Which.
        request: RequestId,
        /// How it went.
        outcome: Result<Reply, Failure>,
    },
    /// How far a slow request is.
    Progress {
        /// Which.
        request: RequestId,
        /// What is going on.
        note: String,
        /// Bytes done.
        done: u64,
        /// Bytes in all, if known.
        total: Option<u64>,
    },
    /// The whole list of one host; it replaces what was known.
    Sandboxes {
        /// Which host.
        host: HostName,
        /// Its sandboxes.
        sandboxes: Vec<Sandbox>,
    },
    /// Live stats of one moment; some may be left out when the front end is slow.
    Sampled(Vec<(SandboxRef, Sample)>),
    /// Something happened to a sandbox.
    Engine(EngineEvent),
    /// Output of a stream, in order.
    Output {
        /// Which.
        stream: StreamId,
        /// The bytes.
        chunk: OutputChunk,
    },
    /// The last word on a stream, exactly once.
    Ended {
        /// Which.
        stream: StreamId,
        /// How it ended, or why it failed.
        outcome: Result<ExecEnd, Failure>,
        /// How long it took.
        took: Duration,
    },
    /// Something is wrong that does not stop anything; told once.
    Notice(Failure),
    /// Output of a run is missing here, so much of it.
    Missing {
        /// Of which stream.
        stream: StreamId,
        /// Bytes that were not kept.
        bytes: u64,
    },
    /// How the sandboxes of a host stand now.
    ReapStatuses {
        /// Which host.
        host: HostName,
        /// How they stand.
        reap_statuses: Vec<ReapStatus>,
    },
    /// What the reaper did by itself.
    Reaped(Vec<Reaped>),
    /// The connection to a host changed.
    Link {
        /// Which host.
        host: HostName,
        /// How it stands.
        link: Link,
    },
}

/// How the connection to a host stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// It answers.
    Up(EngineInfo),
    /// It does not; another try follows.
    Down {
        /// Since when.
        since: DateTime<Utc>,
        /// When it is tried again.
        retry_in: Duration,
        /// Why.
        why: Failure,
    },
}

/// The good outcomes of requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It is done.
    Done,
    /// The stream is open.
    Opened,
    /// The sandboxes of all hosts that answer.
    Sandboxes(Vec<Sandbox>),
    /// The new sandbox.
    Created(Box<Sandbox>),
    /// What trying the walls of a new sandbox has found; it is gone again.
    SelfTested(Box<SelfTest>),
    /// The program can start.
    Prepared(Box<Prepared>),
    /// The policy stands against the program.
    Denied(Box<Denied>),
    /// What is known of a program before it runs.
    Analysis(Box<Analysis>),
    /// Installed packages, the last used first.
    PackageSets(Vec<CachedPackages>),
    /// Installed packages that were to be removed.
    PackagesRemoved(Vec<RemovedPackages>),
    /// Everything about a sandbox.
    Details(Box<Details>),
    /// The processes of a sandbox.
    Processes(Vec<Process>),
    /// What a sandbox has done to its files.
    Changes(Box<Changes>),
    /// The images available locally.
    Images(Vec<Image>),
    /// A directory.
    Entries(Vec<FileEntry>),
    /// One file.
    Entry(FileEntry),
    /// What was copied.
    Copied(Copied),
    /// The named sessions.
    Sessions(Vec<SessionInfo>),
    /// What happened.
    Events(Vec<EngineEvent>),
    /// Recorded runs.
    Runs(Vec<Run>),
    /// One recorded run.
    Run(Box<Run>),
    /// All sandboxes of a host, and in the same order how they stand.
    ReapStatuses(Vec<Sandbox>, Vec<ReapStatus>),
    /// What reaping found or did, and leftovers that go or went.
    Reaped(Vec<Reaped>, Vec<Leftover>),
    /// What is remembered of a sandbox that is gone.
    Epitaph(Option<Box<Epitaph>>),
    /// What `doctor` found.
    Checks(Vec<Check>),
}

/// Something that carries our label and belongs to no sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Leftover {
    /// What it is, such as `volume`.
    pub kind: String,
    /// What it is called.
    pub name: String,
}

/// What is remembered of a sandbox that is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Epitaph {
    /// Which.
    pub sandbox: SandboxRef,
    /// Its name.
    pub name: String,
    /// How it ended.
    pub death: Death,
    /// How its last run ended, if not well.
    pub last_end: Option<LastEnd>,
}

/// What a copy moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Copied {
    /// Files, folders and links.
    pub entries: u64,
    /// Bytes of file content.
    pub bytes: u64,
    /// Devices, pipes and sockets that were left out.
    pub skipped: u64,
    /// Files and folders that could not be read, and were left out.
    pub unreadable: u64,
    /// The names of the first of them, from the root of the copy on.
    pub unreadable_names: Vec<String>,
}

/// A named session of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Its name.
    pub name: String,
    /// Its working directory.
    pub work_dir: String,
    /// How many variables it keeps.
    pub variables: u64,
    /// When it was last used.
    pub used_at: DateTime<Utc>,
}
