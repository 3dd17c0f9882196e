//! The files of a paused container, in which no guest can look around: the engine reads its disk itself.
//!
//! The engine does not see what a container has in memory. There it may find other files of the same names, so nothing that
//! leads there is answered.

use std::io::{self, Read};

use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, DownloadFromContainerOptionsBuilder,
};
use bytes::{Buf, Bytes};
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use tokio::runtime::Handle;

use super::archive::{self, Pieces, odd};
use super::{Client, convert, inspect};
use crate::domain::{
    Change, ChangeKind, ChangedFile, FileEntry, FileKind, Phase, SandboxId, SandboxPath,
};
use crate::engine::{ByteStream, EngineError, Result};
use crate::protocol::{FailureKind, FileOp};

/// Listing a folder means to read all that is below it; more than this takes too long.
const MOST: u64 = 1 << 30;
/// Folders that the kernel fills.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// What the engine sees of a paused container.
struct Disk<'a> {
    client: &'a Client,
    id: &'a SandboxId,
    /// Folders in memory.
    hidden: Vec<String>,
}

/// Lists a folder or tells about a file; `None` where that is not for the engine to do.
pub(super) async fn apply(
    client: &Client,
    id: &SandboxId,
    op: &FileOp,
) -> Option<Result<Vec<FileEntry>>> {
    let (path, is_list) = match op {
        FileOp::List(path) => (path, true),
        FileOp::Stat(path) => (path, false),
        _ => return None,
    };
    let words = std::str::from_utf8(path.as_bytes()).ok()?;
    let disk = Disk::of(client, id).await?;
    Some(if is_list {
        disk.list(words).await
    } else {
        disk.stat(words).await.map(|entry| vec![entry])
    })
}

/// Reads a file; `None` where that is not for the engine to do.
pub(super) async fn read(
    client: &Client,
    id: &SandboxId,
    path: &SandboxPath,
    limit: Option<u64>,
) -> Option<Result<ByteStream>> {
    let words = std::str::from_utf8(path.as_bytes()).ok()?;
    let disk = Disk::of(client, id).await?;
    Some(disk.read(words, limit.unwrap_or(u64::MAX)).await)
}

/// Tells which files below a folder are not older than a time; `None` where that is not for the engine to do.
pub(super) async fn since(
    client: &Client,
    id: &SandboxId,
    folder: &SandboxPath,
    time: DateTime<Utc>,
) -> Option<Result<Vec<Change>>> {
    let words = std::str::from_utf8(folder.as_bytes()).ok()?;
    let disk = Disk::of(client, id).await?;
    Some(disk.since(words, folder.clone(), time).await)
}

impl<'a> Disk<'a> {
    /// Looks at a container; `None` if it is not paused.
    async fn of(client: &'a Client, id: &'a SandboxId) -> Option<Self> {
        let found = client.docker.inspect_container(id.as_str(), None).await;
        let found = found.ok()?;
        let memory = inspect::mounts(&found).into_iter();
        let memory = memory.filter(|mount| mount.kind == "tmpfs");
        let hidden = memory.map(|mount| mount.target);
        let hidden = hidden.chain(KERNEL.map(str::to_owned)).collect();
        let is_paused = inspect::phase(found.state.as_ref()) == Phase::Paused;
        is_paused.then_some(Self { client, id, hidden })
    }

    async fn list(&self, path: &str) -> Result<Vec<FileEntry>> {
        let folder = self.follow(path).await?;
        let everything = self.archive(&format!("{folder}/."));
        apart(everything, |archive| {
            let mut found = Vec::new();
            for entry in archive.entries()? {
                let entry = entry?;
                let name = name_in_folder(&entry.path_bytes()).map(<[u8]>::to_vec);
                found.extend(name.map(|name| describe(name, &entry)));
            }
            found.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(found)
        })
        .await
    }

    async fn since(
        &self,
        path: &str,
        top: SandboxPath,
        time: DateTime<Utc>,
    ) -> Result<Vec<Change>> {
        let folder = self.follow(path).await?;
        apart(self.archive(&format!("{folder}/.")), move |archive| {
            let mut found = Vec::new();
            for entry in archive.entries()? {
                let entry = entry?;
                let change = added(
                    &top,
                    describe(below_folder(&entry.path_bytes()).to_vec(), &entry),
                );
                found.extend(change.filter(|change| is_since(change, time)));
            }
            Ok(found)
        })
        .await
    }

    async fn stat(&self, path: &str) -> Result<FileEntry> {
        let (above, name) = path.rsplit_once('/').unwrap_or_default();
        let place = format!("{}/{name}", self.follow(above).await?);
        self.refuse_memory(&place)?;
        self.target(&place).await?;
        let name = name.as_bytes().to_vec();
        apart(self.archive(&place), |archive| {
            let entry = archive.entries()?.next();
            Ok(describe(name, &entry.ok_or(io::ErrorKind::NotFound)??))
        })
        .await
    }

    async fn read(&self, path: &str, limit: u64) -> Result<ByteStream> {
        let place = self.follow(path).await?;
        if archive::plain_file(self.client, self.id, &place)
            .await
            .is_none()
        {
            let message = format!("{path}: is not a regular file");
            return Err(EngineError::new(FailureKind::Invalid, message));
        }
        let (size, pieces) = archive::content(self.archive(&place)).await?;
        Ok(archive::whole(pieces, size.min(limit)))
    }

    /// Finds the place that a path leads to, link by link; the root is the empty text.
    async fn follow(&self, path: &str) -> Result<String> {
        let mut place = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            place = format!("{place}/{part}");
            self.refuse_memory(&place)?;
            if let Some(target) = self.target(&place).await? {
                self.refuse_memory(&target)?;
                place = target;
            }
        }
        Ok(place)
    }

    /// Looks at a file: where it leads to, if it is a link.
    async fn target(&self, place: &str) -> Result<Option<String>> {
        let options = ContainerArchiveInfoOptionsBuilder::new().path(place);
        let asked = self
            .client
            .docker
            .get_container_archive_info(self.id.as_str(), Some(options.build()));
        let found = asked.await.map_err(|error| convert::error(place, error))?;
        let target = found.link_target;
        Ok((!target.is_empty()).then(|| target.trim_end_matches('/').to_owned()))
    }

    fn refuse_memory(&self, place: &str) -> Result<()> {
        let is_below = |folder: &String| {
            let rest = place.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self.hidden.iter().find(|folder| is_below(folder)) {
            None => Ok(()),
            Some(folder) => Err(EngineError::new(
                FailureKind::Conflict,
                format!("{folder} is in memory and cannot be read while the sandbox is paused"),
            )
            .with_hint("`sandtop resume` it first")),
        }
    }

    fn archive(&self, place: &str) -> Pieces {
        let options = DownloadFromContainerOptionsBuilder::new().path(place);
        let pieces = self
            .client
            .docker
            .download_from_container(self.id.as_str(), Some(options.build()));
        let place = place.to_owned();
        pieces
            .map(move |piece| piece.map_err(|error| convert::error(&place, error)))
            .boxed()
    }
}

/// Returns the name of an entry that lies right in the folder that was archived.
fn name_in_folder(path: &[u8]) -> Option<&[u8]> {
    let name = below_folder(path);
    (!name.is_empty() && !name.contains(&b'/')).then_some(name)
}

/// Returns the path of an entry in the folder that was archived; none for that itself.
fn below_folder(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"./").unwrap_or_default();
    path.strip_suffix(b"/").unwrap_or(path)
}

fn added(top: &SandboxPath, file: FileEntry) -> Option<Change> {
    let path = top.join(&file.name).ok()?;
    (!file.name.is_empty()).then_some(Change {
        path,
        kind: ChangeKind::Added,
        now: Some(ChangedFile {
            kind: file.kind,
            size: file.size,
            modified_at: file.modified_at,
        }),
    })
}

/// Archives tell time in seconds.
fn is_since(change: &Change, time: DateTime<Utc>) -> bool {
    let now = change.now.as_ref();
    now.is_some_and(|file| file.modified_at.timestamp() >= time.timestamp())
}

pub(super) fn describe<R: Read>(name: Vec<u8>, entry: &tar::Entry<'_, R>) -> FileEntry {
    let header = entry.header();
    let number = |field: io::Result<u64>| field.ok().and_then(|n| u32::try_from(n).ok());
    let target = entry.link_name_bytes().unwrap_or_default().into_owned();
    let seconds = header
        .mtime()
        .ok()
        .and_then(|time| i64::try_from(time).ok());
    FileEntry {
        name,
        size: entry.size().max(target.len() as u64),
        mode: header.mode().unwrap_or(0) & 0o7777,
        uid: number(header.uid()).unwrap_or(0),
        gid: number(header.gid()).unwrap_or(0),
        modified_at: DateTime::from_timestamp(seconds.unwrap_or(0), 0).unwrap_or_default(),
        kind: match header.entry_type() {
            tar::EntryType::Directory => FileKind::Directory,
            tar::EntryType::Symlink => FileKind::Symlink { target },
            // A second name of a file that was archived before.
            tar::EntryType::Regular | tar::EntryType::Link => FileKind::File,
            _ => FileKind::Special,
        },
    }
}

/// Reads an archive where waiting for it holds up nobody.
async fn apart<T: Send + 'static>(
    pieces: Pieces,
    work: impl FnOnce(&mut tar::Archive<io::Take<Arriving>>) -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let arriving = Arriving {
        pieces,
        now: Bytes::new(),
        handle: Handle::current(),
    };
    let reading = move || {
        let mut archive = tar::Archive::new(arriving.take(MOST));
        work(&mut archive).map_err(|error| {
            let is_full = archive.into_inner().limit() == 0;
            if is_full { too_much() } else { explain(error) }
        })
    };
    let done = tokio::task::spawn_blocking(reading).await;
    done.map_err(|error| odd(&error))?
}

/// An archive on its way, for those who wait for it.
struct Arriving {
    pieces: Pieces,
    now: Bytes,
    handle: Handle,
}

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.now.is_empty() {
            match self.handle.block_on(self.pieces.next()) {
                Some(piece) => self.now = piece.map_err(io::Error::other)?,
                None => return Ok(0),
            }
        }
        (&mut self.now).reader().read(buffer)
    }
}

fn too_much() -> EngineError {
    let message = "there is too much below this folder to list it while the sandbox is paused";
    EngineError::new(FailureKind::Conflict, message).with_hint("`sandtop resume` it first")
}

/// Finds the engine's own words in an error that went through a reader.
fn explain(error: io::Error) -> EngineError {
    match error.downcast::<EngineError>() {
        Ok(error) => error,
        Err(error) => odd(&error),
    }
}
