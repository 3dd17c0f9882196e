//! The local engine: sandboxes that sandtop makes itself, from namespaces, cgroups and a system call filter. No daemon, no image.
//!
//! ```text
//! LocalEngine ── lifecycle ─────── state_dir (folders, lock), record, journal
//!     │            └───────── plan ← image (oci, layers, unpacked), cgroups, filter, users
//!     │                         │ lines of words, once
//!     └─ Guests ── transport ── keeper (guest program, one process for each sandbox)
//!                    └ pipes, terminals: straight to the guest inside
//! ```
//!
//! Isolation is that of the host's kernel, like other engines of this kind; it is not a virtual machine.

mod cgroups;
mod checks;
mod doctor;
mod environment;
mod filter;
mod hierarchies;
mod image;
mod inspect;
mod introspect;
mod journal;
mod keeper;
mod layers;
mod lifecycle;
mod limits;
mod oci;
mod package_sets;
mod plan;
mod record;
mod state_dir;
mod stats;
mod streams;
mod syscalls;
mod systemd_scope;
mod transport;
mod unpacked;
mod users;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::{BoxStream, StreamExt};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::guest::Guests;
use super::{ByteStream, Engine, EngineError, ExecItem, Notes, Result, RunningExec, TreeStream};
use crate::domain::{
    Changes, Check, Details, EngineEvent, EngineEventKind, EngineInfo, EngineKind, ExecId,
    ExecSpec, Execs, FileEntry, HostName, Image, PackageSet, Phase, Process, Sample, Sandbox,
    SandboxId, SandboxPath, SandboxSpec, TtySize,
};
use crate::protocol::{FileOp, Leftover, LifecycleOp, SessionInfo};
use journal::Journal;
use lifecycle::{Lifecycle, SandboxState};
use state_dir::StateDir;

/// Sandboxes of this machine.
pub struct LocalEngine {
    host: HostName,
    lifecycle: Lifecycle,
    guests: Guests,
    /// Why this engine was chosen.
    why: String,
}

impl LocalEngine {
    /// Describes the engine that keeps its sandboxes below `state`; `why` says how it came to be chosen.
    #[must_use]
    pub fn new(host: HostName, state: &Path, scope: &str, why: impl Into<String>) -> Self {
        let state_dir = StateDir::new(state, scope);
        let journal = Journal::new(state_dir.scope(), host.clone());
        Self {
            guests: Guests::new(transport::LocalTransport::new(state_dir.clone())),
            lifecycle: Lifecycle { state_dir, journal },
            host,
            why: why.into(),
        }
    }

    /// Runs something that may block, to its end even when nobody waits for it any more.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Lifecycle) -> T + Send + 'static,
    ) -> Result<T> {
        let lifecycle = self.lifecycle.clone();
        let done = tokio::task::spawn_blocking(move || work(&lifecycle)).await;
        done.map_err(|error| EngineError::internal(format!("a task of the engine failed: {error}")))
    }

    /// Looks at what is there. In a program with one thread, which a verb is, nothing goes on beside it anyway.
    async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Lifecycle) -> T + Send + 'static,
    ) -> Result<T> {
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::CurrentThread => Ok(query(&self.lifecycle)),
            _ => self.run_blocking(query).await,
        }
    }

    async fn find(&self, id: &SandboxId) -> Result<SandboxState> {
        let id = id.as_str().to_owned();
        self.query(move |lifecycle| lifecycle.find(&id)).await?
    }

    /// Makes a sandbox and removes it again, to know that it can be done.
    async fn try_engine(&self) -> Result<()> {
        let spec =
            introspect::trial_spec().ok_or_else(|| EngineError::internal("no name was found"))?;
        let made = self.create(&spec, &Notes::none()).await?;
        let gone = LifecycleOp::Remove { force: true };
        self.act(&made.reference.id, gone).await
    }

    /// Notes the beginning and the end of a command.
    fn record_in_journal(
        &self,
        state: &SandboxState,
        spec: &ExecSpec,
        mut exec: RunningExec,
    ) -> RunningExec {
        let (id, name) = (state.record.id.clone(), state.record.asked.name.clone());
        let command = spec.argv.join(" ");
        let journal = self.lifecycle.journal.clone();
        journal.append(&id, &name, &EngineEventKind::Exec { command });
        let noting = move |item: &ExecItem| {
            if let ExecItem::End(end) = item {
                let exit_code = end.ended.exit_code().map(i64::from);
                journal.append(&id, &name, &EngineEventKind::ExecEnded { exit_code });
            }
        };
        exec.items = exec.items.inspect(noting).boxed();
        exec
    }
}

#[async_trait]
impl Engine for LocalEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Local
    }

    async fn info(&self) -> Result<EngineInfo> {
        doctor::refuse_if_hopeless()?;
        Ok(EngineInfo {
            kind: EngineKind::Local,
            endpoint: "this machine".to_owned(),
            version: doctor::kernel_version(),
            api_version: String::new(),
            cpus: std::thread::available_parallelism().map_or(0, |n| n.get() as u64),
            memory_bytes: limits::machine_memory(),
        })
    }

    async fn diagnose(&self) -> Vec<Check> {
        let (trial, why) = (self.try_engine().await, self.why.clone());
        let checks = self
            .run_blocking(move |lifecycle| doctor::checks(lifecycle, &why, trial))
            .await;
        checks.unwrap_or_else(|error| vec![Check::fail("engine", error.message, "try again")])
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        let state = self.query(Lifecycle::list).await?.into_iter();
        Ok(state
            .map(|state| {
                state
                    .record
                    .sandbox(&self.host, state.phase, state.run.as_ref())
            })
            .collect())
    }

    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox> {
        notes.send(format!("creating {}", spec.name), 0, None);
        let (spec, notes) = (spec.clone(), notes.clone());
        let record = self
            .run_blocking(move |lifecycle| lifecycle.create(&spec, &notes))
            .await??;
        let run = self.lifecycle.state_dir.run(&record.id);
        Ok(record.sandbox(&self.host, Phase::Running, run.as_ref()))
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        let token = spec.token.clone();
        self.run_blocking(move |lifecycle| lifecycle.discard(&token))
            .await?
    }

    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()> {
        let id = id.as_str().to_owned();
        self.run_blocking(move |lifecycle| lifecycle.act(&id, action))
            .await?
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        let state = self.find(id).await?;
        Ok(inspect::details(state, &self.guests, &self.lifecycle.state_dir, &self.host).await)
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        let exec = self.guests.exec(id, spec).await?;
        let record = self.lifecycle.state_dir.record(id.as_str());
        let state = record.map(|record| SandboxState {
            record,
            phase: Phase::Running,
            run: None,
        });
        Ok(match state {
            Some(state) => self.record_in_journal(&state, spec, exec),
            None => exec,
        })
    }

    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        self.guests.cancel(id, exec).await
    }

    async fn execs(&self, id: &SandboxId) -> Result<Execs> {
        self.guests.execs(id).await
    }

    async fn leftovers(&self) -> Result<Vec<Leftover>> {
        let all = |lifecycle: &Lifecycle| {
            [
                package_sets::leftovers(lifecycle),
                unpacked::leftovers(lifecycle),
            ]
            .concat()
        };
        self.run_blocking(all).await
    }

    async fn remove_leftover(&self, leftover: &Leftover) -> Result<()> {
        if leftover.kind != unpacked::KIND {
            return self.remove_package_set(&leftover.name).await;
        }
        let digest = leftover.name.clone();
        self.run_blocking(move |lifecycle| unpacked::remove(lifecycle, &digest))
            .await?
    }

    fn caches_packages(&self) -> bool {
        true
    }

    async fn image_key(&self, image: &str, _notes: &Notes) -> Result<String> {
        let image = image.to_owned();
        self.run_blocking(move |_| package_sets::image_key(&image))
            .await?
    }

    async fn package_sets(&self) -> Result<Vec<PackageSet>> {
        self.run_blocking(package_sets::list).await
    }

    async fn create_package_set(&self, new: &PackageSet) -> Result<()> {
        let new = new.clone();
        self.run_blocking(move |lifecycle| package_sets::make(lifecycle, &new))
            .await?
    }

    async fn complete_package_set(&self, done: &PackageSet) -> Result<()> {
        let done = done.clone();
        self.run_blocking(move |lifecycle| package_sets::mark_complete(lifecycle, &done))
            .await?
    }

    async fn remove_package_set(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.run_blocking(move |lifecycle| package_sets::remove(lifecycle, &name))
            .await?
    }

    async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        self.guests.resize(terminal, size).await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        let state = self.find(&sandbox.reference.id).await?;
        Ok(stats::stream(stats::StatsSource {
            folder: self.lifecycle.state_dir.folder(&state.record.id),
            cgroups: state.run.map(|run| run.cgroups).unwrap_or_default(),
            limits: state.record.asked.limits,
        }))
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        let prepared = self.lifecycle.state_dir.prepare();
        prepared.map_err(|error| {
            EngineError::internal(format!("preparing the state directory failed: {error}"))
        })?;
        let lifecycle = self.lifecycle.clone();
        self.lifecycle
            .journal
            .follow(Arc::new(move || drop(lifecycle.list())))
    }

    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>> {
        self.run_blocking(move |lifecycle| lifecycle.journal.since(since))
            .await
    }

    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        self.guests.processes(id).await
    }

    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64> {
        let id = &sandbox.reference.id;
        self.guests.size(id, &sandbox.work_dir).await
    }

    async fn changes(&self, id: &SandboxId) -> Result<Changes> {
        let state = self.find(id).await?;
        introspect::changes(&state, &self.guests, id).await
    }

    async fn images(&self) -> Result<Vec<Image>> {
        self.run_blocking(introspect::images).await
    }

    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        self.guests.file(id, op).await
    }

    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        self.guests.read(id, path, limit).await
    }

    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        self.guests.write(id, path, mode, content).await
    }

    async fn pack(&self, id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        self.guests.pack(id, path).await
    }

    async fn unpack(&self, id: &SandboxId, path: &SandboxPath, tree: TreeStream) -> Result<()> {
        self.guests.unpack(id, path, tree).await
    }

    async fn sessions(&self, id: &SandboxId) -> Result<Vec<SessionInfo>> {
        self.guests.sessions(id).await
    }

    async fn drop_session(&self, id: &SandboxId, name: &str) -> Result<()> {
        self.guests.drop_session(id, name).await
    }
}
