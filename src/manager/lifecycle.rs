//! Requests about whole sandboxes: list, create, change, inspect.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::context::Context;
use super::{Host, slots};
use crate::domain::{HostName, RequestId, Sandbox, SandboxRef, SandboxSpec};
use crate::engine::Notes;
use crate::protocol::{Action, Event, Failure, FailureKind, Reply};

/// Longest wait for an engine that only has to look something up.
const LOOK_UP: Duration = Duration::from_secs(30);

/// Gives an engine call a limit of time.
async fn within<T>(
    limit: Duration,
    what: &str,
    call: impl Future<Output = Result<T, crate::engine::EngineError>>,
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

/// Lists all hosts; it fails only if no host answers.
pub(super) async fn refresh(context: &Context) -> Result<Reply, Failure> {
    let lists = join_all(
        context
            .hosts()
            .iter()
            .map(|host| within(LOOK_UP, "listing sandboxes", host.engine.list())),
    )
    .await;
    let (mut all, mut failure) = (Vec::new(), None);
    for (host, list) in context.hosts().iter().zip(lists) {
        match list {
            Ok(sandboxes) => all.extend(announce(context, host, sandboxes).await),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(failure) if all.is_empty() => Err(failure),
        _ => Ok(Reply::Sandboxes(all)),
    }
}

async fn announce(context: &Context, host: &Host, sandboxes: Vec<Sandbox>) -> Vec<Sandbox> {
    context
        .send(Event::Sandboxes {
            host: host.name.clone(),
            sandboxes: sandboxes.clone(),
        })
        .await;
    sandboxes
}

/// Makes a sandbox. When the manager ends meanwhile, what was made so far goes.
pub(super) async fn create(
    context: &Context,
    request: RequestId,
    host: &HostName,
    spec: &SandboxSpec,
) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let (notes, mut heard) = mpsc::channel(16);
    let reserved = slots::reserve(
        &host.engine,
        host.slots.as_deref(),
        spec.name.as_str(),
        context.options.max_sandboxes,
    )
    .await?;
    let notes = Notes::to(notes);
    let mut making = host.engine.create(spec, &notes);
    let outcome = loop {
        tokio::select! {
            made = &mut making => break made.map_err(Failure::from),
            Some(note) = heard.recv() => context.progress(request, note),
            () = context.closing() => {
                drop(making);
                break interrupted(host, spec).await;
            }
        }
    };
    drop(reserved);
    outcome.map(|sandbox| Reply::Created(Box::new(sandbox)))
}

async fn interrupted(host: &Host, spec: &SandboxSpec) -> Result<Sandbox, Failure> {
    host.engine.discard(spec).await?;
    Err(Failure::new(
        FailureKind::Interrupted,
        format!(
            "creating {} was called off; nothing is left of it",
            spec.name
        ),
    ))
}

/// Changes a phase; operations on one sandbox wait for each other.
pub(super) async fn act(
    context: &Context,
    sandbox: &SandboxRef,
    action: Action,
) -> Result<Reply, Failure> {
    let engine = context.engine(sandbox)?;
    let _turn = context.turn(sandbox).await;
    engine.act(&sandbox.id, action).await?;
    Ok(Reply::Done)
}

/// Tells everything about a sandbox.
pub(super) async fn inspect(context: &Context, sandbox: &SandboxRef) -> Result<Reply, Failure> {
    let details = within(
        LOOK_UP,
        "inspecting",
        context.engine(sandbox)?.inspect(&sandbox.id),
    )
    .await?;
    Ok(Reply::Details(Box::new(details)))
}

/// Lists named sessions.
pub(super) async fn sessions(context: &Context, sandbox: &SandboxRef) -> Result<Reply, Failure> {
    within(
        LOOK_UP,
        "listing sessions",
        context.engine(sandbox)?.sessions(&sandbox.id),
    )
    .await
    .map(Reply::Sessions)
}

/// Forgets a named session.
pub(super) async fn drop_session(
    context: &Context,
    sandbox: &SandboxRef,
    name: &str,
) -> Result<Reply, Failure> {
    within(
        LOOK_UP,
        "forgetting a session",
        context.engine(sandbox)?.drop_session(&sandbox.id, name),
    )
    .await
    .map(|()| Reply::Done)
}

/// Tells what happened on all hosts, oldest first.
pub(super) async fn history(context: &Context, since: DateTime<Utc>) -> Result<Reply, Failure> {
    let mut all = Vec::new();
    for host in context.hosts() {
        all.extend(within(LOOK_UP, "reading events", host.engine.history(since)).await?);
    }
    all.sort_by_key(|happening| happening.at);
    Ok(Reply::Happenings(all))
}

/// Checks the engine of a host.
pub(super) async fn diagnose(context: &Context, host: &HostName) -> Result<Reply, Failure> {
    let host = context.host(host)?;
    let checks = tokio::time::timeout(LOOK_UP, host.engine.diagnose()).await;
    checks.map(Reply::Checks).map_err(|_| {
        Failure::new(
            FailureKind::Timeout,
            "the engine did not answer the doctor in time",
        )
    })
}
