//! One engine under a name, and calls to it that end in time.

use std::path::PathBuf;
use std::time::Duration;

use crate::domain::{HostName, Sandbox, SandboxId};
use crate::engine::{EngineError, SharedEngine};
use crate::protocol::{Failure, FailureKind};

/// One engine under a name.
#[derive(Clone)]
pub struct Host {
    /// Its name.
    pub name: HostName,
    /// Its engine.
    pub engine: SharedEngine,
    /// Where processes that share this engine agree on free slots; `None` keeps the count to this process.
    pub slots: Option<PathBuf>,
    /// Names the engine and the scope in the store, which several of them share.
    pub engine_key: String,
    /// What no sandbox may see of this machine: the engine's socket, sandtop's own state.
    pub protected: Vec<PathBuf>,
}

impl Host {
    /// Lists its sandboxes.
    pub(super) async fn list(&self) -> Result<Vec<Sandbox>, Failure> {
        within(LOOK_UP, "listing sandboxes", self.engine.list()).await
    }

    /// Lists those that a word may mean.
    pub(super) async fn named(&self, word: &str) -> Result<Vec<Sandbox>, Failure> {
        within(LOOK_UP, "looking for the sandbox", self.engine.named(word)).await
    }

    /// Finds one by its id.
    pub(super) async fn find(&self, id: &SandboxId) -> Result<Option<Sandbox>, Failure> {
        within(LOOK_UP, "looking for the sandbox", self.engine.find(id)).await
    }
}

/// Longest wait for an engine that only has to look something up.
pub(super) const LOOK_UP: Duration = Duration::from_secs(30);

/// How long an engine may take to say that it is there, when somebody wants to leave.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Ends when no engine gives a sign of life; never, if one does.
pub(super) async fn all_hang(hosts: &[Host]) {
    let signs = hosts.iter().map(|host| host.engine.info());
    let alive =
        futures_util::future::join_all(signs.map(|sign| tokio::time::timeout(SIGN_OF_LIFE, sign)));
    if alive.await.iter().any(Result::is_ok) {
        std::future::pending::<()>().await;
    }
}

/// Gives an engine call a limit of time.
pub(super) async fn within<T>(
    limit: Duration,
    what: &str,
    call: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, call).await {
        Ok(outcome) => outcome.map_err(Failure::from),
        Err(_) => Err(Failure::new(
            FailureKind::Timeout,
            format!(
                "{what}: the engine did not answer within {} s",
                limit.as_secs()
            ),
        )
        .with_hint("see whether the engine is overloaded, then try again")),
    }
}
