//! Changing and removing containers.

use std::collections::HashMap;
use std::path::Path;

use bollard::errors::Error;
use bollard::query_parameters::{
    KillContainerOptionsBuilder, ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
    RestartContainerOptionsBuilder, StopContainerOptionsBuilder,
};

use super::creating::Creating;
use super::{Client, Endpoint, convert};
use crate::domain::{HostName, Phase, SandboxId, SandboxSpec};
use crate::engine::{EngineError, Result, host_mounts};
use crate::protocol::{FailureKind, LifecycleOp};

/// Seconds between the polite and the final signal of a stop.
const STOP_SECONDS: i32 = 2;

/// Removes what an interrupted create of exactly this specification left.
pub(super) async fn discard(
    client: &Client,
    creating: &Creating,
    host: &HostName,
    spec: &SandboxSpec,
    scope: &str,
) -> Result<()> {
    creating.settled().await;
    let token = format!("{}={}", convert::TOKEN, spec.token);
    let scope = format!("{}={scope}", convert::SCOPE);
    let filters = HashMap::from([("label", vec![token.as_str(), scope.as_str()])]);
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let found = client
        .docker
        .list_containers(Some(options))
        .await
        .map_err(|e| convert::error("cleaning up", e))?;
    for sandbox in found
        .into_iter()
        .filter_map(|summary| convert::sandbox(host, summary))
    {
        remove(client, &sandbox.reference.id).await?;
    }
    Ok(())
}

/// Changes a phase; being there already is fine.
pub(super) async fn act(client: &Client, id: &SandboxId, action: LifecycleOp) -> Result<()> {
    match action {
        LifecycleOp::Start => start(client, id).await,
        LifecycleOp::Stop => stop(client, id).await,
        LifecycleOp::Restart => restart(client, id).await,
        LifecycleOp::Kill => kill(client, id).await,
        LifecycleOp::Pause => pause(client, id).await,
        LifecycleOp::Resume => resume(client, id).await,
        LifecycleOp::Remove { force: true } => remove(client, id).await,
        LifecycleOp::Remove { force: false } => remove_stopped(client, id).await,
    }
}

/// Reads the phase of one container.
pub(super) async fn phase(client: &Client, id: &SandboxId) -> Result<Phase> {
    let details = client
        .docker
        .inspect_container(id.as_str(), None)
        .await
        .map_err(|e| convert::error("looking at the sandbox", e))?;
    Ok(super::inspect::phase(details.state.as_ref()))
}

async fn start(client: &Client, id: &SandboxId) -> Result<()> {
    if phase(client, id).await? == Phase::Paused {
        return Err(
            EngineError::new(FailureKind::Conflict, "starting: it is paused")
                .with_hint("use `sandtop resume`"),
        );
    }
    check_mounts(client, id).await?;
    settled(
        client.docker.start_container(id.as_str(), None).await,
        "starting",
    )
}

/// Looks at the folders of the host before the engine follows their paths again; those of another machine cannot be seen.
async fn check_mounts(client: &Client, id: &SandboxId) -> Result<()> {
    if !matches!(client.endpoint, Endpoint::Unix(_)) {
        return Ok(());
    }
    let found = client.docker.inspect_container(id.as_str(), None).await;
    let found = found.map_err(|e| convert::error("looking at the sandbox", e))?;
    let mounts = super::inspect::mounts(&found).into_iter();
    mounts
        .filter(|mount| mount.kind == "bind")
        .try_for_each(|mount| host_mounts::check(Path::new(&mount.source)))
}

async fn stop(client: &Client, id: &SandboxId) -> Result<()> {
    // A paused process cannot hear the polite signal and would cost the whole waiting time.
    if phase(client, id).await? == Phase::Paused {
        resume(client, id).await?;
    }
    let options = StopContainerOptionsBuilder::new().t(STOP_SECONDS).build();
    settled(
        client
            .docker
            .stop_container(id.as_str(), Some(options))
            .await,
        "stopping",
    )
}

async fn restart(client: &Client, id: &SandboxId) -> Result<()> {
    if phase(client, id).await? == Phase::Paused {
        resume(client, id).await?;
    }
    if let Err(refused) = check_mounts(client, id).await {
        stop(client, id).await?;
        return Err(refused);
    }
    let options = RestartContainerOptionsBuilder::new()
        .t(STOP_SECONDS)
        .build();
    settled(
        client
            .docker
            .restart_container(id.as_str(), Some(options))
            .await,
        "restarting",
    )
}

async fn kill(client: &Client, id: &SandboxId) -> Result<()> {
    let was_paused = match phase(client, id).await? {
        Phase::Running => false,
        Phase::Paused => true,
        _ => return Ok(()),
    };
    let options = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
    let killed = client
        .docker
        .kill_container(id.as_str(), Some(options))
        .await;
    if was_paused {
        // The signal is delivered when the freezer lets go.
        let _ = client.docker.unpause_container(id.as_str()).await;
    }
    settled(killed, "killing")
}

async fn pause(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await? {
        Phase::Paused => Ok(()),
        _ => settled(client.docker.pause_container(id.as_str()).await, "pausing"),
    }
}

async fn resume(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await? {
        Phase::Running => Ok(()),
        Phase::Paused => settled(
            client.docker.unpause_container(id.as_str()).await,
            "resuming",
        ),
        // The engine would call this a fault of its own.
        other => Err(EngineError::new(
            FailureKind::Conflict,
            format!("resuming: it is {other}, not paused"),
        )
        .with_hint("use `sandtop start`")),
    }
}

/// Takes the engine's "already so" for success.
fn settled(result: std::result::Result<(), Error>, tried: &str) -> Result<()> {
    match result {
        Ok(())
        | Err(Error::DockerResponseServerError {
            status_code: 304, ..
        }) => Ok(()),
        Err(error) => Err(convert::error(tried, error)),
    }
}

async fn remove_stopped(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await {
        Ok(phase) if phase.is_live() => Err(EngineError::new(
            FailureKind::Conflict,
            format!("removing: it is {phase}"),
        )
        .with_hint("stop it first, or use `rm -f`")),
        Err(error) if error.kind == FailureKind::NotFound => Ok(()),
        Ok(_) => remove(client, id).await,
        Err(error) => Err(error),
    }
}

/// Removes a container with its volumes, running or not; one that is gone, or going, is fine.
pub(super) async fn remove(client: &Client, id: &SandboxId) -> Result<()> {
    let options = RemoveContainerOptionsBuilder::new()
        .force(true)
        .v(true)
        .build();
    let removed = client
        .docker
        .remove_container(id.as_str(), Some(options))
        .await;
    match removed.map_err(|error| convert::error("removing", error)) {
        Err(error) if error.kind == FailureKind::NotFound => Ok(()),
        Err(error) if error.message.contains("already in progress") => Ok(()),
        outcome => outcome,
    }
}
