//! The Docker engine: sandboxes as hardened containers, reached over the engine's API.

mod archive;
mod attach;
mod capabilities;
mod connect;
mod convert;
mod create;
mod creating;
mod doctor;
mod endpoint;
mod events;
mod filter_file;
mod foreign;
#[cfg(test)]
mod fuzz;
mod guest_volume;
mod hardening;
mod inspect;
mod introspect;
mod kernel_stats;
mod leftovers;
mod lifecycle;
mod one_entry;
mod ownership;
mod package_volumes;
mod paused_files;
mod paused_processes;
mod pull;
mod stats;
mod transport;
mod upload;
mod visibility;

use async_trait::async_trait;
use bollard::Docker;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;
use tokio::sync::OnceCell;

pub use endpoint::Endpoint;

use super::guest::Guests;
use super::{ByteStream, Engine, EngineError, Notes, Result, RunningExec, TreeStream};
use crate::domain::{
    AdoptRules, Attempt, Changes, Check, Details, EngineEvent, EngineInfo, EngineKind, ExecId,
    ExecSpec, Execs, FileEntry, HostName, Image, PackageSet, Process, Sample, Sandbox, SandboxId,
    SandboxPath, SandboxSpec, TtySize,
};
use crate::protocol::{FailureKind, FileOp, Leftover, LifecycleOp, SessionInfo};

/// A connected engine.
#[derive(Clone)]
struct Client {
    docker: Docker,
    endpoint: Endpoint,
    api_version: String,
    foreign: foreign::Foreign,
    groups: kernel_stats::KernelGroups,
}

/// Sandboxes on a Docker engine.
pub struct DockerEngine {
    host: HostName,
    endpoint: Endpoint,
    /// Which sandboxes are ours; others on the same engine are left alone.
    scope: String,
    adopt: AdoptRules,
    client: OnceCell<(Client, Guests)>,
    creates: create::Shared,
}

impl DockerEngine {
    /// Describes an engine; nothing is connected before it is used.
    #[must_use]
    pub fn new(host: HostName, endpoint: Endpoint, scope: impl Into<String>) -> Self {
        Self {
            host,
            endpoint,
            scope: scope.into(),
            adopt: AdoptRules::default(),
            client: OnceCell::new(),
            creates: create::Shared::default(),
        }
    }

    /// Also shows what these rules adopt.
    #[must_use]
    pub fn adopting(mut self, rules: AdoptRules) -> Self {
        self.adopt = rules;
        self
    }

    fn visibility(&self) -> visibility::Visibility<'_> {
        visibility::Visibility {
            host: &self.host,
            scope: &self.scope,
            adopt: &self.adopt,
        }
    }

    /// Connects at the first use; a failure is tried again at the next.
    async fn connected(&self) -> Result<&(Client, Guests)> {
        let connecting = || async {
            let client = connect::connect(&self.endpoint).await?;
            Ok((client.clone(), Guests::new(client)))
        };
        self.client.get_or_try_init(connecting).await
    }

    async fn client(&self) -> Result<&Client> {
        Ok(&self.connected().await?.0)
    }

    async fn guests(&self) -> Result<&Guests> {
        Ok(&self.connected().await?.1)
    }
}

#[async_trait]
impl Engine for DockerEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Docker
    }

    async fn info(&self) -> Result<EngineInfo> {
        let client = self.client().await?;
        let info = client
            .docker
            .info()
            .await
            .map_err(|e| convert::error(&format!("connecting to {}", self.endpoint), e))?;
        Ok(EngineInfo {
            kind: EngineKind::Docker,
            endpoint: self.endpoint.to_string(),
            version: info.server_version.unwrap_or_default(),
            api_version: client.api_version.clone(),
            cpus: info.ncpu.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            memory_bytes: info
                .mem_total
                .and_then(|n| u64::try_from(n).ok())
                .unwrap_or(0),
        })
    }

    async fn ping(&self) -> Result<()> {
        let ping = self.client().await?.docker.ping().await;
        ping.map(drop)
            .map_err(|e| convert::error(&format!("connecting to {}", self.endpoint), e))
    }

    async fn diagnose(&self) -> Vec<Check> {
        match self.client().await {
            Ok(client) => doctor::checks(client).await,
            Err(error) => vec![Check::fail(
                "engine",
                error.message,
                error.hint.unwrap_or_default(),
            )],
        }
    }

    /// Numbers are the machine's own, as far as we know; names stand in the image.
    async fn host_user(&self, _id: &SandboxId, user: &str) -> Option<(u32, u32)> {
        let Endpoint::Unix(_) = &self.endpoint else {
            return None;
        };
        let (uid, gid) = user.split_once(':').unwrap_or((user, user));
        Some((uid.parse().ok()?, gid.parse().ok()?))
    }

    async fn list(&self) -> Result<Vec<Sandbox>> {
        visibility::list(self.client().await?, &self.visibility()).await
    }

    async fn find(&self, id: &SandboxId) -> Result<Option<Sandbox>> {
        visibility::find(self.client().await?, &self.visibility(), id).await
    }

    async fn named(&self, word: &str) -> Result<Vec<Sandbox>> {
        visibility::named(self.client().await?, &self.visibility(), word).await
    }

    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox> {
        let client = self.client().await?;
        let id = create::create(client, &self.creates, spec, &self.scope, notes).await?;
        let made = visibility::find(client, &self.visibility(), &id).await?;
        made.ok_or_else(|| EngineError::not_found(format!("the new sandbox {}", spec.name)))
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        let client = self.client().await?;
        lifecycle::discard(
            client,
            &self.creates.creating,
            &self.host,
            spec,
            &self.scope,
        )
        .await
    }

    async fn act(&self, id: &SandboxId, action: LifecycleOp) -> Result<()> {
        lifecycle::act(self.client().await?, id, action).await
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        let (client, guests) = self.connected().await?;
        inspect::details(client, guests, &self.host, id).await
    }

    async fn attempts(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Vec<Attempt>> {
        let (_, guests) = self.connected().await?;
        guests.attempts(id, spec).await
    }

    async fn processes(&self, id: &SandboxId) -> Result<Vec<Process>> {
        let (client, guests) = self.connected().await?;
        match guests.processes(id).await {
            Err(error) if error.kind == FailureKind::Conflict => {
                paused_processes::processes(client, id).await.ok_or(error)
            }
            found => found,
        }
    }

    async fn disk_use(&self, sandbox: &Sandbox) -> Result<u64> {
        let guests = self.guests().await?;
        guests.size(&sandbox.reference.id, &sandbox.work_dir).await
    }

    async fn changes(&self, id: &SandboxId) -> Result<Changes> {
        let (client, guests) = self.connected().await?;
        introspect::changes(client, guests, id).await
    }

    async fn images(&self) -> Result<Vec<Image>> {
        introspect::images(self.client().await?).await
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        self.guests().await?.exec(id, spec).await
    }

    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        self.guests().await?.cancel(id, exec).await
    }

    async fn execs(&self, id: &SandboxId) -> Result<Execs> {
        self.guests().await?.execs(id).await
    }

    async fn running(&self, id: &SandboxId) -> Result<usize> {
        introspect::running(self.client().await?, id).await
    }

    async fn restarted_since(&self, at: DateTime<Utc>) -> Result<bool> {
        introspect::restarted_since(self.client().await?, at).await
    }

    async fn leftovers(&self) -> Result<Vec<Leftover>> {
        leftovers::list(self.client().await?, &self.scope).await
    }

    async fn remove_leftover(&self, leftover: &Leftover) -> Result<()> {
        leftovers::remove(self.client().await?, &self.scope, leftover).await
    }

    fn caches_packages(&self) -> bool {
        true
    }

    async fn image_key(&self, image: &str, notes: &Notes) -> Result<String> {
        pull::ensure(self.client().await?, &self.creates.pulls, image, notes).await?;
        introspect::image_key(self.client().await?, image).await
    }

    async fn package_sets(&self) -> Result<Vec<PackageSet>> {
        package_volumes::list(self.client().await?, &self.scope).await
    }

    async fn create_package_set(&self, new: &PackageSet) -> Result<()> {
        package_volumes::make(self.client().await?, &self.scope, new).await
    }

    async fn complete_package_set(&self, done: &PackageSet) -> Result<()> {
        package_volumes::finish(self.client().await?, &self.scope, done).await
    }

    async fn remove_package_set(&self, name: &str) -> Result<()> {
        package_volumes::remove(self.client().await?, name).await
    }

    async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        self.guests().await?.resize(terminal, size).await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        let client = self.client().await?;
        if let Some(samples) = kernel_stats::stream(client, sandbox).await {
            return Ok(samples);
        }
        Ok(stats::stream(client, &sandbox.reference.id, sandbox.limits))
    }

    async fn refused_processes(&self, id: &SandboxId) -> Option<u64> {
        kernel_stats::refused_processes(self.client().await.ok()?, id).await
    }

    async fn events(&self) -> Result<BoxStream<'static, Result<EngineEvent>>> {
        self.ping().await?;
        Ok(events::stream(self.client().await?, &self.visibility()))
    }

    async fn events_since(&self, since: DateTime<Utc>) -> Result<Vec<EngineEvent>> {
        events::history(self.client().await?, &self.visibility(), since).await
    }

    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        let (client, guests) = self.connected().await?;
        match guests.file(id, op).await {
            Err(error) if error.kind == FailureKind::Conflict => {
                let found = paused_files::apply(client, id, op).await;
                found.unwrap_or(Err(error))
            }
            done => done,
        }
    }

    async fn has_file(&self, id: &SandboxId, path: &SandboxPath) -> bool {
        let Ok(client) = self.client().await else {
            return false;
        };
        // The engine does not see folders in memory; the guest sees all.
        introspect::has_file(client, id, path).await
            || self.file(id, &FileOp::Stat(path.clone())).await.is_ok()
    }

    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        let (client, guests) = self.connected().await?;
        match guests.read(id, path, limit).await {
            Err(error) if error.kind == FailureKind::Conflict => {
                let read = paused_files::read(client, id, path, limit).await;
                read.unwrap_or(Err(error))
            }
            bytes => bytes,
        }
    }

    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        self.guests().await?.write(id, path, mode, content).await
    }

    async fn pack(&self, id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        let (client, guests) = (self.client().await?, self.guests().await?);
        match archive::pack(client, guests, id, path).await? {
            Some(tree) => Ok(tree),
            None => guests.pack(id, path).await,
        }
    }

    async fn unpack(&self, id: &SandboxId, path: &SandboxPath, tree: TreeStream) -> Result<()> {
        let (client, guests) = (self.client().await?, self.guests().await?);
        upload::unpack(client, guests, id, path, tree).await
    }

    async fn sessions(&self, id: &SandboxId) -> Result<Vec<SessionInfo>> {
        self.guests().await?.sessions(id).await
    }

    async fn drop_session(&self, id: &SandboxId, name: &str) -> Result<()> {
        self.guests().await?.drop_session(id, name).await
    }
}
