//! The engine trait for local sandboxes: each call goes to the lifecycle, or by a guest into the sandbox.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;

use super::lifecycle::{Lifecycle, SandboxState};
use super::{LocalEngine, doctor, inspect, introspect, limits, package_sets, stats, unpacked};
use crate::domain::{
    Attempt, Changes, Check, Details, EngineEvent, EngineInfo, EngineKind, ExecId, ExecSpec, Execs,
    FileEntry, Image, PackageSet, Phase, Process, Sample, Sandbox, SandboxId, SandboxPath,
    SandboxSpec, TtySize,
};
use crate::engine::{ByteStream, Engine, EngineError, Notes, Result, RunningExec, TreeStream};
use crate::protocol::{FailureKind, FileOp, Leftover, LifecycleOp, SessionInfo};

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
            .run_blocking(move |lifecycle| doctor::checks(&lifecycle.state_dir, &why, trial))
            .await;
        checks.unwrap_or_else(|error| vec![Check::fail("engine", error.message, "try again")])
    }

    async fn host_user(&self, id: &SandboxId, _user: &str) -> Option<(u32, u32)> {
        let id = id.as_str().to_owned();
        let found = self.query(move |lifecycle| lifecycle.find(&id)).await;
        Some(super::users::outside(&found.ok()?.ok()?.record))
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        let states = self.query(Lifecycle::list).await??;
        Ok(self.sandboxes(states))
    }

    async fn find(&self, id: &SandboxId) -> Result<Option<Sandbox>> {
        match self.state(id).await {
            Ok(state) => Ok(self.sandboxes(vec![state]).pop()),
            Err(error) if error.kind == FailureKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn named(&self, word: &str) -> Result<Vec<Sandbox>> {
        let word = word.to_owned();
        let states = self
            .query(move |lifecycle| lifecycle.named(&word))
            .await??;
        Ok(self.sandboxes(states))
    }

    async fn names(&self) -> Result<Vec<String>> {
        let index = self.query(|lifecycle| lifecycle.state_dir.index()).await?;
        Ok(index.into_iter().map(|entry| entry.name).collect())
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
        let state = self.state(id).await?;
        Ok(inspect::details(state, &self.guests, &self.lifecycle.state_dir, &self.host).await)
    }

    async fn attempts(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Vec<Attempt>> {
        self.guests.attempts(id, spec).await
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
                package_sets::leftovers(&lifecycle.state_dir),
                unpacked::leftovers(&lifecycle.state_dir),
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
        self.run_blocking(move |lifecycle| unpacked::remove(&lifecycle.state_dir, &digest))
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
        self.run_blocking(|lifecycle| package_sets::list(&lifecycle.state_dir))
            .await
    }

    async fn create_package_set(&self, new: &PackageSet) -> Result<()> {
        let new = new.clone();
        self.run_blocking(move |lifecycle| package_sets::make(&lifecycle.state_dir, &new))
            .await?
    }

    async fn complete_package_set(&self, done: &PackageSet) -> Result<()> {
        let done = done.clone();
        self.run_blocking(move |lifecycle| package_sets::mark_complete(&lifecycle.state_dir, &done))
            .await?
    }

    async fn remove_package_set(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.run_blocking(move |lifecycle| package_sets::remove(&lifecycle.state_dir, &name))
            .await?
    }

    async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        self.guests.resize(terminal, size).await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        let (id, state_dir) = (sandbox.reference.id.as_str(), &self.lifecycle.state_dir);
        if state_dir.record(id).is_none() {
            return Err(EngineError::not_found(format!("the sandbox {id}")));
        }
        let run = state_dir.run(id);
        Ok(stats::stream(stats::StatsSource {
            folder: state_dir.folder(id),
            cgroups: run.map(|run| run.cgroups).unwrap_or_default(),
            limits: sandbox.limits,
            trees: self.trees.clone(),
        }))
    }

    async fn refused_processes(&self, id: &SandboxId) -> Option<u64> {
        let run = self.lifecycle.state_dir.run(id.as_str())?;
        run.cgroups.pids_refused()
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        let prepared = self.lifecycle.state_dir.prepare();
        prepared.map_err(|error| {
            EngineError::internal(format!("preparing the state directory failed: {error}"))
        })?;
        let lifecycle = self.lifecycle.clone();
        self.lifecycle
            .journal
            .follow(Arc::new(move || lifecycle.rescan()))
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
        let state = self.state(id).await?;
        introspect::changes(&state, &self.guests, id).await
    }

    async fn images(&self) -> Result<Vec<Image>> {
        self.run_blocking(|lifecycle| introspect::images(&lifecycle.state_dir))
            .await
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
