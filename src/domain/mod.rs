//! The nouns of sandtop: what a sandbox, an exec, a sample and a file are, without any I/O.

mod exec;
mod file;
mod happening;
mod host;
mod ids;
mod posture;
mod sandbox;
mod stats;

pub use exec::{Ended, ExecEnd, ExecSpec, OutputChunk, StdinMode, StreamKind, TtySize};
pub use file::{FileEntry, FileKind, PathError, SandboxPath, TreeItem};
pub use happening::{Happening, What};
pub use host::{Check, CheckLevel, EngineInfo, EngineKind};
pub use ids::{
    ExecId, HostName, NameError, RequestId, SandboxId, SandboxName, SandboxRef, StreamId,
};
pub use posture::{Death, Details, MountInfo, Posture};
pub use sandbox::{Access, Limits, Mount, MountError, Network, Owner, Phase, Sandbox, SandboxSpec};
pub use stats::{CounterSample, CpuCounters, Sample};
