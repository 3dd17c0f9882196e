//! The nouns of sandtop: what a sandbox, an exec, a sample and a file are, without any I/O.

mod adopt;
mod capacity;
mod change;
mod death;
mod engine_event;
mod exec;
mod file;
pub mod glob;
mod guard;
mod host;
mod ids;
mod image;
mod life;
mod merge_events;
mod package_set;
mod posture;
mod process;
mod run;
mod sandbox;
mod selftest;
mod size_hints;
mod stats;
mod worker;

pub use adopt::AdoptRules;
pub use capacity::{Amount, Capacity, Share};
pub use change::{Change, ChangeKind, ChangedFile, Changes};
pub use death::{Cause, Death, Evidence, Fault, Meant};
pub use engine_event::{EngineEvent, EngineEventKind};
pub use exec::{Ended, ExecEnd, ExecSpec, Execs, OutputChunk, StdinMode, StreamKind, TtySize};
pub use file::{FileEntry, FileKind, PathError, SandboxPath, TreeItem};
pub use guard::{Guard, GuardAction, GuardRule, GuardRules, Guarded, Turn};
pub use host::{Check, CheckLevel, EngineInfo, EngineKind};
pub use ids::{
    ExecId, HostName, NameError, RequestId, SandboxId, SandboxName, SandboxRef, StreamId,
};
pub use image::{HOST_IMAGE, Image};
pub use life::{
    Belongs, Facts, Grace, LastEnd, OwnerKind, ReapRules, ReapStatus, Reaped, Reason, Spared,
    Usage, Verdict, judge,
};
pub use merge_events::merge_events;
pub use package_set::{CachedPackages, PackageMount, PackageSet, RemovedPackages};
pub use posture::{Details, MountInfo, Posture};
pub use process::Process;
pub use run::{Code, Retention, Run, RunEnd, RunResult, Source, Spooled, Tie};
pub use sandbox::{Access, Limits, Mount, MountError, Network, Owner, Phase, Sandbox, SandboxSpec};
pub use selftest::{Attempt, Outcome, SelfTest, Wall};
pub use size_hints::{told_cores, with_size_hints};
pub use stats::{CounterSample, CpuCounters, Sample};
pub use worker::{WORKER_LABEL, WorkerKind};
