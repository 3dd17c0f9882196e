//! The Docker engine: sandboxes as hardened containers, reached over the engine's API.

mod attach;
mod capabilities;
mod convert;
mod creating;
mod doctor;
mod endpoint;
mod events;
mod exec;
mod files;
mod followed;
mod guest;
mod hardening;
mod inspect;
mod lifecycle;
mod marks;
mod pull;
mod stats;
mod terminal;

use async_trait::async_trait;
use bollard::{API_DEFAULT_VERSION, Docker};
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;
use tokio::sync::OnceCell;

pub use endpoint::Endpoint;

use super::{ByteStream, Engine, EngineError, Notes, Result, RunningExec, TreeStream};
use crate::domain::{
    Check, Details, EngineInfo, EngineKind, ExecId, ExecSpec, FileEntry, Happening, HostName,
    Sample, Sandbox, SandboxId, SandboxPath, SandboxSpec, TtySize,
};
use crate::guest::wire;
use crate::protocol::{Action, FileOp, SessionInfo};

/// Seconds to wait for an ordinary answer; a loaded engine may take long to start a container.
const ANSWER_SECONDS: u64 = 60;

/// A connected engine.
#[derive(Clone)]
struct Client {
    docker: Docker,
    endpoint: Endpoint,
    api_version: String,
    followed: followed::Followed,
}

/// Sandboxes on a Docker engine.
pub struct DockerEngine {
    host: HostName,
    endpoint: Endpoint,
    /// Which sandboxes are ours; others on the same engine are left alone.
    scope: String,
    client: OnceCell<Client>,
    pulls: pull::Pulls,
    creating: creating::Creating,
}

impl DockerEngine {
    /// Describes an engine; nothing is connected before it is used.
    #[must_use]
    pub fn new(host: HostName, endpoint: Endpoint, scope: impl Into<String>) -> Self {
        Self {
            host,
            endpoint,
            scope: scope.into(),
            client: OnceCell::new(),
            pulls: pull::Pulls::default(),
            creating: creating::Creating::default(),
        }
    }

    /// Connects at the first use; a failure is tried again at the next.
    async fn client(&self) -> Result<&Client> {
        self.client
            .get_or_try_init(|| connect(&self.endpoint))
            .await
    }
}

async fn connect(endpoint: &Endpoint) -> Result<Client> {
    let tried = format!("connecting to {endpoint}");
    let failed = |error| convert::error(&tried, error);
    let docker = match endpoint {
        Endpoint::Unix(path) => Docker::connect_with_unix(
            &path.display().to_string(),
            ANSWER_SECONDS,
            API_DEFAULT_VERSION,
        ),
        Endpoint::Tcp(address) => Docker::connect_with_http(
            &format!("tcp://{address}"),
            ANSWER_SECONDS,
            API_DEFAULT_VERSION,
        ),
    };
    let docker = docker
        .map_err(failed)?
        .negotiate_version()
        .await
        .map_err(failed)?;
    let version = docker.client_version();
    let api_version = format!("{}.{}", version.major_version, version.minor_version);
    Ok(Client {
        docker,
        endpoint: endpoint.clone(),
        api_version,
        followed: followed::Followed::default(),
    })
}

/// Makes a word that nobody can guess.
fn random_word() -> String {
    let words = [0, 1].map(|_| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(Utc::now().timestamp_nanos_opt())
    });
    format!("{:016x}{:016x}", words[0], words[1])
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

    async fn list(&self) -> Result<Vec<Sandbox>> {
        lifecycle::list(self.client().await?, &self.host, &self.scope).await
    }

    async fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Sandbox> {
        let client = self.client().await?;
        let id = lifecycle::create(
            client,
            &self.pulls,
            &self.creating,
            spec,
            &self.scope,
            notes,
        )
        .await?;
        let all = lifecycle::list(client, &self.host, &self.scope).await?;
        let made = all.into_iter().find(|sandbox| sandbox.reference.id == id);
        made.ok_or_else(|| EngineError::not_found(format!("the new sandbox {}", spec.name)))
    }

    async fn discard(&self, spec: &SandboxSpec) -> Result<()> {
        let client = self.client().await?;
        lifecycle::discard(client, &self.creating, &self.host, spec, &self.scope).await
    }

    async fn act(&self, id: &SandboxId, action: Action) -> Result<()> {
        lifecycle::act(self.client().await?, id, action).await
    }

    async fn inspect(&self, id: &SandboxId) -> Result<Details> {
        inspect::details(self.client().await?, &self.host, id).await
    }

    async fn exec(&self, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
        if let Some(session) = &spec.session {
            files::check_session(session)?;
        }
        exec::start(self.client().await?.clone(), id, spec).await
    }

    async fn cancel(&self, id: &SandboxId, exec: &ExecId) -> Result<()> {
        let client = self.client().await?;
        client.followed.call_off(exec);
        exec::cancel(client, id, exec).await
    }

    async fn resize(&self, terminal: &str, size: TtySize) -> Result<()> {
        terminal::resize(self.client().await?, terminal, size).await
    }

    async fn samples(&self, sandbox: &Sandbox) -> Result<BoxStream<'static, Result<Sample>>> {
        Ok(stats::stream(
            self.client().await?,
            &sandbox.reference.id,
            sandbox.limits,
        ))
    }

    async fn happenings(&self) -> Result<BoxStream<'static, Result<Happening>>> {
        let client = self.client().await?;
        client
            .docker
            .ping()
            .await
            .map_err(|e| convert::error(&format!("connecting to {}", self.endpoint), e))?;
        Ok(events::stream(client, &self.host, &self.scope))
    }

    async fn history(&self, since: DateTime<Utc>) -> Result<Vec<Happening>> {
        events::history(self.client().await?, &self.host, &self.scope, since).await
    }

    async fn file(&self, id: &SandboxId, op: &FileOp) -> Result<Vec<FileEntry>> {
        files::operate(self.client().await?, id, op).await
    }

    async fn read(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        limit: Option<u64>,
    ) -> Result<ByteStream> {
        files::read(self.client().await?, id, path, limit).await
    }

    async fn write(
        &self,
        id: &SandboxId,
        path: &SandboxPath,
        mode: Option<u32>,
        content: ByteStream,
    ) -> Result<()> {
        files::write(self.client().await?, id, path, mode, content).await
    }

    async fn pack(&self, id: &SandboxId, path: &SandboxPath) -> Result<TreeStream> {
        files::pack(self.client().await?, id, path).await
    }

    async fn unpack(&self, id: &SandboxId, path: &SandboxPath, tree: TreeStream) -> Result<()> {
        files::unpack(self.client().await?, id, path, tree).await
    }

    async fn sessions(&self, id: &SandboxId) -> Result<Vec<SessionInfo>> {
        let text = guest::output(self.client().await?, id, vec!["sessions".to_owned()]).await?;
        Ok(String::from_utf8_lossy(&text)
            .lines()
            .filter_map(session)
            .collect())
    }

    async fn drop_session(&self, id: &SandboxId, name: &str) -> Result<()> {
        files::check_session(name)?;
        guest::output(
            self.client().await?,
            id,
            vec!["forget".to_owned(), name.to_owned()],
        )
        .await
        .map(drop)
    }
}

fn session(line: &str) -> Option<SessionInfo> {
    let mut fields = line.split(' ');
    Some(SessionInfo {
        name: String::from_utf8_lossy(&wire::unescape(fields.next()?)).into_owned(),
        work_dir: String::from_utf8_lossy(&wire::unescape(fields.next()?)).into_owned(),
        variables: fields.next()?.parse().ok()?,
        used_at: DateTime::from_timestamp(fields.next()?.parse().ok()?, 0)?,
    })
}
