//! Docker's models and errors in our words; the only place that reads HTTP codes and daemon texts.

use std::collections::{BTreeMap, HashMap};

use bollard::errors::Error;
use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use chrono::{DateTime, Utc};

use crate::domain::{
    EngineKind, HostName, Limits, Owner, OwnerKind, Phase, Sandbox, SandboxId, SandboxPath,
    SandboxRef, WORKER_LABEL,
};
use crate::engine::EngineError;
use crate::protocol::FailureKind;

/// What all of our labels start with.
pub(super) const PREFIX: &str = "sandtop.";
/// Marks a container as a sandbox of ours; its value is the scope.
pub(super) const SCOPE: &str = "sandtop.scope";
pub(super) const PROFILE: &str = "sandtop.profile";
pub(super) const WORK_DIR: &str = "sandtop.workdir";
pub(super) const TOKEN: &str = "sandtop.token";
pub(super) const LIMITS: &str = "sandtop.limits";
pub(super) const CREATED: &str = "sandtop.created";
pub(super) const OWNER_HOST: &str = "sandtop.owner.host";
pub(super) const OWNER_PID: &str = "sandtop.owner.pid";
pub(super) const OWNER_START: &str = "sandtop.owner.start";
pub(super) const OWNER_USER: &str = "sandtop.owner.user";
pub(super) const OWNER_KIND: &str = "sandtop.owner.kind";
/// What goes before a name of one letter.
const ONE_LETTER: &str = "sandtop-";

/// Names the container of a sandbox: alike, but Docker refuses names of one letter.
pub(super) fn container_name(name: &str) -> String {
    if name.len() > 1 {
        name.to_owned()
    } else {
        format!("{ONE_LETTER}{name}")
    }
}

/// Names the sandbox of a container.
pub(super) fn sandbox_name(container: &str) -> String {
    let name = container.trim_start_matches('/');
    let letter = name.strip_prefix(ONE_LETTER).filter(|rest| rest.len() == 1);
    letter.unwrap_or(name).to_owned()
}

/// Turns a daemon error into ours; `tried` says what was tried, on what.
pub(super) fn error(tried: &str, error: Error) -> EngineError {
    match &error {
        Error::DockerResponseServerError {
            status_code,
            message,
        } => refused(tried, *status_code, message),
        Error::RequestTimeoutError => EngineError::new(
            FailureKind::Timeout,
            format!("{tried}: the engine did not answer in time"),
        )
        .with_hint("see whether the engine is overloaded, then try again"),
        Error::DockerStreamError { error } => EngineError::internal(format!("{tried}: {error}")),
        other => not_reached(tried, other),
    }
    .with_source(error)
}

fn refused(tried: &str, status: u16, message: &str) -> EngineError {
    let message = message.trim();
    let kind = match status {
        _ if message.contains("no space left on device") => FailureKind::NoSpace,
        404 if message.contains("No such image") => FailureKind::ImageMissing,
        404 => FailureKind::NotFound,
        400 => FailureKind::Invalid,
        401 | 403 => FailureKind::Denied,
        409 => FailureKind::Conflict,
        _ => FailureKind::Internal,
    };
    let failed = EngineError::new(kind, format!("{tried}: {message}"));
    match kind {
        FailureKind::NoSpace => failed.with_hint(
            "free some disk space on the engine's machine, for example with `sandtop rm`",
        ),
        _ => failed,
    }
}

/// Explains an error below HTTP: mostly a daemon that is not there.
fn not_reached(tried: &str, error: &Error) -> EngineError {
    let cause = io_cause(error);
    let permission = cause
        .as_ref()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
    let reason = cause.map_or_else(|| chain(error), ToString::to_string);
    let failed = EngineError::new(
        FailureKind::Unreachable,
        format!("{tried}: the Docker engine cannot be reached: {reason}"),
    );
    if permission {
        failed.with_hint("your user may not use the Docker socket; join the `docker` group or use another engine")
    } else {
        failed.with_hint("start the engine, or set DOCKER_HOST to its address; `sandtop doctor` tells what was tried")
    }
}

fn io_cause(error: &Error) -> Option<&std::io::Error> {
    // This variant is transparent: its source is what lies below the I/O error, not the error itself.
    if let Error::IOError { err } = error {
        return Some(err);
    }
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = next {
        if let Some(io) = current.downcast_ref::<std::io::Error>() {
            return Some(io);
        }
        next = current.source();
    }
    None
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut words = vec![error.to_string()];
    let mut next = error.source();
    while let Some(current) = next {
        words.push(current.to_string());
        next = current.source();
    }
    words.dedup();
    words.join(": ")
}

/// Reads a time as Docker writes it; its zero time means never.
pub(super) fn time(text: Option<&str>) -> Option<DateTime<Utc>> {
    let parsed = DateTime::parse_from_rfc3339(text?)
        .ok()?
        .with_timezone(&Utc);
    (parsed.timestamp() > 0).then_some(parsed)
}

/// Describes a listed container as a sandbox.
pub(super) fn sandbox(host: &HostName, summary: ContainerSummary) -> Option<Sandbox> {
    let labels = summary.labels.unwrap_or_default();
    let created = summary
        .created
        .and_then(|seconds| DateTime::from_timestamp(seconds, 0))?;
    let names = summary.names.unwrap_or_default();
    let name = names
        .first()
        .map(|name| sandbox_name(name))
        .unwrap_or_default();
    let network = summary
        .host_config
        .and_then(|config| config.network_mode)
        .unwrap_or_default();
    Some(Sandbox {
        reference: SandboxRef::new(host.clone(), SandboxId::new(summary.id?)),
        name,
        engine: EngineKind::Docker,
        image: summary.image.unwrap_or_default(),
        phase: phase(summary.state),
        created_at: time(labels.get(CREATED).map(String::as_str)).unwrap_or(created),
        started_at: None,
        owner: owner(&labels),
        limits: limits(&labels),
        network,
        work_dir: work_dir(labels.get(WORK_DIR)),
        labels: own_labels(&labels),
    })
}

fn phase(state: Option<ContainerSummaryStateEnum>) -> Phase {
    use ContainerSummaryStateEnum as State;
    match state {
        Some(State::CREATED) => Phase::Creating,
        Some(State::RUNNING | State::RESTARTING) => Phase::Running,
        Some(State::PAUSED) => Phase::Paused,
        Some(State::REMOVING) => Phase::Removing,
        Some(State::DEAD) => Phase::Dead,
        Some(_) => Phase::Stopped,
        None => Phase::Lost,
    }
}

/// Reads who made a container from its labels.
pub(super) fn owner(labels: &HashMap<String, String>) -> Option<Owner> {
    Some(Owner {
        host: labels.get(OWNER_HOST)?.clone(),
        pid: labels.get(OWNER_PID)?.parse().ok()?,
        started: labels.get(OWNER_START)?.parse().ok()?,
        kind: labels
            .get(OWNER_KIND)
            .map_or(OwnerKind::Cli, |word| OwnerKind::parse(word)),
        user: labels
            .get(OWNER_USER)
            .filter(|user| !user.is_empty())
            .cloned(),
    })
}

/// Reads the limits that were asked for from the labels.
pub(super) fn limits(labels: &HashMap<String, String>) -> Limits {
    labels
        .get(LIMITS)
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// Reads the work directory; without a label it is the root, where paths are what they say.
pub(super) fn work_dir(label: Option<&String>) -> SandboxPath {
    let parsed = label.and_then(|path| SandboxPath::parse(path.as_bytes()).ok());
    parsed.unwrap_or_else(SandboxPath::root)
}

/// Returns the user's labels without ours, but with the one that tells a worker.
pub(super) fn own_labels(labels: &HashMap<String, String>) -> BTreeMap<String, String> {
    labels
        .iter()
        .filter(|(key, _)| !key.starts_with(PREFIX) || *key == WORKER_LABEL)
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status_code: u16, message: &str) -> EngineError {
        error(
            "removing a",
            Error::DockerResponseServerError {
                status_code,
                message: message.into(),
            },
        )
    }

    #[test]
    fn daemon_answers_get_their_kind() {
        let table = [
            (404, "No such container: a", FailureKind::NotFound),
            (404, "No such image: b:latest", FailureKind::ImageMissing),
            (409, "name in use", FailureKind::Conflict),
            (400, "bad parameter", FailureKind::Invalid),
            (
                500,
                "write /x: no space left on device",
                FailureKind::NoSpace,
            ),
            (500, "other", FailureKind::Internal),
        ];
        for (status, message, kind) in table {
            assert_eq!(answer(status, message).kind, kind, "{message}");
        }
        assert_eq!(
            answer(404, "No such container: a").message,
            "removing a: No such container: a"
        );
    }

    #[test]
    fn a_closed_socket_is_unreachable_and_says_so() {
        let refused = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let failed = error("listing sandboxes", Error::IOError { err: refused });
        assert_eq!(failed.kind, FailureKind::Unreachable);
        assert!(
            failed
                .hint
                .is_some_and(|hint| hint.contains("docker` group"))
        );
    }

    #[test]
    fn names_of_one_letter_survive() {
        for name in ["a", "ab", "sandtop-ab", "x.y"] {
            assert_eq!(sandbox_name(&format!("/{}", container_name(name))), name);
        }
    }

    #[test]
    fn the_zero_time_means_never() {
        assert_eq!(time(Some("0001-01-01T00:00:00Z")), None);
        assert!(time(Some("2026-11-16T04:00:00.123456789Z")).is_some());
    }
}
