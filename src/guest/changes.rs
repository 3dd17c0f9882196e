//! Finds files of the sandbox that are not as they were, and measures what files take.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::files::kind_of;
use crate::finish::Problem;
use crate::wire::{self, report::ChangeLine};

/// Longest walk through the files of a sandbox.
const LONGEST_WALK: Duration = Duration::from_secs(2);

/// `guest changes MOST PATH…`: prints what below the paths is newer than the sandbox, and how much more there is than `MOST`.
/// The paths themselves are not told, and other file systems not entered.
pub(crate) fn changes(most: u64, roots: &[Vec<u8>]) -> Result<(), Problem> {
    // The engine puts the guest in last, when everything that came with the image is in its place.
    let born =
        fs::metadata(wire::GUEST_PATH).map_err(|e| Problem::on(wire::GUEST_PATH.as_bytes(), &e))?;
    let mut walk = Walk {
        born: moment(&born),
        made: born.created().ok(),
        most,
        told: 0,
        more: 0,
        out: BufWriter::new(io::stdout().lock()),
    };
    for root in roots {
        let root = crate::files::path(root);
        if let Ok(meta) = fs::metadata(root) {
            walk.folder(root, meta.dev())
                .map_err(|e| Problem::on(root.as_os_str().as_bytes(), &e))?;
        }
    }
    walk.finish().map_err(|e| Problem::io("writing", &e))
}

/// `guest size PATH`: prints how many bytes the files below the path take on its disk. A walk that takes too long ends early
/// and tells what it has found: at least so much.
pub(crate) fn size(root: &[u8]) -> Result<(), Problem> {
    let top = fs::metadata(crate::files::path(root)).map_err(|e| Problem::on(root, &e))?;
    let end = Instant::now() + LONGEST_WALK;
    let (mut bytes, mut counted) = (0, HashSet::new());
    let mut folders = vec![crate::files::path(root).to_path_buf()];
    while let Some(folder) = folders.pop().filter(|_| Instant::now() < end) {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            // A file with several names is there once.
            if meta.is_dir() || meta.nlink() == 1 || counted.insert(meta.ino()) {
                bytes += meta.blocks() * 512;
            }
            if meta.is_dir() && meta.dev() == top.dev() {
                folders.push(entry.path());
            }
        }
    }
    println!("{bytes}");
    Ok(())
}

/// When the kernel last noted a change of content, mode, owner or name; nobody can set it.
fn moment(meta: &Metadata) -> (i64, i64) {
    (meta.ctime(), meta.ctime_nsec())
}

struct Walk<W: Write> {
    born: (i64, i64),
    made: Option<SystemTime>,
    most: u64,
    told: u64,
    more: u64,
    out: W,
}

impl<W: Write> Walk<W> {
    /// Goes through a folder and those below it; one that may not be read, or is gone by now, is passed over.
    fn folder(&mut self, top: &Path, device: u64) -> io::Result<()> {
        let mut folders = vec![top.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(meta) = entry.metadata() else { continue };
                let path = entry.path();
                self.compare(&path, &meta)?;
                if meta.is_dir() && meta.dev() == device {
                    folders.push(path);
                }
            }
        }
        Ok(())
    }

    /// Prints a file if it is newer than the sandbox.
    fn compare(&mut self, path: &Path, meta: &Metadata) -> io::Result<()> {
        // Where the file system keeps no birth times, as in memory, there was nothing before.
        let is_new = meta
            .created()
            .ok()
            .zip(self.made)
            .is_none_or(|(made, born)| made > born);
        // A folder changes with what is in it, which is told itself.
        if moment(meta) <= self.born || (meta.is_dir() && !is_new) {
            return Ok(());
        }
        if self.told == self.most {
            self.more += 1;
            return Ok(());
        }
        self.told += 1;
        let change = ChangeLine::File {
            is_new,
            kind: kind_of(meta),
            size: meta.len(),
            seconds: meta.mtime(),
            path: path.as_os_str().as_bytes().to_vec(),
        };
        writeln!(self.out, "{}", change.encode())
    }

    fn finish(mut self) -> io::Result<()> {
        if self.more > 0 {
            writeln!(self.out, "{}", ChangeLine::More(self.more).encode())?;
        }
        self.out.flush()
    }
}
