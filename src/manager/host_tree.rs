//! File trees of the host: read for a sandbox, and written from one without trusting it.
//!
//! What comes out of a sandbox may be hostile. Names are joined component by component, `..` and absolute names are refused,
//! nothing is written through a link, and links are made last, when no name can lead through them any more. A new folder
//! appears under its name only when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use chrono::DateTime;
use futures_util::stream::StreamExt;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::domain::{FileEntry, FileKind, TreeItem};
use crate::engine::{EngineError, TreeStream};
use crate::protocol::{Failure, FailureKind};

/// Items on their way between the blocking and the async side.
const ON_THE_WAY: usize = 16;
/// Items that go to the writing thread together, and how many such batches may wait for it.
const BATCH: usize = 16;
const BATCHES: usize = 4;
/// How long a batch waits to become full.
const PATIENCE: Duration = Duration::from_millis(2);
/// Bytes read from a file at a time.
const PIECE: usize = 256 * 1024;

type Item = Result<TreeItem, EngineError>;

fn failed(path: &Path, error: &io::Error) -> EngineError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FailureKind::NotFound,
        io::ErrorKind::PermissionDenied => FailureKind::Denied,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FailureKind::NoSpace,
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => FailureKind::Conflict,
        _ => FailureKind::Internal,
    };
    EngineError::new(kind, format!("{}: {error}", path.display()))
}

/// Reads a file or folder; a link at its root is followed, others are kept as links.
pub(super) fn read(root: PathBuf) -> TreeStream {
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

/// Writes a tree so that its root becomes `to`.
///
/// What comes within a moment goes over together: waking the writing thread costs as much as writing a small piece.
pub(super) async fn write(to: PathBuf, tree: TreeStream) -> Result<(), Failure> {
    let (sender, mut batches) = mpsc::channel::<Vec<Item>>(BATCHES);
    let (ended, is_whole) = std::sync::mpsc::channel();
    let writing = tokio::task::spawn_blocking(move || {
        let items = std::iter::from_fn(|| batches.blocking_recv()).flatten();
        write_all(to, items, || is_whole.recv().is_ok())
    });
    let batches_of = tokio_stream::StreamExt::chunks_timeout;
    let mut tree = std::pin::pin!(batches_of(tree, BATCH, PATIENCE));
    while let Some(batch) = tree.next().await {
        if sender.send(batch).await.is_err() {
            break; // The writer has failed; it says why.
        }
    }
    // Without this word, the writer knows that we were called off in the middle, and keeps nothing.
    let _ = ended.send(());
    drop(sender);
    let written = writing.await.map_err(|error| {
        Failure::new(
            FailureKind::Internal,
            format!("writing files failed: {error}"),
        )
    })?;
    written.map_err(Failure::from)
}

fn write_all(
    to: PathBuf,
    items: impl Iterator<Item = Item>,
    is_whole: impl FnOnce() -> bool,
) -> Result<(), EngineError> {
    let mut target = Target::new(to)?;
    for item in items {
        match item {
            Ok(TreeItem::Entry(entry)) => target.make(entry)?,
            Ok(TreeItem::Data(bytes)) => target.fill(&bytes)?,
            Err(error) => return Err(error),
        }
    }
    if !is_whole() {
        let words = "the tree was cut off";
        return Err(EngineError::new(FailureKind::Interrupted, words));
    }
    target.complete()
}

/// A tree being written; dropped before it is complete, a new one goes away.
struct Target {
    to: PathBuf,
    /// Where it grows: beside its final name if that is new, else the final name itself.
    growing: PathBuf,
    file: Option<(File, PathBuf, FileEntry)>,
    folders: Vec<(PathBuf, u32)>,
    links: Vec<(PathBuf, Vec<u8>)>,
    complete: bool,
}

impl Target {
    fn new(to: PathBuf) -> Result<Self, EngineError> {
        let existing = fs::metadata(&to).is_ok_and(|meta| meta.is_dir());
        let growing = if existing { to.clone() } else { beside(&to)? };
        Ok(Self {
            to,
            growing,
            file: None,
            folders: Vec::new(),
            links: Vec::new(),
            complete: false,
        })
    }

    fn make(&mut self, entry: FileEntry) -> Result<(), EngineError> {
        self.finish_file()?;
        let place = self.place(&entry.name)?;
        match &entry.kind {
            FileKind::Directory => self.make_folder(place, entry.mode),
            FileKind::Symlink { target } => {
                self.links.push((place, target.clone()));
                Ok(())
            }
            FileKind::File => self.open(place, entry),
            FileKind::Special => Ok(()),
        }
    }

    /// Joins a name that is not trusted; every folder on the way must be a real one.
    fn place(&self, name: &[u8]) -> Result<PathBuf, EngineError> {
        let mut place = self.growing.clone();
        for part in Path::new(OsStr::from_bytes(name)).components() {
            let Component::Normal(part) = part else {
                let shown = name.escape_ascii();
                return Err(EngineError::new(
                    FailureKind::Denied,
                    format!("the sandbox sent the name `{shown}`, which leaves the destination"),
                ));
            };
            if fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_symlink()) && place != self.to
            {
                let message = format!(
                    "{} is a link; nothing is written through it",
                    place.display()
                );
                return Err(EngineError::new(FailureKind::Denied, message)
                    .with_hint("copy to an empty folder"));
            }
            place.push(part);
        }
        Ok(place)
    }

    fn make_folder(&mut self, place: PathBuf, mode: u32) -> Result<(), EngineError> {
        match fs::create_dir(&place) {
            Ok(()) => self.folders.push((place, mode)),
            Err(_)
                if fs::symlink_metadata(&place).is_ok_and(|m| m.is_dir()) || place == self.to => {}
            Err(error) => return Err(failed(&place, &error)),
        }
        Ok(())
    }

    fn open(&mut self, place: PathBuf, entry: FileEntry) -> Result<(), EngineError> {
        if fs::symlink_metadata(&place).is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(&place).map_err(|e| failed(&place, &e))?;
        }
        let file = File::create_new(&place).map_err(|e| failed(&place, &e))?;
        self.file = Some((file, place, entry));
        Ok(())
    }

    fn fill(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        match &mut self.file {
            Some((file, place, _)) => file.write_all(bytes).map_err(|e| failed(place, &e)),
            None => Err(EngineError::internal(
                "the sandbox sent content without a file",
            )),
        }
    }

    fn finish_file(&mut self) -> Result<(), EngineError> {
        let Some((file, place, entry)) = self.file.take() else {
            return Ok(());
        };
        let times = FileTimes::new().set_modified(SystemTime::from(entry.modified_at));
        let done = file
            .set_permissions(Permissions::from_mode(entry.mode & 0o777))
            .and_then(|()| file.set_times(times));
        done.map_err(|e| failed(&place, &e))
    }

    /// Makes links, sets the modes of folders, and gives a new tree its name.
    fn complete(mut self) -> Result<(), EngineError> {
        self.finish_file()?;
        for (place, target) in &self.links {
            if fs::symlink_metadata(place).is_ok_and(|meta| !meta.is_dir()) {
                fs::remove_file(place).map_err(|e| failed(place, &e))?;
            }
            symlink(OsStr::from_bytes(target), place).map_err(|e| failed(place, &e))?;
        }
        for (place, mode) in self.folders.iter().rev() {
            fs::set_permissions(place, Permissions::from_mode(mode & 0o777))
                .map_err(|e| failed(place, &e))?;
        }
        if self.growing != self.to {
            fs::rename(&self.growing, &self.to).map_err(|e| failed(&self.to, &e))?;
        }
        self.complete = true;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.complete || self.growing == self.to {
            return;
        }
        let _ = if self.growing.is_dir() {
            fs::remove_dir_all(&self.growing)
        } else {
            fs::remove_file(&self.growing)
        };
    }
}

/// Names a sibling that nobody else uses.
fn beside(to: &Path) -> Result<PathBuf, EngineError> {
    let name = to.file_name().ok_or_else(|| {
        EngineError::new(
            FailureKind::Invalid,
            format!("{} is not a file name", to.display()),
        )
    })?;
    let mut fresh = OsStr::new(".").to_os_string();
    fresh.push(name);
    fresh.push(format!(".sandtop-{}", std::process::id()));
    Ok(to.with_file_name(fresh))
}

#[cfg(test)]
mod tests;
