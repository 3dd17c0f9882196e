//! Volumes of ours that nobody needs, and containers that only brought the guest.

use std::collections::{HashMap, HashSet};

use bollard::models::Volume;
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListVolumesOptionsBuilder, RemoveVolumeOptions,
};
use chrono::{DateTime, TimeDelta, Utc};

use super::{Client, convert, guest_volume, lifecycle, package_volumes};
use crate::domain::SandboxId;
use crate::engine::{EngineError, Result};
use crate::guest;
use crate::protocol::{FailureKind, Leftover};

/// Younger volumes may belong to a container that is being made.
const YOUNG: TimeDelta = TimeDelta::seconds(60);
/// So long the guest of another version stays, which another sandtop may want again.
const OTHER_VERSION: TimeDelta = TimeDelta::days(7);
const VOLUME: &str = "volume";
const CONTAINER: &str = "container";

/// Lists what carries our label and belongs to no sandbox.
pub(super) async fn list(client: &Client, scope: &str) -> Result<Vec<Leftover>> {
    let mut found = of_scope(client, scope).await?;
    found.extend(of_guests(client).await?);
    found.extend(carriers(client).await?);
    Ok(found)
}

fn leftover(kind: &str, name: String) -> Leftover {
    Leftover {
        kind: kind.to_owned(),
        name,
    }
}

async fn unused_volumes(client: &Client, label: &str) -> Result<Vec<Volume>> {
    let filters = HashMap::from([("label", vec![label]), ("dangling", vec!["true"])]);
    let options = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let found = client.docker.list_volumes(Some(options)).await;
    let found = found.map_err(|e| convert::error("listing volumes", e))?;
    Ok(found.volumes.unwrap_or_default())
}

fn age(volume: &Volume) -> TimeDelta {
    let made = volume.created_at.as_ref().map(ToString::to_string);
    convert::time(made.as_deref()).map_or(TimeDelta::zero(), |made| Utc::now() - made)
}

/// Lists volumes that no container uses; package sets wait for their next use.
async fn of_scope(client: &Client, scope: &str) -> Result<Vec<Leftover>> {
    let volumes = unused_volumes(client, &format!("{}={scope}", convert::SCOPE)).await?;
    let package_volumes = package_volumes::Census::take(client, scope).await?;
    let needless = volumes
        .into_iter()
        .filter(|volume| !package_volumes.needs(volume) && age(volume) > YOUNG);
    Ok(needless
        .map(|volume| leftover(VOLUME, volume.name))
        .collect())
}

/// Lists volumes with a guest that are not used any more.
async fn of_guests(client: &Client) -> Result<Vec<Leftover>> {
    let volumes = unused_volumes(client, guest_volume::VERSION).await?;
    let version = guest::version();
    let needless = needless_guests(&volumes, &version);
    Ok(needless
        .map(|volume| leftover(VOLUME, volume.name.clone()))
        .collect())
}

/// Picks of unused volumes with guests: what nobody finished, and after some time those of other versions. The mark of a
/// volume in use stands alone here and goes with its version, too: nobody looks for it any more.
fn needless_guests<'a>(
    volumes: &'a [Volume],
    version: &'a str,
) -> impl Iterator<Item = &'a Volume> {
    let on = |volume: &'a Volume| volume.labels.get(guest_volume::ON);
    let marked: HashSet<&String> = volumes.iter().filter_map(on).collect();
    volumes.iter().filter(move |volume| {
        let is_finished = on(volume).is_some() || marked.contains(&volume.name);
        let is_other = volume
            .labels
            .get(guest_volume::VERSION)
            .is_some_and(|v| v != version);
        let stays = match (is_finished, is_other) {
            (false, _) => YOUNG,
            (true, true) => OTHER_VERSION,
            (true, false) => return false,
        };
        age(volume) > stays
    })
}

/// Lists containers through which a guest was to be written, by a process that was killed.
async fn carriers(client: &Client) -> Result<Vec<Leftover>> {
    let filters = HashMap::from([
        ("label", vec![guest_volume::VERSION]),
        ("status", vec!["created"]),
    ]);
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let found = client.docker.list_containers(Some(options)).await;
    let found = found.map_err(|e| convert::error("listing containers", e))?;
    let old = found.into_iter().filter(|summary| {
        let made = summary
            .created
            .and_then(|at| DateTime::from_timestamp(at, 0));
        made.is_some_and(|made| Utc::now() - made > YOUNG)
    });
    let ids = old.filter_map(|summary| summary.id);
    Ok(ids.map(|id| leftover(CONTAINER, id)).collect())
}

/// Removes a leftover; the engine refuses a volume that a container uses by now.
pub(super) async fn remove(client: &Client, scope: &str, leftover: &Leftover) -> Result<()> {
    let still = list(client, scope).await?;
    if !still.contains(leftover) {
        let words = format!("the {} {} is in use", leftover.kind, leftover.name);
        return Err(EngineError::new(FailureKind::Conflict, words));
    }
    if leftover.kind == CONTAINER {
        return lifecycle::remove(client, &SandboxId::new(leftover.name.clone())).await;
    }
    client
        .docker
        .remove_volume(&leftover.name, None::<RemoveVolumeOptions>)
        .await
        .map_err(|e| convert::error("removing a volume", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str, version: &str, on: Option<&str>, old: TimeDelta) -> Volume {
        let mut labels = HashMap::from([(guest_volume::VERSION.to_owned(), version.to_owned())]);
        labels.extend(on.map(|on| (guest_volume::ON.to_owned(), on.to_owned())));
        let made = (Utc::now() - old).to_rfc3339();
        let json = serde_json::json!({
            "Name": name, "Driver": "local", "Mountpoint": "", "Labels": labels, "Options": {},
            "Scope": "local", "CreatedAt": made,
        });
        serde_json::from_value(json).expect("a volume")
    }

    #[test]
    fn what_was_never_finished_goes_and_our_own_guest_stays() {
        let old = TimeDelta::days(30);
        let volumes = [
            volume("ours-a", "1", None, old),
            volume("ours", "1", Some("ours-a"), old),
            volume("cut-off", "1", None, TimeDelta::seconds(90)),
            volume("being-filled", "1", None, TimeDelta::seconds(5)),
            volume("theirs-a", "2", None, TimeDelta::days(6)),
            volume("theirs", "2", Some("theirs-a"), TimeDelta::days(6)),
            volume("oldest-a", "3", None, old),
            volume("oldest", "3", Some("oldest-a"), old),
        ];
        let needless = needless_guests(&volumes, "1").map(|volume| volume.name.as_str());
        let needless: Vec<&str> = needless.collect();
        assert_eq!(needless, ["cut-off", "oldest-a", "oldest"]);
    }
}
