//! A file or folder of the host as a tree.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
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
        let is_root = name.as_os_str().is_empty();
        match Opened::open(&place, &name) {
            Ok(opened) => opened.send(&place, &name, sender, &mut waiting)?,
            Err(error) if is_root => return Err(failed(&place, &error)),
            // Gone since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => drop(sender.blocking_send(Ok(TreeItem::Unreadable(bytes_of(&name))))),
        }
        if sender.is_closed() {
            return Ok(());
        }
    }
    Ok(())
}

/// An entry with what must be opened to read it: before it is named, so that nothing is named in vain.
struct Opened {
    entry: FileEntry,
    file: Option<File>,
    children: Option<fs::ReadDir>,
}

impl Opened {
    fn open(place: &Path, name: &Path) -> io::Result<Self> {
        let meta = fs::symlink_metadata(place)?;
        Ok(Self {
            entry: describe(name, place, &meta),
            file: meta.is_file().then(|| File::open(place)).transpose()?,
            children: meta.is_dir().then(|| fs::read_dir(place)).transpose()?,
        })
    }

    fn send(
        self,
        place: &Path,
        name: &Path,
        sender: &mpsc::Sender<Item>,
        waiting: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(), EngineError> {
        if sender
            .blocking_send(Ok(TreeItem::Entry(self.entry)))
            .is_err()
        {
            return Ok(());
        }
        if let Some(mut file) = self.file {
            send_content(&mut file, place, sender)?;
        }
        for child in self.children.into_iter().flatten() {
            let child = child.map_err(|e| failed(place, &e))?;
            waiting.push((child.path(), name.join(child.file_name())));
        }
        Ok(())
    }
}

fn bytes_of(name: &Path) -> Vec<u8> {
    name.as_os_str().as_bytes().to_vec()
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
        name: bytes_of(name),
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
