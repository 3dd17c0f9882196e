//! A tree that comes out of a sandbox, written to the host.
//!
//! It may be hostile. Names are joined component by component, `..` and absolute names are refused, nothing is written
//! through a link, and links are made last, when no name can lead through them any more. A new tree appears under its name
//! only when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures_util::stream::StreamExt;
use tokio::sync::mpsc;

use super::failed;
use super::sparse::SparseFile;
use crate::domain::{FileEntry, FileKind, TreeItem};
use crate::engine::{EngineError, TreeStream};
use crate::protocol::{Failure, FailureKind};

/// Items that go to the writing thread together, and how many such batches may wait for it.
const BATCH: usize = 16;
const BATCHES: usize = 4;
/// How long a batch waits to become full.
const PATIENCE: Duration = Duration::from_millis(2);

type Item = Result<TreeItem, EngineError>;

/// Writes a tree so that its root becomes `to`.
///
/// What comes within a moment goes over together: waking the writing thread costs as much as writing a small piece.
pub(in crate::manager) async fn write(to: PathBuf, tree: TreeStream) -> Result<(), Failure> {
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

pub(super) fn write_all(
    to: PathBuf,
    items: impl Iterator<Item = Item>,
    is_whole: impl FnOnce() -> bool,
) -> Result<(), EngineError> {
    let mut target = Target::new(to)?;
    for item in items {
        match item {
            Ok(TreeItem::Entry(entry)) => target.make(entry)?,
            Ok(TreeItem::Data(bytes)) => target.fill(&bytes)?,
            Ok(TreeItem::Unreadable(_)) => {}
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
    /// The folders above it that were missing, the outermost first.
    made_above: Vec<PathBuf>,
    file: Option<(SparseFile, PathBuf, FileEntry)>,
    folders: Vec<(PathBuf, u32)>,
    links: Vec<(PathBuf, Vec<u8>)>,
    complete: bool,
}

impl Target {
    fn new(to: PathBuf) -> Result<Self, EngineError> {
        let existing = fs::metadata(&to).is_ok_and(|meta| meta.is_dir());
        let growing = if existing { to.clone() } else { beside(&to)? };
        let mut target = Self {
            to,
            growing,
            made_above: Vec::new(),
            file: None,
            folders: Vec::new(),
            links: Vec::new(),
            complete: false,
        };
        target.make_above()?;
        Ok(target)
    }

    fn make_above(&mut self) -> Result<(), EngineError> {
        let above: Vec<PathBuf> = self.to.ancestors().skip(1).map(Path::to_path_buf).collect();
        let is_missing = |folder: &&PathBuf| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<_> = above.iter().take_while(is_missing).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder).map_err(|e| failed(folder, &e))?;
            self.made_above.push(folder.clone());
        }
        Ok(())
    }

    /// Describes a failure by the name that was asked for, not the one under which the tree grows.
    fn failed(&self, place: &Path, error: &std::io::Error) -> EngineError {
        match place.strip_prefix(&self.growing) {
            Ok(below) if !below.as_os_str().is_empty() => failed(&self.to.join(below), error),
            Ok(_) => failed(&self.to, error),
            Err(_) => failed(place, error),
        }
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
            Err(error) => return Err(self.failed(&place, &error)),
        }
        Ok(())
    }

    fn open(&mut self, place: PathBuf, entry: FileEntry) -> Result<(), EngineError> {
        if fs::symlink_metadata(&place).is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(&place).map_err(|e| self.failed(&place, &e))?;
        }
        let file = File::create_new(&place).map_err(|e| self.failed(&place, &e))?;
        self.file = Some((SparseFile::new(file), place, entry));
        Ok(())
    }

    fn fill(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        let Some((file, ..)) = &mut self.file else {
            let words = "the sandbox sent content without a file";
            return Err(EngineError::internal(words));
        };
        let written = file.write(bytes);
        written.map_err(|e| match &self.file {
            Some((_, place, _)) => self.failed(place, &e),
            None => failed(&self.to, &e),
        })
    }

    fn finish_file(&mut self) -> Result<(), EngineError> {
        let Some((file, place, entry)) = self.file.take() else {
            return Ok(());
        };
        let times = FileTimes::new().set_modified(SystemTime::from(entry.modified_at));
        let done = file.finish().and_then(|file| {
            file.set_permissions(Permissions::from_mode(entry.mode & 0o777))?;
            file.set_times(times)
        });
        done.map_err(|e| self.failed(&place, &e))
    }

    /// Makes links, sets the modes of folders, and gives a new tree its name.
    fn complete(mut self) -> Result<(), EngineError> {
        self.finish_file()?;
        for (place, target) in &self.links {
            if fs::symlink_metadata(place).is_ok_and(|meta| !meta.is_dir()) {
                fs::remove_file(place).map_err(|e| self.failed(place, &e))?;
            }
            symlink(OsStr::from_bytes(target), place).map_err(|e| self.failed(place, &e))?;
        }
        for (place, mode) in self.folders.iter().rev() {
            fs::set_permissions(place, Permissions::from_mode(mode & 0o777))
                .map_err(|e| self.failed(place, &e))?;
        }
        if self.growing != self.to {
            fs::rename(&self.growing, &self.to).map_err(|e| self.failed(&self.to, &e))?;
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
        for folder in self.made_above.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
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
