//! What the engine knows beyond our own record: commands of other tools, its own start, and volumes nobody needs.

use std::collections::HashMap;

use bollard::query_parameters::{
    EventsOptionsBuilder, ListVolumesOptionsBuilder, RemoveVolumeOptions,
};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt;

use super::{Client, convert, events, shelves};
use crate::domain::SandboxId;
use crate::engine::{EngineError, Result};
use crate::protocol::{FailureKind, Leftover};

/// Events that the engine remembers at most.
const REMEMBERED: usize = 256;
/// Younger volumes may belong to a container that is being made.
const YOUNG: TimeDelta = TimeDelta::seconds(60);
const VOLUME: &str = "volume";

/// Counts the commands that run in a container, without sandtop's own housekeeping.
pub(super) async fn running(client: &Client, id: &SandboxId) -> Result<usize> {
    let found = client
        .docker
        .inspect_container(id.as_str(), None)
        .await
        .map_err(|e| convert::error("looking at the sandbox", e))?;
    let mut count = 0;
    for exec in found.exec_ids.unwrap_or_default() {
        // One that is gone by now does not run.
        let Ok(exec) = client.docker.inspect_exec(&exec).await else {
            continue;
        };
        let line = exec.process_config.map(|process| {
            let program = process.entrypoint.unwrap_or_default();
            let words = process.arguments.unwrap_or_default();
            format!("{program} {}", words.join(" "))
        });
        let is_ours = line.is_some_and(|line| events::is_housekeeping(&line));
        if exec.running == Some(true) && !is_ours {
            count += 1;
        }
    }
    Ok(count)
}

/// Tells whether the engine was started after a moment: its memory begins with it.
pub(super) async fn restarted_since(client: &Client, at: DateTime<Utc>) -> Result<bool> {
    let until = (Utc::now().timestamp() + 1).to_string();
    let options = EventsOptionsBuilder::new().since("1").until(&until).build();
    let remembered: Vec<_> = client
        .docker
        .events(Some(options))
        .try_collect()
        .await
        .map_err(|e| convert::error("reading events", e))?;
    let reaches = remembered
        .iter()
        .filter_map(|message| message.time_nano)
        .any(|nanos| DateTime::from_timestamp_nanos(nanos) <= at + TimeDelta::milliseconds(200));
    // A full memory has forgotten things without any restart.
    Ok(!reaches && remembered.len() < REMEMBERED)
}

/// Lists volumes of ours that no container uses; shelves of packages wait for their next use.
pub(super) async fn leftovers(client: &Client, scope: &str) -> Result<Vec<Leftover>> {
    let label = format!("{}={scope}", convert::SCOPE);
    let filters = HashMap::from([("label", vec![label.as_str()]), ("dangling", vec!["true"])]);
    let options = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let found = client
        .docker
        .list_volumes(Some(options))
        .await
        .map_err(|e| convert::error("listing volumes", e))?;
    let volumes = found.volumes.unwrap_or_default().into_iter();
    let shelves = shelves::Census::take(client, scope).await?;
    let needless = volumes.filter(|volume| !shelves.needs(volume));
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
    let still = leftovers(client, scope).await?;
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
