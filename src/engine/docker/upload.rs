//! Big files into a container by the engine's archive; the way out is in `archive.rs`.
//!
//! The engine works as root and follows what the sandbox links, so this is done only where the root file system is read-only:
//! all that it can then reach are the sandbox's own volumes. The guest keeps the place as the sandbox's user, who must have the
//! right to write there, and the engine must see that very place: below a `tmpfs` it sees another.

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use bollard::query_parameters::UploadToContainerOptionsBuilder;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, StreamExt};

use super::archive::{self, BLOCK};
use super::{Client, convert};
use crate::domain::{FileEntry, FileKind, SandboxId, SandboxPath, TreeItem};
use crate::engine::guest::{Guests, Held};
use crate::engine::{EngineError, Result, TreeStream, unfold};
use crate::protocol::FailureKind;

/// Longest wait for the engine; a disk that is slower than that is no place for such files.
const PATIENCE: Duration = Duration::from_mins(10);

/// Writes a tree: one big file by the engine, everything else by the guest.
pub(super) async fn unpack(
    client: &Client,
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
    mut tree: TreeStream,
) -> Result<()> {
    let first = tree.next().await;
    if let Some(Ok(TreeItem::Entry(entry))) = &first
        && (entry.kind == FileKind::File && entry.name.is_empty())
        && archive::is_worth_it(client, entry.size)
        && let Some((held, folder)) = room(client, guests, id, path).await?
    {
        let upload = Upload {
            folder: &folder,
            entry,
            place: &held.entry,
        };
        let sent = upload.send(client, id, tree).await;
        return match sent {
            Ok(()) => held.settle().await,
            Err(error) => Err(error),
        };
    }
    let tree = stream::iter(first).chain(tree).boxed();
    guests.unpack(id, path, tree).await
}

/// Has a place kept and finds the engine's name of its folder; `None` where the guest has to do it all.
async fn room(
    client: &Client,
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
) -> Result<Option<(Held, String)>> {
    let Ok(words) = std::str::from_utf8(path.as_bytes()) else {
        return Ok(None);
    };
    if !has_read_only_root(client, id).await {
        return Ok(None);
    }
    let held = guests.hold(id, path).await?;
    let folder = words.rsplit_once('/').map_or("/", |(folder, _)| folder);
    let name = String::from_utf8_lossy(&held.entry.name);
    let seen = archive::plain_file(client, id, &format!("{folder}/{name}")).await;
    let is_there = seen
        == Some(archive::PlainFile {
            size: 0,
            modified_at: held.entry.modified_at,
        });
    Ok(is_there.then(|| (held, folder.to_owned())))
}

async fn has_read_only_root(client: &Client, id: &SandboxId) -> bool {
    let looked = client.docker.inspect_container(id.as_str(), None).await;
    let config = looked.ok().and_then(|found| found.host_config);
    config.is_some_and(|config| config.readonly_rootfs == Some(true))
}

/// A file on its way to a place that is kept for it.
struct Upload<'a> {
    folder: &'a str,
    entry: &'a FileEntry,
    place: &'a FileEntry,
}

impl Upload<'_> {
    /// Sends an archive that holds the file under the name that is kept for it.
    async fn send(&self, client: &Client, id: &SandboxId, tree: TreeStream) -> Result<()> {
        let Self {
            folder,
            entry,
            place,
        } = *self;
        let (tell, told) = mpsc::channel();
        let head =
            header(entry, place).map_err(|error| EngineError::internal(error.to_string()))?;
        let content = exactly(tree, entry.size).map(move |piece| {
            piece.map_err(|error| {
                let words = error.message.clone();
                let _ = tell.send(error);
                io::Error::other(words)
            })
        });
        let padded = entry.size.next_multiple_of(BLOCK as u64) - entry.size;
        let tail = BytesMut::zeroed(usize::try_from(padded).unwrap_or(0) + 2 * BLOCK).freeze();
        let archive = stream::iter([Ok(head)]).chain(content);
        let archive = archive.chain(stream::iter([Ok(tail)]));
        let options = UploadToContainerOptionsBuilder::new().path(folder).build();
        let docker = client.docker.clone().with_timeout(PATIENCE);
        let sent = docker
            .upload_to_container(
                id.as_str(),
                Some(options),
                bollard::body_try_stream(archive),
            )
            .await;
        // If the file could not be read here, the engine knows only that something was cut off.
        sent.map_err(|error| {
            let here = told.try_recv().ok();
            here.unwrap_or_else(|| convert::error("writing a file", error))
        })
    }
}

/// Writes what stands before the content: the exact time as an attribute, then the header that everybody knows.
fn header(entry: &FileEntry, place: &FileEntry) -> io::Result<Bytes> {
    let time = entry.modified_at;
    let exact = format!("{}.{:09}", time.timestamp(), time.timestamp_subsec_nanos());
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_pax_extensions([("mtime", exact.as_bytes())])?;
    let mut header = tar::Header::new_ustar();
    header.set_path(String::from_utf8_lossy(&place.name).as_ref())?;
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(entry.size);
    header.set_mode(entry.mode & 0o777);
    header.set_uid(place.uid.into());
    header.set_gid(place.gid.into());
    header.set_mtime(u64::try_from(time.timestamp()).unwrap_or(0));
    header.set_cksum();
    let bytes = [builder.get_ref().as_slice(), header.as_bytes()].concat();
    Ok(bytes.into())
}

/// Passes content on that must be as long as the header says.
fn exactly(tree: TreeStream, size: u64) -> BoxStream<'static, Result<Bytes>> {
    let passed = unfold(Some((tree, size)), |state| async move {
        let (mut tree, left) = state?;
        match tree.next().await {
            Some(Ok(TreeItem::Data(bytes))) => match left.checked_sub(bytes.len() as u64) {
                Some(left) => Some((Ok(bytes), Some((tree, left)))),
                None => Some((Err(changed()), None)),
            },
            Some(Ok(TreeItem::Entry(_) | TreeItem::Unreadable(_))) => Some((Err(changed()), None)),
            Some(Err(error)) => Some((Err(error), None)),
            None if left > 0 => Some((Err(changed()), None)),
            None => None,
        }
    });
    passed.boxed()
}

fn changed() -> EngineError {
    let words = "the file changed its size while it was being copied";
    EngineError::new(FailureKind::Conflict, words).with_hint("nothing was changed; try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passed(pieces: &[usize], size: u64) -> Option<usize> {
        let items: Vec<_> = pieces
            .iter()
            .map(|length| Ok(TreeItem::Data(Bytes::from(vec![7; *length]))))
            .collect();
        let pieces: Vec<_> = exactly(stream::iter(items).boxed(), size).collect().await;
        let lengths: Result<Vec<usize>> = pieces.into_iter().map(|p| p.map(|b| b.len())).collect();
        lengths.ok().map(|all| all.iter().sum())
    }

    #[tokio::test]
    async fn a_file_that_changes_while_it_is_read_is_refused() {
        assert_eq!(passed(&[3, 4], 7).await, Some(7));
        assert_eq!(passed(&[3, 4], 8).await, None);
        assert_eq!(passed(&[3, 4], 6).await, None);
        assert_eq!(passed(&[], 0).await, Some(0));
    }

    #[test]
    fn readers_of_archives_find_the_name_the_owner_and_the_exact_time() {
        let entry = FileEntry {
            name: Vec::new(),
            kind: FileKind::File,
            size: 0,
            mode: 0o640,
            uid: 0,
            gid: 0,
            modified_at: chrono::DateTime::from_timestamp(1_700_000_000, 5).expect("a time"),
        };
        let place = FileEntry {
            name: b".sandtop-7.part".to_vec(),
            uid: 1000,
            gid: 1001,
            ..entry.clone()
        };
        let bytes = header(&entry, &place).expect("a header");
        let mut archive = tar::Archive::new(&bytes[..]);
        let mut entries = archive.entries().expect("entries");
        let mut found = entries.next().expect("one").expect("readable");
        let attributes = found.pax_extensions().expect("readable").expect("some");
        let time = attributes.flatten().find(|a| a.key() == Ok("mtime"));
        assert_eq!(time.expect("a time").value(), Ok("1700000000.000000005"));
        assert_eq!(found.path_bytes().as_ref(), b".sandtop-7.part");
        assert_eq!(found.header().uid().ok(), Some(1000));
        assert_eq!(found.header().gid().ok(), Some(1001));
        assert_eq!(found.header().mode().ok(), Some(0o640));
    }
}
