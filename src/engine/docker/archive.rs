//! Big files out of a container by the engine's archive: it reads the disk itself, and no process inside has to pass them on.
//! The way in is in `upload.rs`.
//!
//! The engine sees the container's disk but not its memory: below a `tmpfs` it may find another file of the same name, or none.
//! So the guest has the last word on what a path means, and the archive is used only for the very file that the guest sees.

use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, DownloadFromContainerOptionsBuilder,
};
use bytes::{Bytes, BytesMut};
use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt};

use super::{Client, Endpoint, convert};
use crate::domain::{FileEntry, FileKind, SandboxId, SandboxPath, TreeItem};
use crate::engine::guest::Guests;
use crate::engine::{EngineError, Result, TreeStream, unfold};
use crate::protocol::FileOp;

/// Smaller files are there sooner by the guest, which is asked once instead of twice.
const BIG: u64 = 16 << 20;
/// Larger ones would take too long: the engine lets nobody else into the container meanwhile.
const HUGE: u64 = 1 << 30;
/// Bytes of a header, and what contents are padded to.
pub(super) const BLOCK: usize = 512;
/// Headers before the one of the file that are believed: long names and attributes.
const MOST_HEADERS: usize = 8;

pub(super) type Pieces = BoxStream<'static, Result<Bytes>>;

/// Reads one big file; `None` where that is a matter for the guest.
pub(super) async fn pack(
    client: &Client,
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
) -> Result<Option<TreeStream>> {
    let Some((words, seen)) = stat_file(client, id, path).await else {
        return Ok(None);
    };
    let stat = FileOp::Stat(path.clone());
    let entry = guests.file(id, &stat).await?.pop();
    let Some(entry) = entry.filter(|entry| is_same(entry, seen)) else {
        return Ok(None);
    };
    let options = DownloadFromContainerOptionsBuilder::new()
        .path(&words)
        .build();
    let pieces = client
        .docker
        .download_from_container(id.as_str(), Some(options))
        .map(|piece| piece.map_err(|error| convert::error("reading a file", error)));
    let (size, pieces) = content(pieces.boxed()).await?;
    let entry = TreeItem::Entry(FileEntry {
        name: Vec::new(),
        size,
        ..entry
    });
    let data = whole(pieces, size).map(|piece| piece.map(TreeItem::Data));
    Ok(Some(stream::iter([Ok(entry)]).chain(data).boxed()))
}

/// Size and time of a big file as the engine sees it, with its path as text.
async fn stat_file(
    client: &Client,
    id: &SandboxId,
    path: &SandboxPath,
) -> Option<(String, PlainFile)> {
    let words = std::str::from_utf8(path.as_bytes()).ok()?.to_owned();
    let seen = plain_file(client, id, &words).await?;
    is_worth_it(client, seen.size).then_some((words, seen))
}

/// Tells whether the engine's archive is the better way for a file of this size: not over a network, which may be slow.
pub(super) fn is_worth_it(client: &Client, size: u64) -> bool {
    matches!(client.endpoint, Endpoint::Unix(_)) && (BIG..=HUGE).contains(&size)
}

/// A plain file as the engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainFile {
    pub(super) size: u64,
    pub(super) modified_at: DateTime<Utc>,
}

/// Looks at a plain file; `None` for anything else.
pub(super) async fn plain_file(client: &Client, id: &SandboxId, path: &str) -> Option<PlainFile> {
    let options = ContainerArchiveInfoOptionsBuilder::new().path(path).build();
    let info = client
        .docker
        .get_container_archive_info(id.as_str(), Some(options))
        .await
        .ok()?;
    let time = DateTime::parse_from_rfc3339(&info.modification_time?).ok()?;
    // The bits above the permissions are set for everything that is not a plain file.
    let size = u64::try_from(info.size).ok()?;
    (info.file_mode >> 9 == 0).then(|| PlainFile {
        size,
        modified_at: time.to_utc(),
    })
}

fn is_same(entry: &FileEntry, seen: PlainFile) -> bool {
    entry.kind == FileKind::File && entry.size == seen.size && entry.modified_at == seen.modified_at
}

/// Reads an archive up to the file's first byte; returns its size and what follows.
pub(super) async fn content(mut pieces: Pieces) -> Result<(u64, Pieces)> {
    let mut buffer = BytesMut::new();
    for _ in 0..MOST_HEADERS {
        fill(&mut buffer, &mut pieces, BLOCK).await?;
        let block = buffer.split_to(BLOCK);
        let header = tar::Header::from_byte_slice(&block);
        let size = header.entry_size().map_err(|error| odd(&error))?;
        if header.entry_type().is_file() {
            let rest = stream::iter([Ok(buffer.freeze())]).chain(pieces);
            return Ok((size, rest.boxed()));
        }
        let extra = usize::try_from(size).map_err(|error| odd(&error))?;
        let padded = extra.min(1 << 20).next_multiple_of(BLOCK);
        fill(&mut buffer, &mut pieces, padded).await?;
        let _ = buffer.split_to(padded);
    }
    Err(odd(&"it holds no file"))
}

async fn fill(buffer: &mut BytesMut, pieces: &mut Pieces, least: usize) -> Result<()> {
    while buffer.len() < least {
        let piece = pieces.next().await.ok_or_else(|| odd(&"it ended early"))?;
        buffer.extend_from_slice(&piece?);
    }
    Ok(())
}

/// Passes exactly `size` bytes on; fewer are an error.
pub(super) fn whole(pieces: Pieces, size: u64) -> Pieces {
    let passed = unfold(Some((pieces, size)), |state| async move {
        let (mut pieces, left) = state?;
        if left == 0 {
            return None;
        }
        match pieces.next().await {
            Some(Ok(mut piece)) => {
                piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                let left = left - piece.len() as u64;
                Some((Ok(piece), Some((pieces, left))))
            }
            Some(Err(error)) => Some((Err(error), None)),
            None => Some((Err(odd(&"it ended early")), None)),
        }
    });
    passed.boxed()
}

pub(super) fn odd(why: &dyn std::fmt::Display) -> EngineError {
    EngineError::internal(format!("the engine's archive cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive as engines write it, in pieces that respect nothing.
    fn archive(file: &[u8], longest: usize) -> Pieces {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(file.len() as u64);
        header.set_entry_type(tar::EntryType::Regular);
        // A name over a hundred bytes gets a header and content of its own.
        builder
            .append_data(&mut header, "n".repeat(150), file)
            .expect("an archive");
        let bytes = builder.into_inner().expect("an archive");
        let pieces: Vec<_> = bytes
            .chunks(longest)
            .map(|piece| Ok(Bytes::copy_from_slice(piece)))
            .collect();
        stream::iter(pieces).boxed()
    }

    async fn read(pieces: Pieces) -> Result<Vec<u8>> {
        let (size, pieces) = content(pieces).await?;
        let mut all = Vec::new();
        let mut pieces = whole(pieces, size);
        while let Some(piece) = pieces.next().await {
            all.extend_from_slice(&piece?);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn a_file_is_read_behind_its_long_name() {
        let file: Vec<u8> = (0..3000_u16).map(|n| n.to_le_bytes()[0]).collect();
        for longest in [1, 511, 512, 513, 100_000] {
            assert_eq!(
                read(archive(&file, longest)).await.expect("an archive"),
                file
            );
        }
        assert_eq!(read(archive(b"", 7)).await.expect("an archive"), b"");
    }

    #[tokio::test]
    async fn what_ends_early_is_an_error() {
        for kept in [0, 100, 2000, 2600] {
            let cut = archive(&[7; 3000], 1).take(kept).boxed();
            assert!(read(cut).await.is_err(), "{kept}");
        }
    }
}
