//! Makes and starts containers; a create that fails leaves nothing.

use bollard::errors::Error;

use super::creating::Creating;
use super::guest_volume::{self, Fills};
use super::ownership::UserIds;
use super::{Client, convert, hardening, lifecycle, one_entry, ownership, pull};
use crate::domain::{Access, SandboxId, SandboxPath, SandboxSpec};
use crate::engine::{EngineError, Notes, Result};
use crate::guest::{self, wire};
use crate::protocol::FailureKind;

/// What creates of one engine share: work that is done once however many wait for it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) pulls: pull::Pulls,
    pub(super) creating: Creating,
    fills: Fills,
}

/// Copies the guest into a container that was made without it.
pub(super) async fn bring_guest(client: &Client, id: &SandboxId) -> Result<()> {
    let folder = wire::GUEST_DIR.trim_start_matches('/');
    let guest = one_entry::pack_guest(&format!("{folder}/guest"), UserIds::ROOT);
    one_entry::upload(client, id, "/", guest).await
}

/// Makes and starts a sandbox.
pub(super) async fn create(
    client: &Client,
    shared: &Shared,
    spec: &SandboxSpec,
    scope: &str,
    notes: &Notes,
) -> Result<SandboxId> {
    if !guest::is_available() {
        return Err(EngineError::new(
            FailureKind::Unsupported,
            "this build of sandtop carries no guest program for sandboxes",
        )
        .with_hint("build sandtop on Linux"));
    }
    let image = pull::ensure(client, &shared.pulls, &spec.image, notes);
    let ((), found) = tokio::try_join!(image, guest_volume::find(client))?;
    let guest = match found {
        Some(volume) => volume,
        None => shared.fills.fill(client, &spec.image).await?,
    };
    notes.send(format!("creating {}", spec.name), 0, None);
    let name = convert::container_name(spec.name.as_str());
    let made = shared
        .creating
        .container(client, &name, hardening::container(spec, scope, &guest))
        .await
        .map_err(|error| explain_create(spec, error))?;
    let id = SandboxId::new(made.id);
    if let Err(error) = prepare_and_start(client, &id, spec).await {
        lifecycle::remove(client, &id).await?;
        return Err(error);
    }
    Ok(id)
}

fn explain_create(spec: &SandboxSpec, error: Error) -> EngineError {
    let failed = convert::error(&format!("creating {}", spec.name), error);
    match failed.kind {
        FailureKind::Conflict => EngineError::new(
            FailureKind::Conflict,
            format!("the name {} is in use on this engine", spec.name),
        )
        .with_hint("choose another name, or remove that one first"),
        FailureKind::Invalid if failed.message.contains("bind source path does not exist") => {
            failed.with_hint("make the folder first")
        }
        _ => failed,
    }
}

async fn prepare_and_start(client: &Client, id: &SandboxId, spec: &SandboxSpec) -> Result<()> {
    let own: Vec<&SandboxPath> = work_dir(spec)
        .into_iter()
        .chain(written_set(spec))
        .collect();
    if !own.is_empty() {
        ownership::hand_over(client, id, &own, &spec.user).await?;
    }
    let started = client.docker.start_container(id.as_str(), None).await;
    started.map_err(|error| convert::error(&format!("starting {}", spec.name), error))
}

/// Returns the work directory, unless it is a folder of the host.
fn work_dir(spec: &SandboxSpec) -> Option<&SandboxPath> {
    let mut mounts = spec.mounts.iter();
    let is_mounted = mounts.any(|mount| mount.target == spec.work_dir);
    (!is_mounted).then_some(&spec.work_dir)
}

/// Returns where packages are to be installed.
fn written_set(spec: &SandboxSpec) -> Option<&SandboxPath> {
    let set = spec.packages.as_ref();
    let written = set.filter(|set| set.access == Access::ReadWrite);
    written.map(|set| &set.target)
}
