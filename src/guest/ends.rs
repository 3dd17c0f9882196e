//! How execs ended, left in the sandbox for the case that whoever followed them is gone; and which are not to begin.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::finish::Problem;
use crate::processes;
use crate::wire::{self, Trailer, report::ExecLine};

/// When this many have gathered, the older half goes; the folder is small.
const MOST: usize = 128;

/// Leaves a word on how an exec ended; a failure must not change the command's own result.
pub(crate) fn leave(id: &str, trailer: &Trailer) {
    if !is_plain(id) || make_dir().is_err() {
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let trailer = Trailer {
        at_millis: now
            .ok()
            .and_then(|passed| passed.as_millis().try_into().ok()),
        ..trailer.clone()
    };
    let fresh = Path::new(wire::ENDS_DIR).join(format!(".{id}"));
    let written = fs::write(&fresh, trailer.encode() + "\n");
    let place = Path::new(wire::ENDS_DIR).join(id);
    if written.and_then(|()| fs::rename(&fresh, place)).is_err() {
        let _ = fs::remove_file(fresh);
    }
    thin_out();
}

/// Leaves a word that an exec is not to begin, for one that is cancelled before its guest is there; one that has ended needs
/// none.
pub(crate) fn cancel_unstarted(id: &str) {
    if is_plain(id) && !Path::new(wire::ENDS_DIR).join(id).exists() && make_dir().is_ok() {
        let _ = fs::write(cancel_file(id), "");
        thin_out();
    }
}

/// Tells whether an exec was cancelled before it began.
pub(crate) fn take_cancel(id: &str) -> bool {
    let word = cancel_file(id);
    let is_there = is_plain(id) && word.exists();
    if is_there {
        // Another user's stays until it is thinned out.
        let _ = fs::remove_file(word);
    }
    is_there
}

fn cancel_file(id: &str) -> PathBuf {
    Path::new(wire::ENDS_DIR).join(format!(".off-{id}"))
}

/// Tells whether an id can be the name of a file; those of the engine always can.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn make_dir() -> std::io::Result<()> {
    if !Path::new(wire::ENDS_DIR).is_dir() {
        fs::create_dir_all(wire::ENDS_DIR)?;
        // Every user of the sandbox leaves words here, and none can remove another's.
        fs::set_permissions(wire::ENDS_DIR, fs::Permissions::from_mode(0o1777))?;
    }
    Ok(())
}

fn thin_out() {
    let entries = fs::read_dir(wire::ENDS_DIR).into_iter().flatten().flatten();
    let mut known: Vec<_> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if known.len() < MOST {
        return;
    }
    known.sort();
    for (_, path) in known.iter().take(MOST / 2) {
        let _ = fs::remove_file(path);
    }
}

/// `guest execs`: prints a line for each exec that runs, then for those that have ended.
///
/// In this order: an exec that ends between the two listings is told twice rather than not at all.
pub(crate) fn list() -> Result<(), Problem> {
    let running = processes::running_execs().into_iter();
    let mut lines: Vec<ExecLine> = running.map(ExecLine::Running).collect();
    for entry in fs::read_dir(wire::ENDS_DIR).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let words = fs::read(entry.path()).unwrap_or_default();
        if !name.starts_with('.') {
            lines.push(ExecLine::Ended(name, Trailer::parse(&words)));
        }
    }
    let text: String = lines.iter().map(|line| line.encode() + "\n").collect();
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|e| Problem::io("writing", &e))
}
