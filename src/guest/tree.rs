//! Whole file trees out of and into the sandbox.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::abi::{O_NOFOLLOW, O_PATH};
use crate::files::{describe, for_each_record, part, path};
use crate::finish::Problem;
use crate::parents::Parents;
use crate::sys;
use crate::wire::{self, Decoder, Entry, EntryKind, Record};

/// `guest pack PATH`: writes the tree at PATH, a link at its root followed.
pub(crate) fn pack(target: &[u8]) -> Result<(), Problem> {
    let root = fs::canonicalize(path(target)).map_err(|e| Problem::on(target, &e))?;
    let mut out = io::BufWriter::with_capacity(wire::DATA_PIECE, io::stdout().lock());
    pack_one(&root, &[], &mut out)?;
    out.write_all(&wire::end_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Problem::io("sending", &e))
}

/// Writes one file or folder; folders are walked without recursion, so that depth cannot exhaust the stack.
///
/// What cannot be read is named and passed over, but for the root; what is gone when its turn comes was never there.
fn pack_one(root: &Path, name: &[u8], out: &mut impl Write) -> Result<(), Problem> {
    let mut waiting = vec![(root.to_path_buf(), name.to_vec())];
    while let Some((place, name)) = waiting.pop() {
        let shown = place.as_os_str().as_bytes();
        match Opened::open(&place, &name) {
            Ok(opened) => opened.pack(&place, out, &mut waiting)?,
            Err(error) if name.is_empty() => return Err(Problem::on(shown, &error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => send(out, &wire::entry_bytes(&unreadable(name)))?,
        }
    }
    Ok(())
}

fn unreadable(name: Vec<u8>) -> Entry {
    Entry {
        kind: EntryKind::Unreadable,
        name,
        ..Entry::default()
    }
}

/// An entry with what must be opened to read it: before it is named, so that nothing is named in vain.
struct Opened {
    entry: Entry,
    file: Option<File>,
    children: Option<fs::ReadDir>,
}

impl Opened {
    fn open(place: &Path, name: &[u8]) -> io::Result<Self> {
        let meta = fs::symlink_metadata(place)?;
        Ok(Self {
            entry: describe(name, place, &meta),
            file: meta.is_file().then(|| File::open(place)).transpose()?,
            children: meta.is_dir().then(|| fs::read_dir(place)).transpose()?,
        })
    }

    fn pack(
        self,
        place: &Path,
        out: &mut impl Write,
        waiting: &mut Vec<(PathBuf, Vec<u8>)>,
    ) -> Result<(), Problem> {
        let failed = |error: io::Error| Problem::on(place.as_os_str().as_bytes(), &error);
        send(out, &wire::entry_bytes(&self.entry))?;
        if let Some(file) = self.file {
            pack_content(place, file, out)?;
        }
        for child in self.children.into_iter().flatten() {
            let child = child.map_err(failed)?;
            let name = join(&self.entry.name, child.file_name().as_bytes());
            waiting.push((child.path(), name));
        }
        Ok(())
    }
}

fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    if above.is_empty() {
        name.to_vec()
    } else {
        [above, b"/", name].concat()
    }
}

fn send(out: &mut impl Write, bytes: &[u8]) -> Result<(), Problem> {
    out.write_all(bytes)
        .map_err(|error| Problem::io("sending", &error))
}

fn pack_content(place: &Path, mut file: File, out: &mut impl Write) -> Result<(), Problem> {
    let shown = place.as_os_str().as_bytes();
    // Head and data lie side by side, so that one write sends both.
    let mut record = vec![0; wire::DATA_HEAD + wire::DATA_PIECE];
    loop {
        let Some((head, piece)) = record.split_first_chunk_mut() else {
            return Ok(());
        };
        let got = file.read(piece).map_err(|e| Problem::on(shown, &e))?;
        if got == 0 {
            return Ok(());
        }
        *head = wire::data_head(got);
        send(out, record.get(..wire::DATA_HEAD + got).unwrap_or_default())?;
        send(out, wire::padding(got))?;
    }
}

/// `guest unpack PATH`: makes the tree that arrives on standard input, with its root at PATH.
pub(crate) fn unpack(root: &[u8]) -> Result<(), Problem> {
    let mut target = Target::new(path(root)).map_err(|e| Problem::on(root, &e))?;
    let done = for_each_record(&mut Decoder::default(), |record| target.take(record));
    let done = done.and_then(|()| target.close());
    if done.is_err() {
        target.give_up();
    }
    // A big file that was replaced goes when this process ends; whoever waits for our last words need not wait for that.
    std::mem::forget(target.replaced.take());
    done
}

/// The tree being made: the file that is open now, and folders whose final mode waits until they are filled.
///
/// A new tree grows beside its name and gets it when it is whole; into a folder that is there, each file grows so.
struct Target {
    root: PathBuf,
    growing: PathBuf,
    parents: Parents,
    file: Option<(File, PathBuf, Entry)>,
    folders: Vec<(PathBuf, u32)>,
    /// The file replaced last: it has no name any more, and takes up room as long as it is held.
    replaced: Option<File>,
}

impl Target {
    fn new(root: &Path) -> io::Result<Self> {
        let growing = if root.is_dir() {
            root.to_path_buf()
        } else {
            part(root)
        };
        Ok(Self {
            root: root.to_path_buf(),
            growing,
            parents: Parents::make(root)?,
            file: None,
            folders: Vec::new(),
            replaced: None,
        })
    }

    fn is_new(&self) -> bool {
        self.growing != self.root
    }

    fn take(&mut self, record: Record<'_>) -> Result<(), Problem> {
        match record {
            Record::Entry(entry) => self.make(entry),
            Record::Data(bytes) => self.fill(bytes),
            Record::End => Ok(()),
        }
    }

    fn make(&mut self, entry: Entry) -> Result<(), Problem> {
        self.finish_file()?;
        if climbs(&entry.name) {
            let shown = String::from_utf8_lossy(&entry.name);
            return Err(Problem::invalid(format!(
                "the name {shown} in the tree leads out of it"
            )));
        }
        let place = if entry.name.is_empty() {
            self.growing.clone()
        } else {
            self.growing.join(path(&entry.name))
        };
        let shown = place.clone();
        match entry.kind {
            EntryKind::Directory => self.make_folder(place, entry.mode),
            EntryKind::Symlink => replace_link(&place, &entry.target),
            EntryKind::File => open_new(&self.file_place(&place))
                .map(|file| self.file = Some((file, place, entry))),
            EntryKind::Special | EntryKind::Unreadable => Ok(()),
        }
        .map_err(|e| self.problem(&shown, &e))
    }

    /// Describes a failure by the name that was asked for, not the one under which the tree grows.
    fn problem(&self, place: &Path, error: &io::Error) -> Problem {
        let asked = match place.strip_prefix(&self.growing) {
            Ok(below) if !below.as_os_str().is_empty() => self.root.join(below),
            Ok(_) => self.root.clone(),
            Err(_) => place.to_path_buf(),
        };
        Problem::on(asked.as_os_str().as_bytes(), error)
    }

    fn make_folder(&mut self, place: PathBuf, mode: u32) -> io::Result<()> {
        match fs::create_dir(&place) {
            Ok(()) => self.folders.push((place, mode)),
            Err(_) if fs::metadata(&place).is_ok_and(|m| m.is_dir()) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn fill(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let Some((file, place, _)) = &self.file else {
            return Err(Problem::invalid("content without a file arrived"));
        };
        let mut file = file;
        file.write_all(bytes).map_err(|e| self.problem(place, &e))
    }

    fn finish_file(&mut self) -> Result<(), Problem> {
        let Some((file, place, entry)) = self.file.take() else {
            return Ok(());
        };
        let changed =
            u64::try_from(entry.seconds).map(|s| UNIX_EPOCH + Duration::new(s, entry.nanos));
        let finish = || {
            file.set_permissions(fs::Permissions::from_mode(entry.mode & 0o777))?;
            changed.map_or(Ok(()), |time| {
                file.set_times(FileTimes::new().set_modified(time))
            })?;
            if self.is_new() {
                Ok(None)
            } else {
                settle(&part(&place), &place)
            }
        };
        let replaced = finish().map_err(|e: io::Error| {
            let _ = fs::remove_file(self.file_place(&place));
            self.problem(&place, &e)
        });
        self.replaced = replaced?;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.finish_file()?;
        for (place, mode) in self.folders.iter().rev() {
            let permissions = fs::Permissions::from_mode(mode & 0o777);
            fs::set_permissions(place, permissions).map_err(|e| self.problem(place, &e))?;
        }
        if !self.is_new() {
            return Ok(());
        }
        let replaced = settle(&self.growing, &self.root);
        self.replaced = replaced.map_err(|e| self.problem(&self.root, &e))?;
        Ok(())
    }

    /// Returns where a file grows.
    fn file_place(&self, place: &Path) -> PathBuf {
        if self.is_new() {
            place.to_path_buf()
        } else {
            part(place)
        }
    }

    /// Takes away what is not whole.
    fn give_up(&mut self) {
        if let Some((_, place, _)) = self.file.take() {
            let _ = fs::remove_file(self.file_place(&place));
        }
        if self.is_new() {
            let _ = fs::remove_dir_all(&self.growing).or_else(|_| fs::remove_file(&self.growing));
        }
        self.parents.give_up();
    }
}

/// Gives what has grown its name; there is something whole under that name at any moment. Returns what was replaced, which
/// takes up room as long as it is held.
///
/// Renaming over a file makes some file systems write the new one to disk first, which takes as long as the copy itself.
pub(crate) fn settle(grown: &Path, place: &Path) -> io::Result<Option<File>> {
    let is_file = |path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if is_file(grown) && is_file(place) && sys::exchange(grown, place).is_ok() {
        let replaced = fs::OpenOptions::new()
            .read(true)
            .custom_flags(O_PATH)
            .open(grown)
            .ok();
        return fs::remove_file(grown).map(|()| replaced);
    }
    fs::rename(grown, place).map(|()| None)
}

/// Tells whether a name is absolute or holds `..`.
fn climbs(name: &[u8]) -> bool {
    name.starts_with(b"/") || name.split(|b| *b == b'/').any(|part| part == b"..")
}

fn replace_link(place: &Path, target: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(place).is_ok_and(|meta| !meta.is_dir()) {
        fs::remove_file(place)?;
    }
    symlink(path(target), place)
}

/// Opens a new file; a link or file in its place is replaced, never written through.
pub(crate) fn open_new(place: &Path) -> io::Result<File> {
    if fs::symlink_metadata(place).is_ok_and(|meta| !meta.is_dir()) {
        fs::remove_file(place)?;
    }
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(O_NOFOLLOW)
        .open(place)
}
