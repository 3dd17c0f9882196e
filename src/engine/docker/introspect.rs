//! Looks at containers and the engine without touching them: changed files, commands that run, images, the last restart.

use std::collections::HashSet;

use bollard::models::{ChangeType, FilesystemChange, ImageSummary};
use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, EventsOptionsBuilder, ListImagesOptionsBuilder,
};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt;

use super::{Client, convert, events, paused_files};
use crate::domain::{Change, ChangeKind, Changes, Image, Phase, SandboxId, SandboxPath};
use crate::engine::Result;
use crate::engine::guest::Guests;

/// Events that the engine remembers at most.
const REMEMBERED: usize = 256;
/// Files that the engine itself puts into every container.
const ENGINE_FILES: [&str; 10] = [
    "/.dockerenv",
    "/dev",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/mtab",
    "/etc/resolv.conf",
    "/proc",
    "/sbin/docker-init",
    "/sys",
    // Where `/sbin` is a link.
    "/usr/sbin/docker-init",
];

/// Tells what changed: in the image's files by the engine's own account, in the work directory and `/tmp`, which that account
/// leaves out, by the guest's.
pub(super) async fn changes(client: &Client, guests: &Guests, id: &SandboxId) -> Result<Changes> {
    let found = client
        .docker
        .inspect_container(id.as_str(), None)
        .await
        .map_err(|e| convert::error("looking at the sandbox", e))?;
    let diff = client
        .docker
        .container_changes(id.as_str())
        .await
        .map_err(|e| convert::error("comparing the sandbox with its image", e))?;
    let mounts = super::inspect::mounts(&found);
    let targets: HashSet<&str> = mounts.iter().map(|mount| mount.target.as_str()).collect();
    let mut changes = Changes {
        files: of_image(&diff.unwrap_or_default(), &targets),
        looked_at: vec!["the files of the image".to_owned()],
        ..Changes::default()
    };
    let work_dir = convert::work_dir(found.config.as_ref().and_then(|c| c.working_dir.as_ref()));
    match super::inspect::phase(found.state.as_ref()) {
        Phase::Running => guests.add_changes(id, &work_dir, &mut changes).await?,
        Phase::Paused => {
            let born = convert::time(found.created.as_deref()).unwrap_or_default();
            let newer = paused_files::since(client, id, &work_dir, born).await;
            add_from_paused(newer, &work_dir, &mut changes);
        }
        phase => changes.gaps.push(format!(
            "{work_dir} and /tmp cannot be looked at while the sandbox is {phase}"
        )),
    }
    let host = mounts.iter().filter(|mount| mount.kind == "bind");
    let host = host.filter(|mount| mount.target != work_dir.to_string());
    changes.gaps.extend(host.map(|mount| {
        let target = &mount.target;
        format!("{target} is a folder of the host, which is not looked at")
    }));
    Ok(changes.tidied())
}

/// Adds what the engine could read of the work directory of a paused container.
fn add_from_paused(
    newer: Option<Result<Vec<Change>>>,
    work_dir: &SandboxPath,
    changes: &mut Changes,
) {
    let gap = match newer {
        Some(Ok(files)) => {
            changes.files.extend(files);
            changes.looked_at.push(work_dir.to_string());
            format!(
                "while the sandbox is paused, changes in {work_dir} are known by the times of files alone: all of them look \
                 added, and those that were given an older time are not told"
            )
        }
        Some(Err(error)) => format!("{work_dir}: {error}"),
        None => format!("{work_dir} cannot be looked at while the sandbox is paused"),
    };
    changes.gaps.push(gap);
    let gap = "/tmp is in memory and cannot be looked at while the sandbox is paused";
    changes.gaps.push(gap.to_owned());
}

/// Reads the engine's account, without what the engine itself had to do to start the container.
fn of_image(diff: &[FilesystemChange], mounts: &HashSet<&str>) -> Vec<Change> {
    let is_engines = |path: &str| {
        let below = |tree: &&str| path.strip_prefix(*tree).is_some_and(|r| r.starts_with('/'));
        ENGINE_FILES.contains(&path) || ENGINE_FILES.iter().any(below)
    };
    let made: Vec<&FilesystemChange> = diff
        .iter()
        .filter(|change| !is_engines(&change.path) && !mounts.contains(change.path.as_str()))
        .collect();
    // A folder that holds a change is listed as changed, and one that was made for the engine's own as added.
    let touched: HashSet<&str> = diff.iter().flat_map(|c| above(&c.path)).collect();
    let engines = mounts.iter().chain(&ENGINE_FILES).copied();
    let needed: HashSet<&str> = engines.flat_map(above).collect();
    let is_way = |change: &&FilesystemChange| match change.kind {
        ChangeType::_0 => touched.contains(change.path.as_str()),
        ChangeType::_1 => needed.contains(change.path.as_str()),
        ChangeType::_2 => false,
    };
    let own = made.into_iter().filter(|change| !is_way(change));
    own.filter_map(|change| {
        Some(Change {
            path: SandboxPath::parse(change.path.as_bytes()).ok()?,
            kind: match change.kind {
                ChangeType::_0 => ChangeKind::Changed,
                ChangeType::_1 => ChangeKind::Added,
                ChangeType::_2 => ChangeKind::Deleted,
            },
            now: None,
        })
    })
    .collect()
}

/// Iterates over the folders that a path lies in.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/')
        .filter_map(|(at, _)| path.get(..at))
        .filter(|up| !up.is_empty())
}

/// Lists the images that have a name.
pub(super) async fn images(client: &Client) -> Result<Vec<Image>> {
    let options = ListImagesOptionsBuilder::new().build();
    let found = client
        .docker
        .list_images(Some(options))
        .await
        .map_err(|e| convert::error("listing images", e))?;
    let mut images: Vec<Image> = found.iter().flat_map(named).collect();
    images.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(images)
}

/// Asks the engine itself whether a file is there, which takes no process in the container.
pub(super) async fn has_file(client: &Client, id: &SandboxId, path: &SandboxPath) -> bool {
    let options = ContainerArchiveInfoOptionsBuilder::new()
        .path(&path.to_string())
        .build();
    let asked = client
        .docker
        .get_container_archive_info(id.as_str(), Some(options));
    asked.await.is_ok()
}

/// Names an image by its content, and the platform it is for.
pub(super) async fn image_key(client: &Client, image: &str) -> Result<String> {
    let found = client
        .docker
        .inspect_image(image)
        .await
        .map_err(|e| convert::error(&format!("looking up the image {image}"), e))?;
    let words = [found.id, found.os, found.architecture, found.variant];
    let words: Vec<String> = words.into_iter().flatten().collect();
    Ok(words.join(" "))
}

fn named(image: &ImageSummary) -> impl Iterator<Item = Image> {
    let names = image.repo_tags.iter();
    names
        .filter(|name| !name.contains("<none>"))
        .map(|name| Image {
            name: name.clone(),
            id: image.id.clone(),
            size_bytes: u64::try_from(image.size).ok(),
            created_at: DateTime::from_timestamp(image.created, 0),
        })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(kind: ChangeType, path: &str) -> FilesystemChange {
        FilesystemChange {
            kind,
            path: path.to_owned(),
        }
    }

    #[test]
    fn what_the_engine_did_to_start_a_container_is_not_told() {
        use ChangeType as T;
        let mounts = HashSet::from(["/.sandtop", "/work/space", "/run/sandtop", "/tmp"]);
        let account = [
            diff(T::_1, "/.sandtop"),
            diff(T::_1, "/work"),
            diff(T::_1, "/work/space"),
            diff(T::_0, "/run"),
            diff(T::_1, "/run/sandtop"),
            diff(T::_0, "/etc"),
            diff(T::_1, "/etc/mtab"),
            diff(T::_0, "/etc/passwd"),
            diff(T::_0, "/usr"),
            diff(T::_1, "/usr/new"),
            diff(T::_1, "/usr/new/file"),
            diff(T::_2, "/usr/old"),
            diff(T::_1, "/dev/console"),
            diff(T::_1, "/sbin"),
            diff(T::_1, "/sbin/docker-init"),
            diff(T::_0, "/usr/sbin"),
            diff(T::_1, "/usr/sbin/docker-init"),
        ];
        let told: Vec<_> = of_image(&account, &mounts)
            .iter()
            .map(|change| format!("{} {}", change.kind.letter(), change.path))
            .collect();
        let expected = [
            "C /etc/passwd",
            "A /usr/new",
            "A /usr/new/file",
            "D /usr/old",
        ];
        assert_eq!(told, expected);
    }
}
