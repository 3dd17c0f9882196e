//! Unpacks the layers of an image on top of each other, confined by the kernel: every name is looked up as if the new root were
//! the only one, so that no link in it can lead anywhere else.
//!
//! Nobody's numbers are kept, since a sandbox has other ones; devices are left out.

mod dirs;
#[cfg(test)]
mod fuzz;
mod metered;
mod names;

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use tar::{Entry, EntryType};

use dirs::{enter, is_folder, names, remove, write_file};
use metered::{Metered, too_much};
use names::{MOST_STEPS, below, display, join_steps, leads_out, steps};

/// The most that an image may hold; larger ones are likelier to be a trap.
const MOST_BYTES: u64 = 32 << 30;
const MOST_ENTRIES: u64 = 2_000_000;
/// The most that stands before the content of a file: its names.
const MOST_NAMES: u64 = 1 << 20;
/// How often a lookup is tried that the kernel could not finish, because something was renamed meanwhile.
const LOOKUPS: u32 = 1000;

const HIDES: &[u8] = b".wh.";
const HIDES_ALL_BELOW: &[u8] = b".wh..wh..opq";
const OF_TOOLS: &[u8] = b".wh..wh.";

/// A root that grows.
pub(in crate::engine::local) struct RootBuilder {
    top: OwnedFd,
    bytes_left: u64,
    entries_left: u64,
    /// What the current layer brought, which it does not hide itself.
    fresh: HashSet<Vec<u8>>,
    /// The folder of the last entry, which often is that of the next one.
    last: Option<(Vec<u8>, Rc<OwnedFd>)>,
}

impl RootBuilder {
    /// Begins with an empty folder.
    pub(in crate::engine::local) fn begin(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            top: rustix::fs::open(folder, flags, Mode::empty())?,
            bytes_left: MOST_BYTES,
            entries_left: MOST_ENTRIES,
            fresh: HashSet::new(),
            last: None,
        })
    }

    /// Puts a layer on top: a tar, packed by gzip or not.
    pub(in crate::engine::local) fn add(&mut self, mut layer: File) -> io::Result<()> {
        let mut start = [0; 2];
        let got = layer.read(&mut start)?;
        let whole = io::Cursor::new(start).take(got as u64).chain(layer);
        self.fresh.clear();
        if start == [0x1f, 0x8b] {
            self.add_tar(MultiGzDecoder::new(whole))
        } else {
            self.add_tar(io::BufReader::new(whole))
        }
    }

    fn add_tar(&mut self, tar: impl Read) -> io::Result<()> {
        let allowance = Rc::new(Cell::new(0));
        let mut archive = tar::Archive::new(Metered {
            inner: tar,
            allowance: Rc::clone(&allowance),
        });
        let mut entries = archive.entries()?;
        loop {
            allowance.set(MOST_NAMES);
            let Some(entry) = entries.next() else {
                return Ok(());
            };
            let mut entry = entry?;
            self.entries_left = self.entries_left.checked_sub(1).ok_or_else(too_much)?;
            self.bytes_left = self
                .bytes_left
                .checked_sub(entry.size())
                .ok_or_else(too_much)?;
            allowance.set(entry.size());
            let name = entry.path_bytes().into_owned();
            self.take(&name, &mut entry).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", display(&name)))
            })?;
            // What nobody wanted is passed over here, so that only names are left to read before the next one.
            io::copy(&mut entry, &mut io::sink())?;
        }
    }

    fn take(&mut self, name: &[u8], entry: &mut Entry<'_, impl Read>) -> io::Result<()> {
        let steps = steps(name)?;
        let Some((last, parents)) = steps.split_last() else {
            return Ok(());
        };
        if last.starts_with(HIDES) {
            return self.hide(parents, last);
        }
        let kind = entry.header().entry_type();
        let is_wanted = kind.is_file()
            || matches!(
                kind,
                EntryType::Directory
                    | EntryType::Symlink
                    | EntryType::Link
                    | EntryType::Continuous
                    | EntryType::GNUSparse
            );
        if !is_wanted {
            return Ok(());
        }
        let folder = self.folder(parents)?;
        for count in 1..=steps.len() {
            self.fresh
                .insert(join_steps(steps.get(..count).unwrap_or_default()));
        }
        if !(kind == EntryType::Directory && is_folder(&folder, last)) {
            self.remove(&folder, last)?;
        }
        self.make(&folder, last, entry)
    }

    fn make(
        &mut self,
        folder: &OwnedFd,
        name: &[u8],
        entry: &mut Entry<'_, impl Read>,
    ) -> io::Result<()> {
        let mode = mode(entry)?;
        let target = entry.link_name_bytes().unwrap_or_default().into_owned();
        match entry.header().entry_type() {
            EntryType::Directory => {
                // Whoever unpacks goes on working in it, and removes it one day.
                let mode = mode | Mode::RWXU;
                match rustix::fs::mkdirat(folder, name, mode) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                Ok(rustix::fs::chmodat(folder, name, mode, AtFlags::empty())?)
            }
            EntryType::Symlink => Ok(rustix::fs::symlinkat(&target[..], folder, name)?),
            EntryType::Link => self.link(&target, folder, name),
            _ => write_file(folder, name, mode, entry),
        }
    }

    /// Gives a file of the image another name.
    fn link(&mut self, target: &[u8], folder: &OwnedFd, name: &[u8]) -> io::Result<()> {
        let steps = steps(target)?;
        let (last, parents) = steps.split_last().ok_or(io::ErrorKind::InvalidData)?;
        let linked = self
            .find(&join_steps(parents))
            .and_then(|from| rustix::fs::linkat(&from, *last, folder, name, AtFlags::empty()));
        linked.map_err(|error| io::Error::other(format!("linking to {}: {error}", display(target))))
    }

    /// Takes away what a layer hides of those below it.
    fn hide(&mut self, parents: &[&[u8]], sign: &[u8]) -> io::Result<()> {
        let path = join_steps(parents);
        let folder = match self.find(&path) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if sign == HIDES_ALL_BELOW {
            return self.clear(&folder, &path);
        }
        let name = sign.strip_prefix(HIDES).unwrap_or_default();
        if sign.starts_with(OF_TOOLS) {
            return Ok(());
        }
        // Such a name would be the folder itself, or the one above.
        if matches!(name, b"" | b"." | b"..") {
            return Err(leads_out());
        }
        if self.fresh.contains(&below(&path, name)) {
            return Ok(());
        }
        self.remove(&folder, name)
    }

    /// Empties a folder of what lower layers brought.
    fn clear(&mut self, folder: &OwnedFd, path: &[u8]) -> io::Result<()> {
        for name in names(folder)? {
            let path = below(path, &name);
            if !self.fresh.contains(&path) {
                self.remove(folder, &name)?;
            } else if is_folder(folder, &name) {
                self.clear(&enter(folder, &name)?, &path)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, folder: &OwnedFd, name: &[u8]) -> io::Result<()> {
        if is_folder(folder, name) {
            // It may have been the last one, or lead to it.
            self.last = None;
        }
        remove(folder, name, MOST_STEPS)
    }

    /// Opens a folder of the image, and makes it where it is missing.
    fn folder(&mut self, steps: &[&[u8]]) -> io::Result<Rc<OwnedFd>> {
        let path = join_steps(steps);
        if let Some((known, folder)) = &self.last
            && *known == path
        {
            return Ok(Rc::clone(folder));
        }
        let folder = match self.find(&path) {
            Err(Errno::NOENT) => self.make_folders(steps)?,
            found => found?,
        };
        let folder = Rc::new(folder);
        self.last = Some((path, Rc::clone(&folder)));
        Ok(folder)
    }

    fn make_folders(&self, steps: &[&[u8]]) -> io::Result<OwnedFd> {
        let mut folder = self.find(b"")?;
        for count in 1..=steps.len() {
            let path = steps.get(..count).unwrap_or_default();
            folder = match (self.find(&join_steps(path)), path.last()) {
                (Err(Errno::NOENT), Some(name)) => {
                    rustix::fs::mkdirat(&folder, *name, Mode::from_raw_mode(0o755))?;
                    self.find(&join_steps(path))?
                }
                (found, _) => found?,
            };
        }
        Ok(folder)
    }

    /// Opens a folder, with the new root as the root of all links.
    fn find(&self, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        let path = if path.is_empty() { b"." } else { path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let open = || rustix::fs::openat2(&self.top, path, flags, Mode::empty(), inside);
        let mut found = open();
        for _ in 0..LOOKUPS {
            if found.as_ref().err() != Some(&Errno::AGAIN) {
                break;
            }
            found = open();
        }
        found
    }
}

/// Tells what may be done with an entry. Its owner is not kept: so what is for an owner other than root is for all, or a program
/// could not read what belongs to its own user. Nothing gains rights.
fn mode(entry: &Entry<'_, impl Read>) -> io::Result<Mode> {
    let header = entry.header();
    let given = header.mode()? & 0o1777;
    let for_owner = given & 0o700;
    let for_all = if header.uid()? == 0 {
        0
    } else {
        for_owner >> 3 | for_owner >> 6
    };
    Ok(Mode::from_raw_mode(given | for_all))
}
