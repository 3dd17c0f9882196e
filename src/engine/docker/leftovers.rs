//! Volumes of ours that nobody needs.

use std::collections::HashMap;

use bollard::query_parameters::{ListVolumesOptionsBuilder, RemoveVolumeOptions};
use chrono::{TimeDelta, Utc};

use super::{Client, convert, package_volumes};
use crate::engine::{EngineError, Result};
use crate::protocol::{FailureKind, Leftover};

/// Younger volumes may belong to a container that is being made.
const YOUNG: TimeDelta = TimeDelta::seconds(60);
const VOLUME: &str = "volume";

/// Lists volumes of ours that no container uses; package sets wait for their next use.
pub(super) async fn list(client: &Client, scope: &str) -> Result<Vec<Leftover>> {
    let label = format!("{}={scope}", convert::SCOPE);
    let filters = HashMap::from([("label", vec![label.as_str()]), ("dangling", vec!["true"])]);
    let options = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let found = client
        .docker
        .list_volumes(Some(options))
        .await
        .map_err(|e| convert::error("listing volumes", e))?;
    let volumes = found.volumes.unwrap_or_default().into_iter();
    let package_volumes = package_volumes::Census::take(client, scope).await?;
    let needless = volumes.filter(|volume| !package_volumes.needs(volume));
    let old = needless.filter(|volume| {
        let made = volume.created_at.as_ref().map(ToString::to_string);
        let made = convert::time(made.as_deref());
        made.is_some_and(|made| Utc::now() - made > YOUNG)
    });
    let leftovers = old.map(|volume| Leftover {
        kind: VOLUME.to_owned(),
        name: volume.name,
    });
    Ok(leftovers.collect())
}

/// Removes a volume; the engine refuses if a container uses it by now.
pub(super) async fn remove(client: &Client, scope: &str, leftover: &Leftover) -> Result<()> {
    let still = list(client, scope).await?;
    if !still.contains(leftover) {
        let words = format!("the {} {} is in use", leftover.kind, leftover.name);
        return Err(EngineError::new(FailureKind::Conflict, words));
    }
    client
        .docker
        .remove_volume(&leftover.name, None::<RemoveVolumeOptions>)
        .await
        .map_err(|e| convert::error("removing a volume", e))
}
