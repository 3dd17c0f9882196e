//! A file or folder of the host as a tree.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use chrono::DateTime;
use futures_util::stream::StreamExt;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::failed;
use crate::domain::{FileEntry, FileKind, TreeItem};
use crate::engine::{EngineError, TreeStream};

/// Items on their way between the blocking and the async side.
const ON_THE_WAY: usize = 16;
/// Bytes read from a file at a time.
const PIECE: usize = 256 * 1024;

type Item = Result<TreeItem, EngineError>;

/// Reads a file or folder; a link at its root is followed, others are kept as links.
pub(in crate::manager) fn read(root: PathBuf) -> TreeStream {
    let (sender, items) = mpsc::channel(ON_THE_WAY);
    // The task ends by itself when the stream is dropped: its next item finds no taker.
    tokio::task::spawn_blocking(move || {
        if let Err(error) = walk(&root, &sender) {
            let _ = sender.blocking_send(Err(error));
        }
    });
    ReceiverStream::new(items).boxed()
}

fn walk(root: &Path, sender: &mpsc::Sender<Item>) -> Result<(), EngineError> {
    let root = fs::canonicalize(root).map_err(|e| failed(root, &e))?;
    let mut waiting = vec![(root, PathBuf::new())];
    while let Some((place, name)) = waiting.pop() {
        let meta = fs::symlink_metadata(&place).map_err(|e| failed(&place, &e))?;
        // A file is opened before it is named, so that one we may not read is an error and not an empty file.
        let mut file = if meta.is_file() {
            Some(File::open(&place).map_err(|e| failed(&place, &e))?)
        } else {
            None
        };
        if sender
            .blocking_send(Ok(TreeItem::Entry(describe(&name, &place, &meta))))
            .is_err()
        {
            return Ok(());
        }
        if let Some(file) = &mut file {
            send_content(file, &place, sender)?;
        }
        if meta.is_dir() {
            for child in fs::read_dir(&place).map_err(|e| failed(&place, &e))? {
                let child = child.map_err(|e| failed(&place, &e))?;
                waiting.push((child.path(), name.join(child.file_name())));
            }
        }
    }
    Ok(())
}

fn send_content(
    file: &mut File,
    place: &Path,
    sender: &mpsc::Sender<Item>,
) -> Result<(), EngineError> {
    loop {
        let mut piece = vec![0; PIECE];
        let got = file.read(&mut piece).map_err(|e| failed(place, &e))?;
        piece.truncate(got);
        if got == 0
            || sender
                .blocking_send(Ok(TreeItem::Data(Bytes::from(piece))))
                .is_err()
        {
            return Ok(());
        }
    }
}

fn describe(name: &Path, place: &Path, meta: &Metadata) -> FileEntry {
    let kind = if meta.is_symlink() {
        let target = fs::read_link(place)
            .map(|t| t.as_os_str().as_bytes().to_vec())
            .unwrap_or_default();
        FileKind::Symlink { target }
    } else if meta.is_dir() {
        FileKind::Directory
    } else if meta.is_file() {
        FileKind::File
    } else {
        FileKind::Special
    };
    FileEntry {
        name: name.as_os_str().as_bytes().to_vec(),
        kind,
        size: meta.len(),
        mode: meta.mode() & 0o777,
        uid: meta.uid(),
        gid: meta.gid(),
        modified_at: DateTime::from_timestamp(
            meta.mtime(),
            u32::try_from(meta.mtime_nsec()).unwrap_or(0),
        )
        .unwrap_or_default(),
    }
}
