//! Who owns the new folders of a sandbox: its user, whom the engine does not ask about.

use std::path::{Path, PathBuf};

use bollard::query_parameters::DownloadFromContainerOptionsBuilder;
use bytes::Bytes;
use futures_util::TryStreamExt;
use rustix::fs::{Gid, Mode, OFlags, Uid};

use super::{Client, Endpoint, one_entry};
use crate::domain::{SandboxId, SandboxPath};
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Where the volume of a folder is said to lie ends so.
const DATA: &str = "_data";

/// Who owns a file in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UserIds {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl UserIds {
    pub(super) const ROOT: Self = Self { uid: 0, gid: 0 };
    /// Nobody runs as this one, and without capabilities nobody else reads what is its own, not even root. A number that
    /// every map of users has.
    pub(super) const GUEST: Self = Self {
        uid: 65_533,
        gid: 65_533,
    };
}

/// Hands folders of a container that does not run yet to its user: on this machine by the kernel, if this process may do
/// that, else by the engine, which takes as long as making the container.
pub(super) async fn hand_over(
    client: &Client,
    id: &SandboxId,
    folders: &[&SandboxPath],
    user: &str,
) -> Result<()> {
    let owner = user_ids(client, id, user).await?;
    let here = volumes_here(client, id).await;
    for folder in folders {
        let volume = here.iter().find(|(target, _)| target == *folder);
        if volume.is_none_or(|(_, data)| give(data, owner).is_err()) {
            upload(client, id, folder, owner).await?;
        }
    }
    Ok(())
}

async fn upload(
    client: &Client,
    id: &SandboxId,
    folder: &SandboxPath,
    owner: UserIds,
) -> Result<()> {
    one_entry::upload(
        client,
        id,
        &folder.to_string(),
        one_entry::pack_folder(owner),
    )
    .await
}

/// Lists where the volumes of a container lie, if that can be this machine; nobody but root may go there.
async fn volumes_here(client: &Client, id: &SandboxId) -> Vec<(SandboxPath, PathBuf)> {
    let is_possible =
        matches!(client.endpoint, Endpoint::Unix(_)) && rustix::process::geteuid().is_root();
    if !is_possible {
        return Vec::new();
    }
    let found = client.docker.inspect_container(id.as_str(), None).await;
    let mounts = found
        .ok()
        .and_then(|found| found.mounts)
        .unwrap_or_default();
    let volumes = mounts.into_iter().filter_map(|mount| {
        let target = SandboxPath::parse(mount.destination?.as_bytes()).ok()?;
        let (name, data) = (mount.name?, PathBuf::from(mount.source?));
        is_its_volume(&data, &name).then_some((target, data))
    });
    volumes.collect()
}

/// Tells whether a path has the form that the engine gives its volumes: below a folder of the volume's name, which is random.
/// So a folder of this form that exists here is that very volume, and not one of a machine that the engine is really on.
fn is_its_volume(data: &Path, name: &str) -> bool {
    let is_random = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_random && data.is_absolute() && data.ends_with(Path::new(name).join(DATA))
}

/// Changes the owner of a new volume. One that does not belong to root belongs to an engine that has other numbers inside.
fn give(data: &Path, owner: UserIds) -> std::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(data, flags, Mode::empty())?;
    if rustix::fs::fstat(&folder)?.st_uid != 0 {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    let (uid, gid) = (Uid::from_raw(owner.uid), Gid::from_raw(owner.gid));
    rustix::fs::fchmod(&folder, Mode::from_raw_mode(0o755))?;
    Ok(rustix::fs::fchown(&folder, Some(uid), Some(gid))?)
}

/// Finds the numbers of a user given as `uid`, `uid:gid` or a name of the image.
async fn user_ids(client: &Client, id: &SandboxId, user: &str) -> Result<UserIds> {
    let (name, group) = user.split_once(':').unwrap_or((user, ""));
    let group: Option<u32> = group.parse().ok();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_that_names_its_random_volume_is_believed() {
        let name = "0123456789abcdef".repeat(4);
        let is_its = |path: &str, name: &str| is_its_volume(Path::new(path), name);
        assert!(is_its(&format!("/var/lib/x/volumes/{name}/_data"), &name));
        for (path, name) in [
            ("/etc", name.as_str()),
            ("/etc/_data", "etc"),
            ("/volumes/mine/_data", "mine"),
        ] {
            assert!(!is_its(path, name), "{path}");
        }
        assert!(!is_its(&format!("volumes/{name}/_data"), &name));
        assert!(!is_its(&format!("/volumes/{name}"), &name));
    }

    #[test]
    fn a_folder_of_another_owner_and_a_link_are_left_alone() {
        let parent = tempfile::tempdir().expect("a folder");
        let link = parent.path().join("link");
        std::os::unix::fs::symlink(parent.path(), &link).expect("a link");
        let somebody = UserIds { uid: 7, gid: 7 };
        assert!(give(&link, somebody).is_err());
        if !rustix::process::geteuid().is_root() {
            assert!(give(parent.path(), somebody).is_err());
            return;
        }
        assert!(give(parent.path(), somebody).is_ok());
        let owner = |path: &Path| rustix::fs::stat(path).expect("a folder").st_uid;
        assert_eq!(owner(parent.path()), 7);
        assert!(give(parent.path(), UserIds::ROOT).is_err());
        assert_eq!(owner(parent.path()), 7);
    }
}
