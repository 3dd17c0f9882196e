//! Making, changing, listing and removing containers; a create that fails leaves nothing.

use std::collections::HashMap;
use std::path::Path;

use bollard::body_full;
use bollard::errors::Error;
use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, KillContainerOptionsBuilder, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder, RestartContainerOptionsBuilder, StopContainerOptionsBuilder,
    UploadToContainerOptionsBuilder,
};
use bytes::Bytes;
use futures_util::TryStreamExt;

use super::creating::Creating;
use super::{Client, Endpoint, convert, hardening, pull};
use crate::domain::{Access, HostName, Phase, SandboxId, SandboxPath, SandboxSpec};
use crate::engine::{EngineError, Notes, Result, host_mounts};
use crate::guest::{self, wire};
use crate::protocol::{FailureKind, LifecycleOp};

/// Seconds between the polite and the final signal of a stop.
const STOP_SECONDS: i32 = 2;

/// Copies the guest into a container that was made without it.
pub(super) async fn bring_guest(client: &Client, id: &SandboxId) -> Result<()> {
    let folder = wire::GUEST_DIR.trim_start_matches('/');
    let name = format!("{folder}/guest");
    let guest = archive(
        name.as_bytes(),
        guest::PROGRAM,
        tar::EntryType::Regular,
        UserIds::ROOT,
    );
    upload(client, id, "/", guest).await
}

/// Makes and starts a sandbox.
pub(super) async fn create(
    client: &Client,
    pulls: &pull::Pulls,
    creating: &Creating,
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
    pull::ensure(client, pulls, &spec.image, notes).await?;
    notes.send(format!("creating {}", spec.name), 0, None);
    let name = convert::container_name(spec.name.as_str());
    let made = creating
        .container(client, &name, hardening::container(spec, scope))
        .await
        .map_err(|error| explain_create(spec, error))?;
    let id = SandboxId::new(made.id);
    if let Err(error) = fill_and_start(client, &id, spec).await {
        remove(client, &id).await?;
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

async fn fill_and_start(client: &Client, id: &SandboxId, spec: &SandboxSpec) -> Result<()> {
    let guest = archive(
        b"guest",
        guest::PROGRAM,
        tar::EntryType::Regular,
        UserIds::ROOT,
    );
    upload(client, id, wire::GUEST_DIR, guest).await?;
    let own = [work_dir(spec), written_set(spec)];
    for folder in own.into_iter().flatten() {
        let owner = user_ids(client, id, &spec.user).await?;
        // The one entry is the directory itself, which hands it to the sandbox's user. It must be called `/`: engines
        // pass over `.`.
        let directory = archive(b"/", &[], tar::EntryType::Directory, owner);
        upload(client, id, &folder.to_string(), directory).await?;
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

/// Who owns a file in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UserIds {
    uid: u64,
    gid: u64,
}

impl UserIds {
    const ROOT: Self = Self { uid: 0, gid: 0 };
}

/// Packs one file; never compressed, because engines have run hostile decompressors for that.
fn archive(name: &[u8], content: &[u8], kind: tar::EntryType, owner: UserIds) -> Bytes {
    let mut header = tar::Header::new_gnu();
    for (byte, to) in name.iter().zip(header.as_old_mut().name.iter_mut()) {
        *to = *byte;
    }
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_uid(owner.uid);
    header.set_gid(owner.gid);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    // Writing into memory cannot fail.
    let _ = builder.append(&header, content);
    builder.into_inner().unwrap_or_default().into()
}

async fn upload(client: &Client, id: &SandboxId, path: &str, archive: Bytes) -> Result<()> {
    let options = UploadToContainerOptionsBuilder::new().path(path).build();
    let sent = client
        .docker
        .upload_to_container(id.as_str(), Some(options), body_full(archive))
        .await;
    sent.map_err(|error| convert::error(&format!("preparing {path} in the sandbox"), error))
}

/// Finds the numbers of a user given as `uid`, `uid:gid` or a name of the image.
async fn user_ids(client: &Client, id: &SandboxId, user: &str) -> Result<UserIds> {
    let (name, group) = user.split_once(':').unwrap_or((user, ""));
    let group: Option<u64> = group.parse().ok();
    if let Ok(uid) = name.parse() {
        let gid = group.unwrap_or(0);
        return Ok(UserIds { uid, gid });
    }
    let found = passwd_entry(client, id, name).await.ok_or_else(|| {
        EngineError::new(
            FailureKind::Invalid,
            format!("the image has no user `{name}`"),
        )
        .with_hint("give the user as uid:gid")
    })?;
    Ok(UserIds {
        gid: group.unwrap_or(found.gid),
        ..found
    })
}

async fn passwd_entry(client: &Client, id: &SandboxId, name: &str) -> Option<UserIds> {
    let options = DownloadFromContainerOptionsBuilder::new()
        .path("/etc/passwd")
        .build();
    let parts: Vec<Bytes> = client
        .docker
        .download_from_container(id.as_str(), Some(options))
        .try_collect()
        .await
        .ok()?;
    let archive = parts.concat();
    let mut archive = tar::Archive::new(archive.as_slice());
    let mut file = archive.entries().ok()?.next()?.ok()?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut file, &mut text).ok()?;
    let line = text
        .lines()
        .find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(UserIds {
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
    })
}

/// Removes what an interrupted create of exactly this specification left.
pub(super) async fn discard(
    client: &Client,
    creating: &Creating,
    host: &HostName,
    spec: &SandboxSpec,
    scope: &str,
) -> Result<()> {
    creating.settled().await;
    let token = format!("{}={}", convert::TOKEN, spec.token);
    let scope = format!("{}={scope}", convert::SCOPE);
    let filters = HashMap::from([("label", vec![token.as_str(), scope.as_str()])]);
    let options = ListContainersOptionsBuilder::new()
        .all(true)
        .filters(&filters)
        .build();
    let found = client
        .docker
        .list_containers(Some(options))
        .await
        .map_err(|e| convert::error("cleaning up", e))?;
    for sandbox in found
        .into_iter()
        .filter_map(|summary| convert::sandbox(host, summary))
    {
        remove(client, &sandbox.reference.id).await?;
    }
    Ok(())
}

/// Changes a phase; being there already is fine.
pub(super) async fn act(client: &Client, id: &SandboxId, action: LifecycleOp) -> Result<()> {
    match action {
        LifecycleOp::Start => start(client, id).await,
        LifecycleOp::Stop => stop(client, id).await,
        LifecycleOp::Restart => restart(client, id).await,
        LifecycleOp::Kill => kill(client, id).await,
        LifecycleOp::Pause => pause(client, id).await,
        LifecycleOp::Resume => resume(client, id).await,
        LifecycleOp::Remove { force: true } => remove(client, id).await,
        LifecycleOp::Remove { force: false } => remove_stopped(client, id).await,
    }
}

/// Reads the phase of one container.
pub(super) async fn phase(client: &Client, id: &SandboxId) -> Result<Phase> {
    let details = client
        .docker
        .inspect_container(id.as_str(), None)
        .await
        .map_err(|e| convert::error("looking at the sandbox", e))?;
    Ok(super::inspect::phase(details.state.as_ref()))
}

async fn start(client: &Client, id: &SandboxId) -> Result<()> {
    if phase(client, id).await? == Phase::Paused {
        return Err(
            EngineError::new(FailureKind::Conflict, "starting: it is paused")
                .with_hint("use `sandtop resume`"),
        );
    }
    check_mounts(client, id).await?;
    settled(
        client.docker.start_container(id.as_str(), None).await,
        "starting",
    )
}

/// Looks at the folders of the host before the engine follows their paths again; those of another machine cannot be seen.
async fn check_mounts(client: &Client, id: &SandboxId) -> Result<()> {
    if !matches!(client.endpoint, Endpoint::Unix(_)) {
        return Ok(());
    }
    let found = client.docker.inspect_container(id.as_str(), None).await;
    let found = found.map_err(|e| convert::error("looking at the sandbox", e))?;
    let mounts = super::inspect::mounts(&found).into_iter();
    mounts
        .filter(|mount| mount.kind == "bind")
        .try_for_each(|mount| host_mounts::check(Path::new(&mount.source)))
}

async fn stop(client: &Client, id: &SandboxId) -> Result<()> {
    // A paused process cannot hear the polite signal and would cost the whole waiting time.
    if phase(client, id).await? == Phase::Paused {
        resume(client, id).await?;
    }
    let options = StopContainerOptionsBuilder::new().t(STOP_SECONDS).build();
    settled(
        client
            .docker
            .stop_container(id.as_str(), Some(options))
            .await,
        "stopping",
    )
}

async fn restart(client: &Client, id: &SandboxId) -> Result<()> {
    if phase(client, id).await? == Phase::Paused {
        resume(client, id).await?;
    }
    if let Err(refused) = check_mounts(client, id).await {
        stop(client, id).await?;
        return Err(refused);
    }
    let options = RestartContainerOptionsBuilder::new()
        .t(STOP_SECONDS)
        .build();
    settled(
        client
            .docker
            .restart_container(id.as_str(), Some(options))
            .await,
        "restarting",
    )
}

async fn kill(client: &Client, id: &SandboxId) -> Result<()> {
    let was_paused = match phase(client, id).await? {
        Phase::Running => false,
        Phase::Paused => true,
        _ => return Ok(()),
    };
    let options = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
    let killed = client
        .docker
        .kill_container(id.as_str(), Some(options))
        .await;
    if was_paused {
        // The signal is delivered when the freezer lets go.
        let _ = client.docker.unpause_container(id.as_str()).await;
    }
    settled(killed, "killing")
}

async fn pause(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await? {
        Phase::Paused => Ok(()),
        _ => settled(client.docker.pause_container(id.as_str()).await, "pausing"),
    }
}

async fn resume(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await? {
        Phase::Running => Ok(()),
        Phase::Paused => settled(
            client.docker.unpause_container(id.as_str()).await,
            "resuming",
        ),
        // The engine would call this a fault of its own.
        other => Err(EngineError::new(
            FailureKind::Conflict,
            format!("resuming: it is {other}, not paused"),
        )
        .with_hint("use `sandtop start`")),
    }
}

/// Takes the engine's "already so" for success.
fn settled(result: std::result::Result<(), Error>, tried: &str) -> Result<()> {
    match result {
        Ok(())
        | Err(Error::DockerResponseServerError {
            status_code: 304, ..
        }) => Ok(()),
        Err(error) => Err(convert::error(tried, error)),
    }
}

async fn remove_stopped(client: &Client, id: &SandboxId) -> Result<()> {
    match phase(client, id).await {
        Ok(phase) if phase.is_live() => Err(EngineError::new(
            FailureKind::Conflict,
            format!("removing: it is {phase}"),
        )
        .with_hint("stop it first, or use `rm -f`")),
        Err(error) if error.kind == FailureKind::NotFound => Ok(()),
        Ok(_) => remove(client, id).await,
        Err(error) => Err(error),
    }
}

/// Removes a container with its volumes, running or not; one that is gone, or going, is fine.
async fn remove(client: &Client, id: &SandboxId) -> Result<()> {
    let options = RemoveContainerOptionsBuilder::new()
        .force(true)
        .v(true)
        .build();
    let removed = client
        .docker
        .remove_container(id.as_str(), Some(options))
        .await;
    match removed.map_err(|error| convert::error("removing", error)) {
        Err(error) if error.kind == FailureKind::NotFound => Ok(()),
        Err(error) if error.message.contains("already in progress") => Ok(()),
        outcome => outcome,
    }
}
