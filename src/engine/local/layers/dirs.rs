//! Files and folders below an open folder; no link is followed.

use std::fs::{File, FileTimes};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use tar::Entry;

use super::names::too_deep;

/// Writes a new file with the content of an entry.
pub(super) fn write_file(
    folder: &OwnedFd,
    name: &[u8],
    mode: Mode,
    entry: &mut Entry<'_, impl Read>,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(
        folder,
        name,
        flags,
        Mode::RUSR | Mode::WUSR,
    )?);
    io::copy(entry, &mut file)?;
    rustix::fs::fchmod(&file, mode)?;
    // Programs compare it: compiled modules of Python are made for a source of this very time.
    let changed = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
    file.set_times(FileTimes::new().set_modified(changed))
}

/// Tells whether a name is a folder, and no link to one.
pub(super) fn is_folder(folder: &OwnedFd, name: &[u8]) -> bool {
    let about = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Directory)
}

/// Opens a folder for reading.
pub(super) fn enter(folder: &OwnedFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Lists what is in a folder.
pub(super) fn names(folder: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::new(enter(folder, b".")?)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes a name with all below it; one that is not there is fine.
pub(super) fn remove(folder: &OwnedFd, name: &[u8], depth: usize) -> io::Result<()> {
    let removed = if is_folder(folder, name) {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let inner = enter(folder, name)?;
        for name in names(&inner)? {
            remove(&inner, &name, depth)?;
        }
        rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
    } else {
        rustix::fs::unlinkat(folder, name, AtFlags::empty())
    };
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
