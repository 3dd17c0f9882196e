//! Requests about whole sandboxes: list, create, change, inspect.

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use tokio::sync::{OwnedMutexGuard, mpsc};

use super::context::Context;
use super::host::{LOOK_UP, within};
use super::{Host, deaths, life_changes, mounts, news, slots};
use crate::domain::{HostName, RequestId, Sandbox, SandboxRef, SandboxSpec};
use crate::engine::{EngineError, Notes};
use crate::protocol::{Event, Failure, FailureKind, LifecycleOp, Reply};
use crate::store::LifecycleIntent;

/// Lists all hosts; it fails only if no host answers.
pub(super) async fn refresh(context: Context) -> Result<Reply, Failure> {
    let lists = context.hosts().iter();
    let lists = lists.map(|host| context.tell_list(&host.name, host.list()));
    let (mut all, mut failure) = (Vec::new(), None);
    for list in join_all(lists).await {
        match list {
            Ok(sandboxes) => all.extend(sandboxes),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(failure) if all.is_empty() => Err(failure),
        _ => Ok(Reply::Sandboxes(all)),
    }
}

/// Finds what a word may mean on any host; it fails only if no host answers.
pub(super) async fn find(context: Context, word: String) -> Result<Reply, Failure> {
    let asking = context.hosts().iter().map(|host| host.named(&word));
    let (mut found, mut failure) = (Vec::new(), None);
    for answer in join_all(asking).await {
        match answer {
            Ok(sandboxes) => found.extend(sandboxes),
            Err(error) => failure = Some(error),
        }
    }
    context.remember(&found);
    match failure {
        Some(failure) if found.is_empty() => Err(failure),
        _ => Ok(Reply::Sandboxes(found)),
    }
}

/// Makes a sandbox.
pub(super) async fn create(
    context: Context,
    request: RequestId,
    host: HostName,
    spec: Box<SandboxSpec>,
) -> Result<Reply, Failure> {
    let sandbox = create_sandbox(&context, request, &host, &spec).await?;
    Ok(Reply::Created(Box::new(sandbox)))
}

/// Makes a sandbox. When the manager ends meanwhile, what was made so far goes.
pub(super) async fn create_sandbox(
    context: &Context,
    request: RequestId,
    host: &HostName,
    spec: &SandboxSpec,
) -> Result<Sandbox, Failure> {
    let host = context.host(host)?;
    let spec = &mounts::resolve(host, spec).await?;
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
                break discard_unfinished(host, spec).await;
            }
        }
    };
    drop(reserved);
    let sandbox = outcome?;
    context.remember([&sandbox]);
    context.touch(&sandbox.reference).await;
    for notice in mounts::unusable(host, spec, &sandbox).await {
        context.send(Event::Notice(notice)).await;
    }
    Ok(sandbox)
}

async fn discard_unfinished(host: &Host, spec: &SandboxSpec) -> Result<Sandbox, Failure> {
    host.engine.discard(spec).await?;
    Err(Failure::new(
        FailureKind::Interrupted,
        format!(
            "creating {} was called off; nothing is left of it",
            spec.name
        ),
    ))
}

/// Changes the phase of a sandbox.
pub(super) async fn act(
    context: Context,
    sandbox: SandboxRef,
    action: LifecycleOp,
    turn: impl Future<Output = OwnedMutexGuard<()>>,
) -> Result<Reply, Failure> {
    let _lock = turn.await;
    change_locked(&context, &sandbox, action).await?;
    Ok(Reply::Done)
}

/// Changes a phase; operations on one sandbox wait for each other. What ends it is put on record first, so that its end can be
/// told from one by other hands.
pub(super) async fn change_phase(
    context: &Context,
    sandbox: &SandboxRef,
    action: LifecycleOp,
) -> Result<(), Failure> {
    let _lock = context.lock_sandbox(sandbox).await;
    change_locked(context, sandbox, action).await
}

async fn change_locked(
    context: &Context,
    sandbox: &SandboxRef,
    action: LifecycleOp,
) -> Result<(), Failure> {
    let host = context.host(&sandbox.host)?;
    let intent = LifecycleIntent {
        action: action.verb().to_owned(),
        reason: String::new(),
        by: context.options.owner.clone(),
        at: Utc::now(),
    };
    let before = life_changes::before_change(context, host, sandbox, action).await;
    let store = &context.options.store;
    let intended = store.intend(&host.engine_key, &sandbox.id, &intent).await;
    context.ok_or_warn(intended).await;
    if let Err(error) = host.engine.act(&sandbox.id, action).await {
        give_up_refused(context, host, sandbox, &error).await;
        return Err(error.into());
    }
    if !matches!(action, LifecycleOp::Remove { .. }) {
        context.touch(sandbox).await;
    }
    life_changes::after_change(context, host, sandbox, action, before, &intent).await;
    Ok(())
}

/// Takes an intent back that the engine refused: what happens from now on is not our doing.
async fn give_up_refused(
    context: &Context,
    host: &Host,
    sandbox: &SandboxRef,
    error: &EngineError,
) {
    if error.kind == FailureKind::Conflict {
        let store = &context.options.store;
        let given_up = store.withdraw_intent(&host.engine_key, &sandbox.id).await;
        context.ok_or_warn(given_up).await;
    }
}

/// Tells everything about a sandbox.
pub(super) async fn inspect(context: Context, sandbox: SandboxRef) -> Result<Reply, Failure> {
    let details = within(
        LOOK_UP,
        "inspecting",
        context.engine(&sandbox)?.inspect(&sandbox.id),
    )
    .await?;
    Ok(Reply::Details(Box::new(details)))
}

/// Lists processes.
pub(super) async fn processes(context: Context, sandbox: SandboxRef) -> Result<Reply, Failure> {
    let call = context.engine(&sandbox)?.processes(&sandbox.id);
    within(LOOK_UP, "listing processes", call)
        .await
        .map(Reply::Processes)
}

/// Tells what a sandbox has done to its files.
pub(super) async fn changes(context: Context, sandbox: SandboxRef) -> Result<Reply, Failure> {
    let call = context.engine(&sandbox)?.changes(&sandbox.id);
    within(LOOK_UP, "looking for changed files", call)
        .await
        .map(|changes| Reply::Changes(Box::new(changes)))
}

/// Lists the images of a host.
pub(super) async fn images(context: Context, host: HostName) -> Result<Reply, Failure> {
    let call = context.host(&host)?.engine.images();
    within(LOOK_UP, "listing images", call)
        .await
        .map(Reply::Images)
}

/// Lists named sessions.
pub(super) async fn sessions(context: Context, sandbox: SandboxRef) -> Result<Reply, Failure> {
    within(
        LOOK_UP,
        "listing sessions",
        context.engine(&sandbox)?.sessions(&sandbox.id),
    )
    .await
    .map(Reply::Sessions)
}

/// Forgets a named session.
pub(super) async fn drop_session(
    context: Context,
    sandbox: SandboxRef,
    name: String,
) -> Result<Reply, Failure> {
    within(
        LOOK_UP,
        "forgetting a session",
        context.engine(&sandbox)?.drop_session(&sandbox.id, &name),
    )
    .await
    .map(|()| Reply::Done)
}

/// Tells what happened on all hosts, oldest first.
pub(super) async fn events_since(context: Context, since: DateTime<Utc>) -> Result<Reply, Failure> {
    let mut all = Vec::new();
    for host in context.hosts() {
        if let Ok(sandboxes) = host.list().await {
            deaths::reconcile(&context, host, &sandboxes).await;
        }
        let told = within(LOOK_UP, "reading events", host.engine.events_since(since)).await?;
        for event in told {
            all.push(news::with_remover(&context, host, event).await);
        }
        all.extend(news::since(&context, host, since).await);
    }
    all.sort_by_key(|event| event.at);
    Ok(Reply::Events(all))
}

/// Checks the engine of a host.
pub(super) async fn diagnose(context: Context, host: HostName) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    let checks = tokio::time::timeout(LOOK_UP, host.engine.diagnose()).await;
    checks.map(Reply::Checks).map_err(|_| {
        Failure::new(
            FailureKind::Timeout,
            "the engine did not answer the doctor in time",
        )
    })
}
