//! Images: looked up, and pulled once however many sandboxes wait for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bollard::models::CreateImageInfo;
use bollard::query_parameters::CreateImageOptionsBuilder;
use futures_util::StreamExt;

use super::Client;
use super::convert;
use crate::engine::{EngineError, Notes, Result};
use crate::protocol::FailureKind;

/// One lock per image, so that waiting for one pull holds up nobody else.
#[derive(Debug, Default)]
pub(super) struct Pulls(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Pulls {
    fn lock_of(&self, image: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|name, lock| name == image || Arc::strong_count(lock) > 1);
        locks.entry(image.to_owned()).or_default().clone()
    }
}

/// Makes sure that an image is there.
pub(super) async fn ensure(
    client: &Client,
    pulls: &Pulls,
    image: &str,
    notes: &Notes,
) -> Result<()> {
    check_name(image)?;
    if is_here(client, image).await? {
        return Ok(());
    }
    let lock = pulls.lock_of(image);
    notes.send(format!("waiting for {image}"), 0, None);
    let _turn = lock.lock().await;
    if is_here(client, image).await? {
        return Ok(());
    }
    pull(client, image, notes).await
}

/// Refuses what could not be part of a URL.
fn check_name(image: &str) -> Result<()> {
    let fine =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@');
    if image.starts_with(|c: char| c.is_ascii_alphanumeric())
        && image.chars().all(fine)
        && !image.contains("..")
    {
        return Ok(());
    }
    let shown = image.escape_default();
    Err(EngineError::new(
        FailureKind::Invalid,
        format!("`{shown}` is not an image name"),
    )
    .with_hint("an image looks like python:3.12-slim"))
}

async fn is_here(client: &Client, image: &str) -> Result<bool> {
    match client.docker.inspect_image(image).await {
        Ok(_) => Ok(true),
        Err(error) => match convert::error("looking up the image", error) {
            missing
                if matches!(
                    missing.kind,
                    FailureKind::ImageMissing | FailureKind::NotFound
                ) =>
            {
                Ok(false)
            }
            other => Err(other),
        },
    }
}

/// Splits name and tag; without a tag the engine would pull all of them.
fn name_and_tag(image: &str) -> (&str, &str) {
    let last = image.rsplit('/').next().unwrap_or(image);
    if image.contains('@') || !last.contains(':') {
        return (image, if image.contains('@') { "" } else { "latest" });
    }
    image.rsplit_once(':').unwrap_or((image, "latest"))
}

async fn pull(client: &Client, image: &str, notes: &Notes) -> Result<()> {
    let (name, tag) = name_and_tag(image);
    let options = CreateImageOptionsBuilder::new()
        .from_image(name)
        .tag(tag)
        .build();
    let mut steps = std::pin::pin!(client.docker.create_image(Some(options), None, None));
    let mut progress = Progress::default();
    notes.send(format!("pulling {image}"), 0, None);
    while let Some(step) = steps.next().await {
        let step = step.map_err(|error| explain(image, convert::error("pulling", error)))?;
        if let Some(reason) = step
            .error_detail
            .as_ref()
            .and_then(|detail| detail.message.clone())
        {
            return Err(explain(image, EngineError::internal(reason)));
        }
        let (done, total) = progress.add(&step);
        notes.send(format!("pulling {image}"), done, total);
    }
    Ok(())
}

fn explain(image: &str, error: EngineError) -> EngineError {
    if error.kind == FailureKind::Unreachable || error.kind == FailureKind::NoSpace {
        return error;
    }
    let reason = error.message.trim_start_matches("pulling: ").to_owned();
    EngineError::new(
        FailureKind::ImageMissing,
        format!("the image {image} is not on this engine and cannot be pulled: {reason}"),
    )
    .with_hint(
        "check the name, or load it by hand with `docker pull`, `docker load` or `docker import`",
    )
}

/// Adds up the layers of a pull.
#[derive(Default)]
struct Progress(HashMap<String, (u64, u64)>);

impl Progress {
    fn add(&mut self, step: &CreateImageInfo) -> (u64, Option<u64>) {
        let bytes = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let downloading = step.status.as_deref() == Some("Downloading");
        if let (Some(layer), Some(detail), true) = (&step.id, &step.progress_detail, downloading) {
            let counts = (
                bytes(detail.current).unwrap_or(0),
                bytes(detail.total).unwrap_or(0),
            );
            self.0.insert(layer.clone(), counts);
        } else if let (Some(layer), Some("Download complete" | "Pull complete")) =
            (&step.id, step.status.as_deref())
        {
            self.0
                .entry(layer.clone())
                .and_modify(|(done, total)| *done = *total);
        }
        let (done, total) = self
            .0
            .values()
            .fold((0, 0), |(d, t), (done, total)| (d + done, t + total));
        (done, (total > 0).then_some(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tag_means_latest() {
        assert_eq!(name_and_tag("python"), ("python", "latest"));
        assert_eq!(name_and_tag("python:3"), ("python", "3"));
        assert_eq!(
            name_and_tag("127.0.0.1:5000/a"),
            ("127.0.0.1:5000/a", "latest")
        );
        assert_eq!(
            name_and_tag("127.0.0.1:5000/a:1"),
            ("127.0.0.1:5000/a", "1")
        );
        assert_eq!(name_and_tag("a@sha256:00"), ("a@sha256:00", ""));
    }

    #[test]
    fn names_that_could_leave_the_url_are_refused() {
        for bad in ["", "../x", "a b", "a?b", "a\n", "-a", "a/../b", "a%2e"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        assert!(check_name("127.0.0.1:5000/team/app:1.0_x@sha256:ab").is_ok());
    }

    #[test]
    fn progress_adds_up_layers() {
        let step = |layer: &str, status: &str, current, total| CreateImageInfo {
            id: Some(layer.into()),
            status: Some(status.into()),
            progress_detail: Some(bollard::models::ProgressDetail {
                current: Some(current),
                total: Some(total),
            }),
            ..CreateImageInfo::default()
        };
        let mut progress = Progress::default();
        assert_eq!(
            progress.add(&step("a", "Pulling fs layer", 0, 0)),
            (0, None)
        );
        progress.add(&step("a", "Downloading", 5, 10));
        assert_eq!(
            progress.add(&step("b", "Downloading", 1, 20)),
            (6, Some(30))
        );
        assert_eq!(
            progress.add(&step("a", "Download complete", 0, 0)),
            (11, Some(30))
        );
    }
}
