//! Chooses the engine: the one asked for, else Docker if it answers, else the local one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cli;
use crate::config::Config;
use crate::domain::{EngineKind, HostName};
use crate::engine::SharedEngine;
use crate::engine::demo::DemoEngine;
use crate::engine::docker::{DockerEngine, Endpoint};
use crate::engine::local::LocalEngine;
use crate::guest::wire;
use crate::manager::Host;
use crate::protocol::{Failure, FailureKind};

/// Separates the sandboxes of groups that share one engine; tests use scopes of their own.
const SCOPE_VARIABLE: &str = "SANDTOP_SCOPE";

/// How long Docker may take to accept a connection before the local engine is used instead.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything that engines are made from.
struct EngineEnv<'a> {
    config: &'a Config,
    state: Option<&'a Path>,
    environment: BTreeMap<String, String>,
    scope: String,
}

/// Finds the engine to use.
pub(crate) async fn host(config: &Config, state: Option<&Path>) -> Result<Host, Failure> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let scope = environment.get(SCOPE_VARIABLE).filter(|s| !s.is_empty());
    let env = EngineEnv {
        config,
        state,
        scope: scope.map_or_else(|| "default".to_owned(), Clone::clone),
        environment,
    };
    match config.engine {
        Some(EngineKind::Demo) => Ok(env.demo()),
        Some(EngineKind::Docker) => Ok(env.docker(env.endpoint()?)),
        Some(EngineKind::Local) => env.local("it was asked for"),
        None => env.first_that_answers().await,
    }
}

fn name() -> HostName {
    HostName::new(cli::HOST)
}

impl EngineEnv<'_> {
    fn demo(&self) -> Host {
        Host {
            engine: Arc::new(DemoEngine::with_samples(name())),
            name: name(),
            slots: None,
            engine_key: "demo".to_owned(),
            protected: self.protected(),
        }
    }

    /// Finds what no sandbox may see: whoever writes there controls the engine or other sandboxes.
    fn protected(&self) -> Vec<PathBuf> {
        let sockets = Endpoint::usual_sockets(&self.environment).into_iter();
        let used = match self.endpoint() {
            Ok(Endpoint::Unix(path)) => Some(path),
            Ok(Endpoint::Tcp(_)) | Err(_) => None,
        };
        let state = self.state.map(Path::to_owned);
        let paths = sockets
            .chain(used)
            .filter(|path| path.exists())
            .chain(state);
        // Mounts are judged by their real paths.
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        paths.map(real).collect()
    }

    fn endpoint(&self) -> Result<Endpoint, Failure> {
        let given = self.config.docker_host.as_deref();
        Ok(Endpoint::find(given, &self.environment)?)
    }

    async fn first_that_answers(&self) -> Result<Host, Failure> {
        let endpoint = self.endpoint();
        let why_not = match &endpoint {
            Ok(endpoint) => endpoint.answers(PATIENCE).await.err(),
            Err(failure) => Some(failure.message.clone()),
        };
        match (endpoint, why_not) {
            (Ok(endpoint), None) => Ok(self.docker(endpoint)),
            (_, why) => {
                let why = why.unwrap_or_default();
                self.local(&format!("no Docker engine answers ({why})"))
            }
        }
    }

    fn docker(&self, endpoint: Endpoint) -> Host {
        let engine_key = self.engine_key(&endpoint.to_string());
        let engine: SharedEngine = Arc::new(
            DockerEngine::new(name(), endpoint, &*self.scope).adopting(self.config.adopt.clone()),
        );
        Host {
            name: name(),
            engine,
            slots: self.slots(&engine_key),
            engine_key,
            protected: self.protected(),
        }
    }

    fn local(&self, why: &str) -> Result<Host, Failure> {
        let state = self.state.ok_or_else(|| {
            let message = "the local engine has no folder to keep its sandboxes in";
            Failure::new(FailureKind::Denied, message)
                .with_hint("`sandtop doctor` says why the state directory cannot be used; or set XDG_STATE_HOME")
        })?;
        let why = format!("local: {why}");
        let engine = LocalEngine::new(name(), state, &self.scope, why);
        let engine_key = self.engine_key("local");
        Ok(Host {
            name: name(),
            engine: Arc::new(engine),
            slots: self.slots(&engine_key),
            engine_key,
            protected: self.protected(),
        })
    }

    /// Names an engine and the scope in a word that files can be called.
    fn engine_key(&self, engine: &str) -> String {
        let engine_key = format!("{engine}#{}", self.scope);
        wire::escape(engine_key.as_bytes()).replace('/', "+")
    }

    /// Names the folder where processes that share an engine reserve places for new sandboxes.
    fn slots(&self, engine_key: &str) -> Option<PathBuf> {
        Some(self.state?.join("slots").join(engine_key))
    }
}
