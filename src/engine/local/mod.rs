//! The local engine: sandboxes that sandtop makes itself, from namespaces, cgroups and a system call filter. No daemon, no image.
//!
//! ```text
//! LocalEngine ── life ─────── state_dir (folders, lock), record, journal
//!     │            └───────── plan ← image (oci, layers, unpacked), cgroups, filter, users
//!     │                         │ lines of words, once
//!     └─ Guests ── transport ── keeper (guest program, one process for each sandbox)
//!                    └ pipes, terminals: straight to the guest inside
//! ```
//!
//! Isolation is that of the host's kernel, like other engines of this kind; it is not a virtual machine.

mod calls;
mod cgroups;
mod checks;
mod doctor;
mod environment;
mod filter;
mod hierarchies;
mod image;
mod inspect;
mod journal;
mod keeper;
mod layers;
mod life;
mod limits;
mod look;
mod oci;
mod package_sets;
mod plan;
mod record;
mod scope;
mod state_dir;
mod stats;
mod streams;
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
use life::{Known, Life};
use state_dir::StateDir;

/// Sandboxes of this machine.
pub struct LocalEngine {
    host: HostName,
    life: Life,
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
            guests: Guests::new(transport::Local::new(state_dir.clone())),
            life: Life { state_dir, journal },
            host,
            why: why.into(),
        }
    }

    /// Runs something that may block, to its end even when nobody waits for it any more.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Life) -> T + Send + 'static,
    ) -> Result<T> {
        let life = self.life.clone();
        let done = tokio::task::spawn_blocking(move || work(&life)).await;
        done.map_err(|error| EngineError::internal(format!("a task of the engine failed: {error}")))
    }

    /// Looks at what is there. In a program with one thread, which a verb is, nothing goes on beside it anyway.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Life) -> T + Send + 'static,
    ) -> Result<T> {
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::CurrentThread => Ok(look(&self.life)),
            _ => self.apart(look).await,
        }
    }

    async fn find(&self, id: &SandboxId) -> Result<Known> {
        let id = id.as_str().to_owned();
        self.look(move |life| life.find(&id)).await?
    }

    /// Makes a sandbox and removes it again, to know that it can be done.
    async fn trial(&self) -> Result<()> {
        let spec = look::trial_spec().ok_or_else(|| EngineError::internal("no name was found"))?;
        let made = self.create(&spec, &Notes::none()).await?;
        let gone = LifecycleOp::Remove { force: true };
        self.act(&made.reference.id, gone).await
    }

    /// Notes the beginning and the end of a command.
    fn noted(&self, known: &Known, spec: &ExecSpec, mut exec: RunningExec) -> RunningExec {
        let (id, name) = (known.record.id.clone(), known.record.asked.name.clone());
        let command = spec.argv.join(" ");
        let journal = self.life.journal.clone();
        journal.note(&id, &name, &EngineEventKind::Exec { command });
        let noting = move |item: &ExecItem| {
            if let ExecItem::End(end) = item {
                let exit_code = end.ended.exit_code().map(i64::from);
                journal.note(&id, &name, &EngineEventKind::ExecEnded { exit_code });
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
        let (trial, why) = (self.trial().await, self.why.clone());
        let checks = self
            .apart(move |life| doctor::checks(life, &why, trial))
            .await;
        checks.unwrap_or_else(|error| vec![Check::fail("engine", error.message, "try again")])
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        let known = self.look(Life::list).await?.into_iter();
        Ok(known
            .map(|known| {
                known
                    .record
                    .sandbox(&self.host, known.phase, known.run.as_ref())
            })
            .collect())
    }

    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox> {
        notes.send(format!("creating {}", spec.name), 0, None);
        let (spec, notes) = (spec.clone(), notes.clone());
        let record = self.apart(move |life| life.create(&spec, &notes)).await??;
        let run = self.life.state_dir.run(&record.id);
        Ok(record.sandbox(&self.host, Phase::Running, run.as_ref()))
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        let token = spec.token.clone();
        self.apart(move |life| life.discard(&token)).await?
    }

    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()> {
        let id = id.as_str().to_owned();
        self.apart(move |life| life.act(&id, action)).await?
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        let known = self.find(id).await?;
        Ok(inspect::details(known, &self.guests, &self.life.state_dir, &self.host).await)
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        let exec = self.guests.exec(id, spec).await?;
        let record = self.life.state_dir.record(id.as_str());
        let known = record.map(|record| Known {
            record,
            phase: Phase::Running,
            run: None,
        });
        Ok(match known {
            Some(known) => self.noted(&known, spec, exec),
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
        let all = |life: &Life| [package_sets::leftovers(life), unpacked::leftovers(life)].concat();
        self.apart(all).await
    }

    async fn remove_leftover(&self, leftover: &Leftover) -> Result<()> {
        if leftover.kind != unpacked::KIND {
            return self.remove_package_set(&leftover.name).await;
        }
        let digest = leftover.name.clone();
        self.apart(move |life| unpacked::remove(life, &digest))
            .await?
    }

    fn caches_packages(&self) -> bool {
        true
    }

    async fn image_key(&self, image: &str, _notes: &Notes) -> Result<String> {
        let image = image.to_owned();
        self.apart(move |_| package_sets::image_key(&image)).await?
    }

    async fn package_sets(&self) -> Result<Vec<PackageSet>> {
        self.apart(package_sets::list).await
    }

    async fn create_package_set(&self, new: &PackageSet) -> Result<()> {
        let new = new.clone();
        self.apart(move |life| package_sets::make(life, &new))
            .await?
    }

    async fn complete_package_set(&self, done: &PackageSet) -> Result<()> {
        let done = done.clone();
        self.apart(move |life| package_sets::keep(life, &done))
            .await?
    }

    async fn remove_package_set(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.apart(move |life| package_sets::remove(life, &name))
            .await?
    }

    async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        self.guests.resize(terminal, size).await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        let known = self.find(&sandbox.reference.id).await?;
        Ok(stats::stream(stats::Source {
            folder: self.life.state_dir.folder(&known.record.id),
            cgroups: known.run.map(|run| run.cgroups).unwrap_or_default(),
            limits: known.record.asked.limits,
        }))
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        let prepared = self.life.state_dir.prepare();
        prepared.map_err(|error| {
            EngineError::internal(format!("preparing the state directory failed: {error}"))
        })?;
        let life = self.life.clone();
        self.life
            .journal
            .follow(Arc::new(move || drop(life.list())))
    }

    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>> {
        self.apart(move |life| life.journal.since(since)).await
    }

    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        self.guests.processes(id).await
    }

    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64> {
        let id = &sandbox.reference.id;
        self.guests.size(id, &sandbox.work_dir).await
    }

    async fn changes(&self, id: &SandboxId) -> Result<Changes> {
        let known = self.find(id).await?;
        look::changes(&known, &self.guests, id).await
    }

    async fn images(&self) -> Result<Vec<Image>> {
        self.apart(look::images).await
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
