//! The only door to sandboxes: one trait, and the contract that every engine keeps.
//!
//! # The contract
//!
//! The clauses are tests (`tests/it/contract.rs`), run against every engine.
//!
//! 1. `create` returns a sandbox that `list` shows at once, with the spec's name, image and limits.
//! 2. `list` shows only sandboxes of ours; order is creation time, then id.
//! 3. Changes of phase are idempotent: the second call is `Ok`.
//! 4. An unknown id gives `NotFound`; a name in use gives `Conflict`; a bad image gives `ImageMissing` with a hint.
//! 5. `exec` keeps stdout and stderr apart, each in order; bytes arrive unchanged.
//! 6. Output is streamed: the first chunk arrives before the process ends.
//! 7. Exactly one `End`, last, with the true code; an unknown command is code 126 or 127, not an error.
//! 8. Standard input is delivered; closing it ends `cat`.
//! 9. `cancel` ends every process of the exec and gives `Cancelled`.
//! 10. `timeout` ends every process of the exec and gives `TimedOut` soon after the limit; output so far is kept.
//! 11. Removing a sandbox during an exec gives `Lost`; nothing hangs.
//! 12. Endless output with a consumer that stops reading does not grow memory.
//! 13. `samples`: the first within seconds, then about one a second, within the limits; the stream ends after a stop.
//! 14. Files: what is written is read again; names of any bytes survive.
//! 15. Trees go in and come out the same, with empty folders and links.
//! 16. Reading a directory or a missing file is an error of the right kind and says the name that was asked for. Writing
//!     makes the directories that are missing; if it fails, they go again.
//! 17. Limits hold: memory over the limit gives `OutOfMemory`, a fork bomb stops at the pids limit.
//! 18. The network is off unless asked for.
//! 19. Sessions keep directory and exported variables, also after a timeout.
//! 20. `remove` takes everything that `create` made; a failed `create` leaves nothing.
//! 21. `processes` tells what runs in a sandbox and not the look itself; one that does not run is a `Conflict`.
//! 22. `changes` tells what was added or changed in the work directory since the start, says where it looked and what it
//!     could not see; looking changes nothing.
//! 23. `images` holds the image of every sandbox that was made.
//! 24. An engine that keeps package sets shows one to any number of sandboxes, and lists it as complete only after `complete_package_set`.
//! 25. `disk_use` tells what the files in the work directory take, and is no use of the sandbox.
//! 26. A paused sandbox can be looked at: its processes, the files of its work directory, its changes. Nothing leads out of
//!     it then either, and what an engine does not see it says.
//! 27. Looking at a sandbox (its files, processes, changes, details, stats) is no use of it: no event tells of a command.
//!
//! Engines start no background task: what they return is driven by whoever polls it, so dropping it ends the work.

mod cgroup_usage;
pub mod demo;
pub mod docker;
mod error;
mod filter;
mod guest;
mod host_mounts;
pub mod local;
mod posture;
mod sampler;
mod unfold;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;

pub use error::{EngineError, Result};
pub(crate) use unfold::unfold;

use crate::domain::{
    Attempt, Changes, Check, Details, EngineEvent, EngineInfo, EngineKind, ExecEnd, ExecId,
    ExecSpec, Execs, FileEntry, Image, OutputChunk, PackageSet, Process, Sample, Sandbox,
    SandboxId, SandboxPath, SandboxSpec, TreeItem, TtySize,
};
use crate::protocol::{FileOp, Leftover, LifecycleOp, SessionInfo};

/// Bytes of one file on their way.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// A file tree on its way.
pub type TreeStream = BoxStream<'static, Result<TreeItem>>;

/// Where a process's standard input is written; shutting it down is its end.
pub type ExecStdin = Box<dyn AsyncWrite + Send + Unpin>;

/// An engine chosen at run time.
pub type SharedEngine = Arc<dyn Engine>;

/// A word on how a slow step goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What is going on.
    pub text: String,
    /// Bytes done.
    pub done: u64,
    /// Bytes in all, if known.
    pub total: Option<u64>,
}

/// Takes notes; when nobody keeps up, notes are dropped, not waited for.
#[derive(Debug, Clone)]
pub struct Notes(Option<mpsc::Sender<Note>>);

impl Notes {
    /// Sends notes to a channel.
    #[must_use]
    pub fn to(sender: mpsc::Sender<Note>) -> Self {
        Self(Some(sender))
    }

    /// Throws notes away.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Passes a note on if there is room for it.
    pub fn send(&self, text: impl Into<String>, done: u64, total: Option<u64>) {
        if let Some(sender) = &self.0 {
            // A full channel means that the reader is busy drawing older notes; losing this one is harmless.
            let _ = sender.try_send(Note {
                text: text.into(),
                done,
                total,
            });
        }
    }
}

/// What a running exec yields.
#[derive(Debug, Clone, PartialEq)]
pub enum ExecItem {
    /// Output.
    Chunk(OutputChunk),
    /// The end; exactly one, always last.
    End(ExecEnd),
}

/// A process that runs in a sandbox, driven by reading `items`.
pub struct RunningExec {
    /// Its output and its end.
    pub items: BoxStream<'static, ExecItem>,
    /// Its standard input, if piped or a terminal.
    pub stdin: Option<ExecStdin>,
    /// How the engine knows its terminal, for [`Engine::resize`].
    pub terminal: Option<String>,
}

/// What every engine can do. See the module for the contract.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// Tells which kind of engine this is.
    fn kind(&self) -> EngineKind;

    /// Asks whether it answers, and who it is.
    async fn info(&self) -> Result<EngineInfo>;

    /// Asks in the cheapest way whether it still answers.
    async fn ping(&self) -> Result<()> {
        self.info().await.map(drop)
    }

    /// Looks at everything that could make sandboxes weak or fail.
    async fn diagnose(&self) -> Vec<Check>;

    /// Lists the sandboxes.
    async fn list(&self) -> Result<Vec<Sandbox>>;

    /// Finds one of them by its id.
    async fn find(&self, id: &SandboxId) -> Result<Option<Sandbox>> {
        let listed = self.list().await?.into_iter();
        Ok(listed.into_iter().find(|one| one.reference.id == *id))
    }

    /// Lists those of a name, or, if there is none, those whose id begins so: without reading all the others, where an engine
    /// can do that.
    async fn named(&self, word: &str) -> Result<Vec<Sandbox>> {
        let mut listed = self.list().await?;
        let by_name = listed.iter().any(|one| one.name == word);
        listed.retain(|one| {
            if by_name {
                one.name == word
            } else {
                one.reference.id.as_str().starts_with(word)
            }
        });
        Ok(listed)
    }

    /// Lists the names of those that are ours.
    async fn names(&self) -> Result<Vec<String>> {
        let listed = self.list().await?.into_iter();
        let ours = listed.filter(|one| one.owner.is_some());
        Ok(ours.map(|one| one.name).collect())
    }

    /// Makes and starts a sandbox, or leaves nothing.
    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox>;

    /// Removes what an interrupted `create` of exactly this specification left.
    async fn discard(&self, spec: &SandboxSpec) -> Result<()>;

    /// Changes a phase.
    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()>;

    /// Tells everything about a sandbox.
    async fn inspect(&self, id: &SandboxId) -> Result<Details>;

    /// Tries from inside to get out of a running sandbox that was made like this, and to go beyond its limits.
    async fn attempts(&self, _id: &SandboxId, _spec: &SandboxSpec) -> Result<Vec<Attempt>> {
        Err(EngineError::unsupported("trying the walls of a sandbox"))
    }

    /// Tells who the processes of a sandbox are to the files of this machine, as user and group; `None` if that is not known.
    async fn host_user(&self, _id: &SandboxId, _user: &str) -> Option<(u32, u32)> {
        None
    }

    /// Lists the processes of a running sandbox, oldest first.
    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>>;

    /// Tells which files are not as they were when the sandbox was made, as far as the engine can see.
    async fn changes(&self, _id: &SandboxId) -> Result<Changes> {
        Err(EngineError::unsupported("telling which files have changed"))
    }

    /// Measures what the files in the work directory of a running sandbox take; slow, and no use of the sandbox.
    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64>;

    /// Lists the images that a sandbox can be made from without a pull, by name.
    async fn images(&self) -> Result<Vec<Image>>;

    /// Starts a process.
    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec>;

    /// Kills every process of an exec; its stream then ends with `Cancelled`.
    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()>;

    /// Tells which execs run in a sandbox, and how others ended that nobody may have followed to their end.
    async fn execs(&self, id: &SandboxId) -> Result<Execs>;

    /// Counts the commands that run in a sandbox, by whatever tool they were started.
    async fn running(&self, id: &SandboxId) -> Result<usize> {
        self.execs(id).await.map(|execs| execs.running.len())
    }

    /// Tells whether the engine itself was started after a moment; `false` if it cannot tell.
    async fn restarted_since(&self, _at: DateTime<Utc>) -> Result<bool> {
        Ok(false)
    }

    /// Finds what carries our label and belongs to no sandbox.
    async fn leftovers(&self) -> Result<Vec<Leftover>> {
        Ok(Vec::new())
    }

    /// Removes such a thing, if it still belongs to no sandbox.
    async fn remove_leftover(&self, leftover: &Leftover) -> Result<()> {
        let Leftover { kind, name, .. } = leftover;
        Err(EngineError::unsupported(format!(
            "removing the {kind} {name}"
        )))
    }

    /// Tells whether packages can be installed and kept.
    fn caches_packages(&self) -> bool {
        false
    }

    /// Names exactly what an image holds and for which platform; an image that is missing is pulled.
    async fn image_key(&self, image: &str, _notes: &Notes) -> Result<String> {
        Ok(image.to_owned())
    }

    /// Lists the package sets, finished or not, the oldest first.
    async fn package_sets(&self) -> Result<Vec<PackageSet>> {
        Ok(Vec::new())
    }

    /// Makes an empty package set, which is not complete yet.
    async fn create_package_set(&self, _new: &PackageSet) -> Result<()> {
        Err(EngineError::unsupported("keeping packages"))
    }

    /// Marks a package set as complete; the last thing that is done to it.
    async fn complete_package_set(&self, _done: &PackageSet) -> Result<()> {
        Ok(())
    }

    /// Removes a package set; one that a sandbox sees is a `Conflict`, one that is gone is fine.
    async fn remove_package_set(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Tells a terminal its new size.
    async fn resize(&self, _terminal: &str, _size: TtySize) -> Result<()> {
        Ok(())
    }

    /// Streams live stats until the sandbox stops.
    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>>;

    /// Counts the processes that the kernel refused to a sandbox at its limit since its start; `None` where nobody counts.
    async fn refused_processes(&self, _id: &SandboxId) -> Option<u64> {
        None
    }

    /// Streams what happens from now on; ends or fails when the engine goes away.
    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>>;

    /// Tells what happened since a moment, as far as the engine remembers.
    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>>;

    /// Does small work on files; `List` and `Stat` return what they found.
    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>>;

    /// Tells whether a file is there, in the cheapest way that the engine has.
    async fn has_file(&self, id: &SandboxId, path: &SandboxPath) -> bool {
        self.file(id, &FileOp::Stat(path.clone())).await.is_ok()
    }

    /// Reads a file, at most `limit` bytes of it.
    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream>;

    /// Replaces a file at once when `content` has ended well; until then, and on any error, the old file stays. Missing
    /// directories above it are made.
    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()>;

    /// Reads a file or folder as a tree whose root is `path`.
    async fn pack(&self, _id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        Err(EngineError::unsupported(format!("copying {path}")))
    }

    /// Writes a tree so that its root becomes `path`; missing directories above it are made.
    async fn unpack(&self, _id: &SandboxId, path: &SandboxPath, _tree: TreeStream) -> Result<()> {
        Err(EngineError::unsupported(format!("copying to {path}")))
    }

    /// Lists named sessions; an engine without any lists none.
    async fn sessions(&self, _id: &SandboxId) -> Result<Vec<SessionInfo>> {
        Ok(Vec::new())
    }

    /// Forgets a named session.
    async fn drop_session(&self, _id: &SandboxId, name: &str) -> Result<()> {
        Err(EngineError::not_found(format!("the session {name}")))
    }
}
