//! Small work on files, inside the sandbox and with the rights of its user.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::finish::Problem;
use crate::parents::Parents;
use crate::wire::{self, Decoder, Entry, EntryKind, Record};

/// Views bytes as a path.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Describes a file as the engine wants it.
pub(crate) fn describe(name: &[u8], path: &Path, meta: &Metadata) -> Entry {
    let target = if meta.is_symlink() {
        fs::read_link(path).ok()
    } else {
        None
    };
    Entry {
        kind: kind_of(meta),
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        size: meta.len(),
        seconds: meta.mtime(),
        nanos: u32::try_from(meta.mtime_nsec()).unwrap_or(0),
        name: name.to_vec(),
        target: target
            .map(|t| t.as_os_str().as_bytes().to_vec())
            .unwrap_or_default(),
    }
}

/// Tells what a file is.
pub(crate) fn kind_of(meta: &Metadata) -> EntryKind {
    if meta.is_file() {
        EntryKind::File
    } else if meta.is_dir() {
        EntryKind::Directory
    } else if meta.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Special
    }
}

fn emit(out: &mut impl Write, bytes: &[u8]) -> Result<(), Problem> {
    out.write_all(bytes)
        .map_err(|error| Problem::io("sending", &error))
}

/// `guest list PATH`: prints an entry for each file in a folder.
pub(crate) fn list(target: &[u8]) -> Result<(), Problem> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for entry in fs::read_dir(path(target)).map_err(|e| Problem::on(target, &e))? {
        let entry = entry.map_err(|e| Problem::on(target, &e))?;
        // A file may vanish between the listing and the look at it; then it is not there.
        if let Ok(meta) = entry.metadata() {
            emit(
                &mut out,
                &wire::entry_bytes(&describe(
                    entry.file_name().as_bytes(),
                    &entry.path(),
                    &meta,
                )),
            )?;
        }
    }
    emit(&mut out, &wire::end_bytes())?;
    out.flush().map_err(|error| Problem::io("sending", &error))
}

/// `guest stat PATH`: prints one entry; a link is not followed.
pub(crate) fn stat(target: &[u8]) -> Result<(), Problem> {
    let meta = fs::symlink_metadata(path(target)).map_err(|e| Problem::on(target, &e))?;
    let name = path(target)
        .file_name()
        .map(OsStrExt::as_bytes)
        .unwrap_or_default();
    let mut out = io::stdout().lock();
    emit(
        &mut out,
        &wire::entry_bytes(&describe(name, path(target), &meta)),
    )?;
    emit(&mut out, &wire::end_bytes())
}

/// `guest mkdir PATH`: makes a folder and those above it.
pub(crate) fn make_dir(target: &[u8]) -> Result<(), Problem> {
    fs::create_dir_all(path(target)).map_err(|e| Problem::on(target, &e))
}

/// `guest rename FROM TO`: what has the new name is replaced.
pub(crate) fn rename(from: &[u8], to: &[u8]) -> Result<(), Problem> {
    fs::symlink_metadata(path(from)).map_err(|e| Problem::on(from, &e))?;
    fs::rename(path(from), path(to)).map_err(|e| Problem::on(to, &e))
}

/// `guest delete PATH HOW`: removes a file, an empty folder, or one with all in it.
pub(crate) fn delete(target: &[u8], recursive: bool) -> Result<(), Problem> {
    let meta = fs::symlink_metadata(path(target)).map_err(|e| Problem::on(target, &e))?;
    let done = match (meta.is_dir(), recursive) {
        (true, true) => fs::remove_dir_all(path(target)),
        (true, false) => fs::remove_dir(path(target)),
        (false, _) => fs::remove_file(path(target)),
    };
    done.map_err(|e| Problem::on(target, &e))
}

/// `guest read PATH [LIMIT]`: prints a regular file, or its first bytes.
pub(crate) fn read(target: &[u8], limit: Option<u64>) -> Result<(), Problem> {
    let file = open_file(target)?;
    let mut out = io::stdout().lock();
    copy(&mut file.take(limit.unwrap_or(u64::MAX)), &mut out).map_err(|e| Problem::on(target, &e))
}

/// Opens a regular file; a pipe or device would hang or never end.
pub(crate) fn open_file(target: &[u8]) -> Result<File, Problem> {
    let meta = fs::metadata(path(target)).map_err(|e| Problem::on(target, &e))?;
    if meta.is_dir() {
        return Err(Problem::on(target, &io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(Problem::invalid(format!(
            "{}: is not a regular file",
            String::from_utf8_lossy(target)
        )));
    }
    File::open(path(target)).map_err(|e| Problem::on(target, &e))
}

/// Copies in pieces that fit the engine's pipes well.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; wire::DATA_PIECE];
    loop {
        let got = from.read(&mut piece)?;
        if got == 0 {
            return to.flush();
        }
        to.write_all(piece.get(..got).unwrap_or_default())?;
    }
}

/// Replaces a file only when all of its new content has arrived; a cut-off stream leaves the old one.
///
/// `guest write PATH [MODE]`: the content is in records on standard input; folders that are missing are made.
pub(crate) fn write(target: &[u8], mode: Option<u32>) -> Result<(), Problem> {
    let real = fs::canonicalize(path(target)).unwrap_or_else(|_| path(target).to_path_buf());
    let old = fs::metadata(&real).ok();
    if old.as_ref().is_some_and(Metadata::is_dir) {
        return Err(Problem::on(target, &io::ErrorKind::IsADirectory.into()));
    }
    let mode = mode
        .or(old.map(|meta| meta.mode() & 0o7777))
        .unwrap_or(0o644);
    let parents = Parents::make(&real).map_err(|e| Problem::on(target, &e))?;
    replace(&real, target, mode).inspect_err(|_| parents.give_up())
}

fn replace(real: &Path, target: &[u8], mode: u32) -> Result<(), Problem> {
    let fresh = part(real);
    let mut file = create(&fresh, mode).map_err(|e| Problem::on(target, &e))?;
    let done = receive(&mut file, target)
        .and_then(|()| {
            fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))
                .map_err(|e| Problem::on(target, &e))
        })
        .and_then(|()| fs::rename(&fresh, real).map_err(|e| Problem::on(target, &e)));
    if done.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    done
}

/// Names a sibling that grows until it is whole.
pub(crate) fn part(place: &Path) -> PathBuf {
    place.with_file_name(format!(".sandtop-{}.part", std::process::id()))
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
}

fn receive(file: &mut File, target: &[u8]) -> Result<(), Problem> {
    let mut decoder = Decoder::default();
    for_each_record(&mut decoder, |record| match record {
        Record::Data(bytes) => file.write_all(bytes).map_err(|e| Problem::on(target, &e)),
        _ => Ok(()),
    })
}

/// Feeds every record of standard input to `take`; ends well only at an `End`.
pub(crate) fn for_each_record(
    decoder: &mut Decoder,
    mut take: impl FnMut(Record<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut input = io::stdin().lock();
    loop {
        while let Some(record) = decoder.next_record().map_err(Problem::invalid)? {
            if record == Record::End {
                return Ok(());
            }
            take(record)?;
        }
        if decoder
            .read_from(&mut input)
            .map_err(|e| Problem::io("receiving", &e))?
            == 0
        {
            return Err(Problem::invalid(
                "the content was cut off; nothing was changed",
            ));
        }
    }
}
