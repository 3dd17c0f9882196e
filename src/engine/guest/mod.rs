//! What every engine does through the guest program, however it reaches it: commands, files and sessions.
//!
//! An engine supplies a [`Transport`]: a way to start the guest in a sandbox with its streams attached. The rest is here, once:
//! the end mark and last words, time limits, cancelling, terminals, file trees.

mod attempts;
mod exec;
mod execs;
mod files;
mod followed;
#[cfg(test)]
mod fuzz;
mod introspect;
mod marks;
mod run;
mod terminal;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;

use super::{ByteStream, EngineError, ExecStdin, Result, RunningExec, TreeStream};
use crate::domain::{
    Attempt, Changes, ExecId, ExecSpec, Execs, FileEntry, OutputChunk, Process, SandboxId,
    SandboxPath, SandboxSpec, StdinMode, TtySize,
};
use crate::guest::wire::report::SessionLine;
use crate::guest::wire::{self, Call, Secret};
use crate::protocol::{FailureKind, FileOp, SessionInfo};
pub(super) use files::Held;
use followed::Followed;
use run::GuestRun;

/// How the guest's streams are attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stdio {
    /// Streams apart; standard input as asked.
    Pipes(StdinMode),
    /// One terminal of this size.
    Terminal(TtySize),
}

/// What to run in the sandbox.
pub(super) struct GuestCall {
    /// Verb and arguments.
    pub(super) words: Vec<String>,
    /// `KEY=VALUE` for it and its children.
    pub(super) env: Vec<String>,
    /// Another user than the sandbox's.
    pub(super) user: Option<String>,
    /// Its streams.
    pub(super) stdio: Stdio,
}

impl GuestCall {
    /// Describes a call that reads nothing.
    fn new(call: &Call) -> Self {
        Self {
            words: call.encode(),
            env: Vec::new(),
            user: None,
            stdio: Stdio::Pipes(StdinMode::Closed),
        }
    }
}

/// A guest that was started.
pub(super) struct Link {
    /// Its output, to its end however it came; everything of a terminal is standard output.
    pub(super) output: BoxStream<'static, OutputChunk>,
    /// Its input; kept as long as the output is read, because some connections end with it.
    pub(super) stdin: ExecStdin,
    /// How the engine knows it.
    pub(super) name: String,
}

/// A way to run the guest in sandboxes.
#[async_trait]
pub(super) trait Transport: Send + Sync + 'static {
    /// Starts the guest.
    async fn start(&self, id: &SandboxId, call: GuestCall) -> Result<Link>;

    /// Tells the exit code of a guest whose output has ended, by shell convention.
    async fn exit_code(&self, name: &str) -> Option<i32>;

    /// Tells whether the sandbox has processes.
    async fn is_live(&self, id: &SandboxId) -> bool;

    /// Tells whether a process was killed for memory since a moment, where the sandbox itself cannot know.
    async fn saw_oom(&self, id: &SandboxId, since: DateTime<Utc>) -> bool;

    /// Tells a terminal its size.
    async fn resize(&self, name: &str, size: TtySize) -> Result<()>;

    /// Explains what a guest printed that never came to its last words.
    fn explain(&self, printed: &str) -> Option<EngineError>;
}

/// The guests of one engine.
#[derive(Clone)]
pub(super) struct Guests {
    transport: Arc<dyn Transport>,
    followed: Followed,
}

impl Guests {
    /// Reaches guests over a transport.
    pub(super) fn new(transport: impl Transport) -> Self {
        Self {
            transport: Arc::new(transport),
            followed: Followed::default(),
        }
    }

    /// Starts a command.
    pub(super) async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        if let Some(session) = &spec.session {
            check_session(session)?;
        }
        match spec.tty {
            Some(size) => terminal::start(self.clone(), id, spec, size).await,
            None => exec::start(self.clone(), id, spec).await,
        }
    }

    /// Kills every process of an exec, on request.
    pub(super) async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        self.followed.cancel(exec);
        exec::kill(self, id, exec).await
    }

    /// Tells which execs run, and how others ended.
    pub(super) async fn execs(&self, id: &SandboxId) -> Result<Execs> {
        execs::list(self, id).await
    }

    /// Tells a terminal its size.
    pub(super) async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        self.transport.resize(terminal, size).await
    }

    /// Does small work on files.
    pub(super) async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        files::operate(self, id, op).await
    }

    /// Reads a file.
    pub(super) async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        files::read(self, id, path, limit).await
    }

    /// Replaces a file.
    pub(super) async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        files::write(self, id, path, mode, content).await
    }

    /// Reads a tree.
    pub(super) async fn pack(&self, id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        files::pack(self, id, path).await
    }

    /// Writes a tree.
    pub(super) async fn unpack(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        tree: TreeStream,
    ) -> Result<()> {
        files::unpack(self, id, path, tree).await
    }

    /// Has a place kept for a file that does not come through the guest.
    pub(super) async fn hold(&self, id: &SandboxId, path: &SandboxPath) -> Result<Held> {
        files::hold(self, id, path).await
    }

    /// Lists named sessions.
    pub(super) async fn sessions(&self, id: &SandboxId) -> Result<Vec<SessionInfo>> {
        let text = self.output(id, &Call::Sessions).await?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter_map(session).collect())
    }

    /// Forgets a named session.
    pub(super) async fn drop_session(&self, id: &SandboxId, name: &str) -> Result<()> {
        check_session(name)?;
        let call = Call::Forget(name.to_owned());
        self.output(id, &call).await.map(drop)
    }

    /// Lists processes as they are seen inside.
    pub(super) async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        introspect::processes(self, id).await
    }

    /// Measures the files of the work directory.
    pub(super) async fn size(&self, id: &SandboxId, work_dir: &SandboxPath) -> Result<u64> {
        introspect::size(self, id, work_dir).await
    }

    /// Adds files of the work directory and `/tmp` that are newer than the sandbox.
    pub(super) async fn add_changes(
        &self,
        id: &SandboxId,
        work_dir: &SandboxPath,
        changes: &mut Changes,
    ) -> Result<()> {
        introspect::add_changes(self, id, work_dir, changes).await
    }

    /// Asks the kernel, from inside, what it grants to processes there.
    pub(super) async fn probe(&self, id: &SandboxId) -> Result<HashMap<String, String>> {
        let text = self.output(id, &Call::Probe).await?;
        let text = String::from_utf8_lossy(&text);
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Ok(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
    }

    /// Tries the walls from inside.
    pub(super) async fn attempts(
        &self,
        id: &SandboxId,
        spec: &SandboxSpec,
    ) -> Result<Vec<Attempt>> {
        attempts::attempts(self, id, spec).await
    }

    /// Starts the guest with an end mark of its own.
    async fn start(&self, id: &SandboxId, mut call: GuestCall) -> Result<(GuestRun, ExecStdin)> {
        let word = random_word();
        let secret = Secret::parse(&word)
            .ok_or_else(|| EngineError::internal("no secret was made for the guest"))?;
        call.env.push(format!("{}={word}", wire::MARK_VARIABLE));
        let link = self.transport.start(id, call).await?;
        let run = GuestRun::new(link.output, link.name, secret);
        Ok((run, link.stdin))
    }

    /// Runs a verb to its end and returns what it printed.
    async fn output(&self, id: &SandboxId, call: &Call) -> Result<Vec<u8>> {
        let (mut run, _stdin) = self.start(id, GuestCall::new(call)).await?;
        run.output()
            .await?
            .map_err(|printed| self.cut_off(&printed))
    }

    /// Explains a guest that ended without last words; the engine's own message, if any, is in what it printed.
    fn cut_off(&self, printed: &[u8]) -> EngineError {
        let text = String::from_utf8_lossy(printed);
        let first = text.lines().next().unwrap_or_default().trim();
        self.transport.explain(first).unwrap_or_else(cut_off)
    }
}

/// Explains a guest that ended without a word from anybody.
fn cut_off() -> EngineError {
    EngineError::new(
        FailureKind::Conflict,
        "the sandbox ended in the middle of this",
    )
    .with_hint("see `sandtop ls --all` for what became of it")
}

/// Puts the guest's path before its words.
pub(super) fn command_line(words: Vec<String>) -> Vec<String> {
    std::iter::once(wire::GUEST_PATH.to_owned())
        .chain(words)
        .collect()
}

/// Makes a word that nobody can guess.
pub(super) fn random_word() -> String {
    let words = [0, 1].map(|_| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(Utc::now().timestamp_nanos_opt())
    });
    format!("{:016x}{:016x}", words[0], words[1])
}

fn session(line: &str) -> Option<SessionInfo> {
    let line = SessionLine::parse(line)?;
    Some(SessionInfo {
        name: line.name,
        work_dir: String::from_utf8_lossy(&line.work_dir).into_owned(),
        variables: line.variables,
        used_at: DateTime::from_timestamp(line.used_seconds, 0)?,
    })
}

/// Checks the name of a session before it becomes a file name.
fn check_session(name: &str) -> Result<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && !name.starts_with('.') && name.len() <= 64 && name.chars().all(fine) {
        return Ok(());
    }
    let shown = name.escape_default();
    Err(EngineError::new(
        FailureKind::Invalid,
        format!(
            "`{shown}` is not a session name; use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with `.`"
        ),
    ))
}
