//! Simulated sandboxes in memory, for tests and for trying the program without an engine.
//!
//! Nothing here starts a process or protects anything, and it says so wherever it is asked. A few well-known commands
//! (`programs`) answer from files in memory; whatever goes beyond them is `Unsupported`, never made up.

mod events;
mod examples;
mod exec;
mod files;
mod introspect;
mod lifecycle;
mod programs;
mod samples;
mod script;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;

use crate::domain::{
    Check, Details, Ended, EngineEvent, EngineInfo, EngineKind, ExecId, ExecSpec, Execs, FileEntry,
    HostName, Image, Process, Sample, Sandbox, SandboxId, SandboxPath, SandboxSpec,
};
use crate::engine::{ByteStream, Engine, Notes, Result, RunningExec};
use crate::protocol::{FileOp, LifecycleOp};
use state::{Control, State};

/// An engine that only pretends; clones share their sandboxes.
#[derive(Clone)]
pub struct DemoEngine {
    state: Arc<State>,
}

impl DemoEngine {
    /// Makes an engine without sandboxes.
    #[must_use]
    pub fn new(host: HostName) -> Self {
        let state = Arc::new(State::new(host));
        Self { state }
    }

    /// Makes an engine with three example sandboxes.
    #[must_use]
    pub fn with_samples(host: HostName) -> Self {
        let engine = Self::new(host);
        examples::add_all(&engine.state);
        engine
    }
}

#[async_trait]
impl Engine for DemoEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Demo
    }

    async fn info(&self) -> Result<EngineInfo> {
        Ok(introspect::info())
    }

    async fn diagnose(&self) -> Vec<Check> {
        introspect::checks()
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        let inner = self.state.lock();
        let sandboxes = inner.sandboxes.values().map(|s| s.sandbox.clone());
        let mut sandboxes: Vec<_> = sandboxes.collect();
        // The map is sorted by id, and sorting keeps that order among equals.
        sandboxes.sort_by_key(|sandbox| sandbox.created_at);
        Ok(sandboxes)
    }

    async fn create(&self, spec: &SandboxSpec, _notes: &Notes) -> Result<Sandbox> {
        lifecycle::create(&self.state, spec.clone())
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        let sandboxes = &mut self.state.lock().sandboxes;
        sandboxes.retain(|_, sandbox| sandbox.spec.token != spec.token);
        Ok(())
    }

    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()> {
        lifecycle::act(&self.state, id, action)
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        self.state
            .with(id, |sandbox, _| Ok(introspect::details(sandbox)))
    }

    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        self.state
            .with(id, |sandbox, _| introspect::processes(sandbox))
    }

    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64> {
        let id = &sandbox.reference.id;
        self.state
            .with(id, |sandbox, _| introspect::disk_use(sandbox))
    }

    async fn images(&self) -> Result<Vec<Image>> {
        Ok(introspect::images(&self.state.lock()))
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        exec::start(&self.state, id, spec)
    }

    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        self.state.with(id, |sandbox, _| {
            let found = sandbox.execs.values().find(|running| running.id == *exec);
            // One that has ended already needs nothing.
            if let Some(running) = found {
                running.control.send_replace(Control::End(Ended::Cancelled));
            }
            Ok(())
        })
    }

    async fn execs(&self, id: &SandboxId) -> Result<Execs> {
        self.state.with(id, |sandbox, _| {
            let running = sandbox.execs.values().map(|exec| exec.id.clone()).collect();
            Ok(Execs {
                running,
                ended: Vec::new(),
            })
        })
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        samples::watch(Arc::clone(&self.state), sandbox.reference.id.clone())
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        Ok(self.state.lock().events.listen())
    }

    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>> {
        Ok(self.state.lock().events.since(since))
    }

    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        self.state.with(id, |sandbox, _| sandbox.files.apply(op))
    }

    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        let bytes = self.state.with(id, |sandbox, _| sandbox.files.read(path))?;
        Ok(files::stream_file(&bytes, limit))
    }

    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        self.state
            .with(id, |sandbox, _| sandbox.files.check_file(path))?;
        let bytes = files::collect(path, content).await?;
        self.state
            .with(id, |sandbox, _| sandbox.files.put(path, mode, bytes))
    }
}
