//! Simulated sandboxes in memory, for tests and for trying the program without an engine.
//!
//! Nothing here starts a process or protects anything, and it says so wherever it is asked. Commands run in a tiny
//! interpreter over files in memory; everything it returns is driven by polling, as the contract demands.

mod details;
mod examples;
mod exec;
mod fate;
mod faults;
mod files;
mod journal;
mod life;
mod look;
mod node;
mod path;
mod running;
mod samples;
mod script;
#[cfg(test)]
mod tests;
mod transfer;
mod world;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;

pub use faults::{CreateStep, DemoRemote, Faults};

use crate::domain::{
    Changes, Check, Details, EngineEvent, EngineInfo, EngineKind, ExecId, ExecSpec, Execs,
    FileEntry, HostName, Image, Process, Sample, Sandbox, SandboxId, SandboxPath, SandboxSpec,
    TtySize,
};
use crate::engine::{ByteStream, Engine, EngineError, Notes, Result, RunningExec, TreeStream};
use crate::protocol::{FileOp, LifecycleOp, SessionInfo};
use transfer::Staged;
use world::{Session, World};

/// An engine that only pretends; clones share one world.
#[derive(Clone)]
pub struct DemoEngine {
    world: Arc<World>,
}

impl DemoEngine {
    /// Makes an engine without sandboxes.
    #[must_use]
    pub fn new(host: HostName) -> Self {
        let world = Arc::new(World::new(host));
        Self { world }
    }

    /// Makes an engine with three example sandboxes.
    #[must_use]
    pub fn with_samples(host: HostName) -> Self {
        let engine = Self::new(host);
        examples::fill(&engine.world);
        engine
    }

    /// Returns a handle that steers the engine from outside.
    #[must_use]
    pub fn remote(&self) -> DemoRemote {
        DemoRemote::new(Arc::clone(&self.world))
    }

    /// Changes the faults from now on.
    pub fn faults(&self, change: impl FnOnce(&mut Faults)) {
        self.world.set_faults(change);
    }
}

#[async_trait]
impl Engine for DemoEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Demo
    }

    async fn info(&self) -> Result<EngineInfo> {
        self.world.enter().await?;
        Ok(details::info())
    }

    async fn diagnose(&self) -> Vec<Check> {
        let mut checks = details::checks();
        if let Err(error) = self.world.enter().await {
            let hint = error.hint.unwrap_or_default();
            checks.push(Check::fail("link", error.message, hint));
        }
        checks
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        self.world.enter().await?;
        let inner = self.world.lock();
        let sandboxes = inner.sandboxes.values().map(|s| s.sandbox.clone());
        let mut sandboxes: Vec<_> = sandboxes.collect();
        // The map is sorted by id, and sorting keeps that order among equals.
        sandboxes.sort_by_key(|sandbox| sandbox.created_at);
        Ok(sandboxes)
    }

    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox> {
        self.world.enter().await?;
        life::create(&self.world, spec, notes).await
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        self.world.enter().await?;
        life::discard(&self.world, spec)
    }

    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()> {
        self.world.enter().await?;
        life::act(&self.world, id, action)
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        self.world.enter().await?;
        self.world
            .with(id, |sandbox, _| Ok(details::details(sandbox)))
    }

    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| look::processes(sandbox))
    }

    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64> {
        self.world.enter().await?;
        let id = &sandbox.reference.id;
        self.world.with(id, |sandbox, _| look::size(sandbox))
    }

    async fn changes(&self, id: &SandboxId) -> Result<Changes> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| Ok(look::changes(sandbox)))
    }

    async fn images(&self) -> Result<Vec<Image>> {
        self.world.enter().await?;
        Ok(look::images(&self.world.lock()))
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        self.world.enter().await?;
        exec::start(&self.world, id, spec)
    }

    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| {
            exec::cancel(sandbox, exec);
            Ok(())
        })
    }

    async fn execs(&self, id: &SandboxId) -> Result<Execs> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| {
            let running = sandbox.execs.keys().map(ExecId::new).collect();
            Ok(Execs {
                running,
                ended: Vec::new(),
            })
        })
    }

    async fn resize(&self, _terminal: &str, _size: TtySize) -> Result<()> {
        // The simulated programs never ask for the size.
        self.world.enter().await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        self.world.enter().await?;
        samples::watch(Arc::clone(&self.world), sandbox.reference.id.clone())
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        self.world.enter().await?;
        Ok(self.world.lock().journal.listen(self.world.reach()))
    }

    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>> {
        self.world.enter().await?;
        Ok(self.world.lock().journal.since(since))
    }

    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| sandbox.files.apply(op))
    }

    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        self.world.enter().await?;
        let bytes = self
            .world
            .with(id, |sandbox, _| sandbox.files.content(path))?;
        Ok(transfer::chunks(bytes, limit))
    }

    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        self.world.enter().await?;
        self.world
            .with(id, |sandbox, _| sandbox.files.check_place(path))?;
        let bytes = transfer::collect(path, content).await?;
        self.world.lock().faults.reach()?;
        self.world
            .with(id, |sandbox, _| sandbox.files.put(path, mode, bytes))
    }

    async fn pack(&self, id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        self.world.enter().await?;
        self.world
            .with(id, |sandbox, _| transfer::pack(&sandbox.files, path))
    }

    async fn unpack(&self, id: &SandboxId, path: &SandboxPath, tree: TreeStream) -> Result<()> {
        self.world.enter().await?;
        self.world.with(id, |_, _| Ok(()))?;
        let staged = Staged::collect(path, tree).await?;
        self.world.lock().faults.reach()?;
        self.world
            .with(id, |sandbox, _| staged.plant(&mut sandbox.files, path))
    }

    async fn sessions(&self, id: &SandboxId) -> Result<Vec<SessionInfo>> {
        self.world.enter().await?;
        self.world.with(id, |sandbox, _| {
            let sessions = sandbox.sessions.iter();
            Ok(sessions
                .map(|(name, session)| describe(name, session))
                .collect())
        })
    }

    async fn drop_session(&self, id: &SandboxId, name: &str) -> Result<()> {
        self.world.enter().await?;
        self.world
            .with(id, |sandbox, _| match sandbox.sessions.remove(name) {
                Some(_) => Ok(()),
                None => Err(EngineError::not_found(format!("the session {name}"))),
            })
    }
}

fn describe(name: &str, session: &Session) -> SessionInfo {
    SessionInfo {
        name: name.to_owned(),
        work_dir: session.cwd.to_string(),
        variables: session.exported.len() as u64,
        used_at: session.used_at,
    }
}
