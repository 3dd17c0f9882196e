//! Package sets of installed packages, each a folder beside the sandboxes.
//!
//! ```text
//! STATE/local/SCOPE/shelves/NAME/  about.json  files/
//! ```
//!
//! A package set is complete when its `about.json` says so, which is replaced at once and last.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chrono::{TimeDelta, Utc};

use super::image::{ImageRoot, ResolvedImage};
use super::record::{self, SandboxRecord};
use super::state_dir::{self, StateDir};
use super::users;
use crate::domain::{Access, PackageSet, SandboxSpec};
use crate::engine::{EngineError, Result};
use crate::protocol::{FailureKind, Leftover};

const ABOUT: &str = "about.json";
const FILES: &str = "files";
/// What unfinished package sets are called among leftovers.
const KIND: &str = "shelf";
/// Younger ones may be waiting for the sandbox that fills them.
const YOUNG: TimeDelta = TimeDelta::seconds(60);
/// Programs whose version decides what can be installed.
const INTERPRETERS: [&str; 3] = [
    "/usr/bin/python3",
    "/usr/local/bin/python3",
    "/usr/bin/node",
];

/// Returns the folder that sandboxes see as a package set.
pub(super) fn files(state_dir: &StateDir, name: &str) -> PathBuf {
    folder(state_dir, name).join(FILES)
}

fn folder(state_dir: &StateDir, name: &str) -> PathBuf {
    state_dir.scope().join("shelves").join(name)
}

fn failure(tried: &str, error: &io::Error) -> EngineError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull => FailureKind::NoSpace,
        io::ErrorKind::PermissionDenied => FailureKind::Denied,
        _ => FailureKind::Internal,
    };
    EngineError::new(kind, format!("{tried} failed: {error}"))
}

/// Refuses names that could leave the folder; ours never do.
fn check_name(name: &str) -> Result<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !name.is_empty() && name.chars().all(fine) {
        return Ok(());
    }
    let words = format!("`{}` is not a set", name.escape_default());
    Err(EngineError::new(FailureKind::Invalid, words))
}

/// Lists the package sets, the oldest first.
pub(super) fn list(state_dir: &StateDir) -> Vec<PackageSet> {
    let entries = fs::read_dir(state_dir.scope().join("shelves"));
    let entries = entries.into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| -> Option<PackageSet> {
        record::read_json(&entry.path().join(ABOUT))
    };
    let mut all: Vec<PackageSet> = entries.filter_map(read).collect();
    all.sort_by(|a, b| (a.made_at, &a.name).cmp(&(b.made_at, &b.name)));
    all
}

/// Makes an empty package set.
pub(super) fn make(state_dir: &StateDir, set: &PackageSet) -> Result<()> {
    check_name(&set.name)?;
    let files = files(state_dir, &set.name);
    let made = state_dir.prepare().and_then(|()| {
        fs::create_dir_all(&files)?;
        fs::set_permissions(&files, fs::Permissions::from_mode(0o755))
    });
    made.map_err(|error| failure("making a place for packages", &error))?;
    mark_complete(state_dir, set)
}

/// Marks a package set as complete.
pub(super) fn mark_complete(state_dir: &StateDir, set: &PackageSet) -> Result<()> {
    let about = folder(state_dir, &set.name).join(ABOUT);
    let written = record::write_json(&about, set);
    written.map_err(|error| failure("noting what packages there are", &error))
}

/// Gives a package set that is to be filled to the user of the sandbox that fills it.
pub(super) fn give_to_user(
    state_dir: &StateDir,
    spec: &SandboxSpec,
    record: &SandboxRecord,
) -> Result<()> {
    match &spec.packages {
        Some(set) if set.access == Access::ReadWrite => {
            let done = users::give_to_user(record, &files(state_dir, &set.name));
            done.map_err(|error| failure("handing over the place for packages", &error))
        }
        _ => Ok(()),
    }
}

/// Tells whether a sandbox sees a package set.
fn is_used(state_dir: &StateDir, name: &str) -> bool {
    let files = files(state_dir, name);
    let records = state_dir.records();
    let mut mounts = records.iter().flat_map(|record| &record.asked.mounts);
    let real = files.canonicalize().unwrap_or_else(|_| files.clone());
    mounts.any(|mount| mount.source == files || mount.source == real)
}

/// Removes a package set.
pub(super) fn remove(state_dir: &StateDir, name: &str) -> Result<()> {
    check_name(name)?;
    let lock = state_dir.lock_scope();
    let _lock = lock.map_err(|error| failure("waiting for other processes of sandtop", &error))?;
    if is_used(state_dir, name) {
        let words = "removing installed packages: a sandbox sees them";
        return Err(EngineError::new(FailureKind::Conflict, words));
    }
    let removed = state_dir::remove_all(&folder(state_dir, name));
    removed.map_err(|error| failure("removing installed packages", &error))
}

/// Lists unfinished package sets that nobody works on.
pub(super) fn leftovers(state_dir: &StateDir) -> Vec<Leftover> {
    let is_left = |set: &PackageSet| {
        !set.complete && Utc::now() - set.made_at > YOUNG && !is_used(state_dir, &set.name)
    };
    let left = list(state_dir).into_iter().filter(is_left);
    left.map(|set| Leftover {
        kind: KIND.to_owned(),
        name: set.name,
    })
    .collect()
}

/// Names what decides over packages: where programs come from, and which interpreters these are.
pub(super) fn image_key(image: &str) -> Result<String> {
    let root = match ImageRoot::resolve(image)? {
        ResolvedImage::Ready(root) => root,
        ResolvedImage::Packed(packed) => return Ok(packed.digest),
    };
    let mut words = vec![image.to_owned(), std::env::consts::ARCH.to_owned()];
    for program in INTERPRETERS {
        words.extend(identity(&root.at(program)));
    }
    Ok(words.join(" "))
}

fn identity(program: &Path) -> Option<String> {
    let real = fs::canonicalize(program).ok()?;
    let about = fs::metadata(&real).ok()?;
    Some(format!(
        "{} {} {}",
        real.display(),
        about.len(),
        about.mtime()
    ))
}
