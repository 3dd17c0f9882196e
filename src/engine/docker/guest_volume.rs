//! The guest program on a volume, one for each version of it, read-only in every container.
//!
//! An upload into each container would take longer than making it. Nobody sees from outside whether a volume holds what it
//! should, so it is filled under a random name first; a second, empty volume, which is made when that is done, says which one
//! it is. Of two that fill at once the first to say so wins. Neither carries a scope: all sandboxes of an engine share them.

use std::sync::Arc;

use bollard::models::{
    ContainerCreateBody, HostConfig, Mount, MountType, MountVolumeOptions, Volume,
    VolumeCreateRequest,
};
use bollard::query_parameters::{CreateContainerOptions, RemoveVolumeOptions};
use tokio::sync::Mutex;

use super::ownership::UserIds;
use super::{Client, convert, lifecycle, one_entry};
use crate::domain::SandboxId;
use crate::engine::guest::{command_line, random_word};
use crate::engine::{EngineError, Result};
use crate::guest::{self, wire};
use crate::protocol::FailureKind;

/// Marks all that belongs to such volumes; its value is the version of the guest.
pub(super) const VERSION: &str = "sandtop.guest";
/// On the second volume: the name of the first.
pub(super) const ON: &str = "sandtop.guest.on";

/// Names the second volume, which everybody finds.
fn mark_name() -> String {
    format!("sandtop-guest-{}", guest::version())
}

/// Mounts the guest's volume where its program is expected.
pub(super) fn mount(volume: &str) -> Mount {
    Mount {
        target: Some(wire::GUEST_DIR.to_owned()),
        source: Some(volume.to_owned()),
        typ: Some(MountType::VOLUME),
        read_only: Some(true),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            ..MountVolumeOptions::default()
        }),
        ..Mount::default()
    }
}

/// Finds the volume that holds this program's guest.
pub(super) async fn find(client: &Client) -> Result<Option<String>> {
    let Some(mark) = volume(client, &mark_name()).await? else {
        return Ok(None);
    };
    let Some(name) = mark.labels.get(ON) else {
        return Ok(None);
    };
    let found = volume(client, name).await?;
    if found.is_none() {
        // Somebody cleared the engine up; the next one to fill it makes a new mark.
        remove(client, &mark.name).await;
    }
    Ok(found.map(|volume| volume.name))
}

async fn volume(client: &Client, name: &str) -> Result<Option<Volume>> {
    let found = client.docker.inspect_volume(name).await;
    match found.map_err(|error| convert::error("looking for sandtop's helper", error)) {
        Ok(volume) => Ok(Some(volume)),
        Err(error) if error.kind == FailureKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Fills volumes, one at a time.
#[derive(Debug, Default)]
pub(super) struct Fills(Arc<Mutex<()>>);

impl Fills {
    /// Puts the guest on a volume, unless that was done meanwhile. The work goes on when this is dropped: what it makes on the
    /// way must not stay.
    pub(super) async fn fill(&self, client: &Client, image: &str) -> Result<String> {
        let turn = Arc::clone(&self.0).lock_owned().await;
        let (client, image) = (client.clone(), image.to_owned());
        let filling = tokio::spawn(async move {
            let filled = fill(&client, &image).await;
            drop(turn);
            filled
        });
        let failed = |error| EngineError::internal(format!("a task of the engine failed: {error}"));
        filling.await.map_err(failed)?
    }
}

async fn fill(client: &Client, image: &str) -> Result<String> {
    if let Some(found) = find(client).await? {
        return Ok(found);
    }
    let name = format!("{}-{}", mark_name(), random_word());
    create(client, &name, &[(VERSION, &guest::version())]).await?;
    let settled = match write(client, image, &name).await {
        Ok(()) => settle(client, &name).await,
        Err(error) => Err(error),
    };
    if settled.as_ref().ok() != Some(&name) {
        remove(client, &name).await;
    }
    settled
}

/// Says that a volume is filled, and returns the one that was first to be.
async fn settle(client: &Client, name: &str) -> Result<String> {
    let version = guest::version();
    let mark = create(client, &mark_name(), &[(VERSION, &version), (ON, name)]).await?;
    let first = mark.labels.get(ON).cloned();
    first.ok_or_else(|| {
        let words = format!("the volume {} on this engine is not sandtop's", mark.name);
        EngineError::new(FailureKind::Conflict, words).with_hint("remove it, then try again")
    })
}

/// Makes a volume; one of this name that is there already stays as it is, and is returned.
async fn create(client: &Client, name: &str, labels: &[(&str, &str)]) -> Result<Volume> {
    let labels = labels.iter();
    let request = VolumeCreateRequest {
        name: Some(name.to_owned()),
        labels: Some(
            labels
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        ),
        ..VolumeCreateRequest::default()
    };
    let made = client.docker.create_volume(request).await;
    made.map_err(|error| convert::error("making a place for sandtop's helper", error))
}

/// Removes a volume of which nobody knows; if that fails, the reaper finds it.
async fn remove(client: &Client, name: &str) {
    let options = None::<RemoveVolumeOptions>;
    if let Err(error) = client.docker.remove_volume(name, options).await {
        tracing::debug!(%error, name, "a volume was not removed");
    }
}

/// Writes the guest to a volume, through a container that never starts.
async fn write(client: &Client, image: &str, volume: &str) -> Result<()> {
    let mount = Mount {
        read_only: Some(false),
        ..mount(volume)
    };
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(command_line(Vec::new())),
        labels: Some([(VERSION.to_owned(), guest::version())].into()),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            mounts: Some(vec![mount]),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    let options = None::<CreateContainerOptions>;
    let made = client.docker.create_container(options, body).await;
    let made = made.map_err(|error| convert::error("bringing sandtop's helper", error))?;
    let id = SandboxId::new(made.id);
    let guest = one_entry::pack_guest("guest", UserIds::GUEST);
    let written = one_entry::upload(client, &id, wire::GUEST_DIR, guest).await;
    lifecycle::remove(client, &id).await?;
    written
}
