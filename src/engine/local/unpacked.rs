//! Images that come packed, unpacked once for all sandboxes of a scope.
//!
//! ```text
//! STATE/local/SCOPE/images/DIGEST/  root/ whole, by rename  [part/] growing, or on its way out
//! ```
//!
//! The folder itself is locked: alone by who fills or removes it, together by who is about to make a sandbox from it. One that
//! is not locked and has no root was left by a crash.

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::image::{ImageRoot, ResolvedImage};
use super::layers::RootBuilder;
use super::oci::{self, Packed};
use super::record::{SandboxRecord, Unpacked};
use super::state_dir::{self, StateDir};
use crate::engine::{EngineError, Notes, Result};
use crate::protocol::{FailureKind, Leftover};

const ROOT: &str = "root";
const PART: &str = "part";
/// What unused ones are called among leftovers.
pub(super) const KIND: &str = "image";
/// How long one waits for its next use.
const UNUSED: Duration = Duration::from_hours(1);

/// Keeps an image from being removed until this is dropped.
pub(super) struct ImageInUse(#[allow(dead_code)] File);

/// An image that can be used, and what a sandbox made from it has to remember.
pub(super) struct UsableImage {
    pub(super) image: ImageRoot,
    pub(super) unpacked: Option<Unpacked>,
    /// Until a record says that the image is used.
    pub(super) _held: Option<ImageInUse>,
}

fn folder(state_dir: &StateDir) -> PathBuf {
    state_dir.scope().join("images")
}

fn failure(tried: &str, error: &io::Error) -> EngineError {
    let text = format!("{tried} failed: {error}");
    let other = |kind, hint: &str| EngineError::new(kind, text.clone()).with_hint(hint);
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => other(
            FailureKind::NoSpace,
            "make room in the state directory; `sandtop reap` removes unpacked images that nobody uses",
        ),
        io::ErrorKind::PermissionDenied => other(
            FailureKind::Denied,
            "the image and the state directory must be yours to read",
        ),
        _ => oci::bad_image(text),
    }
}

/// Makes an image usable, which takes a while when it comes packed and is new.
pub(super) fn prepare(
    state_dir: &StateDir,
    found: ResolvedImage,
    notes: &Notes,
) -> Result<UsableImage> {
    Ok(match found {
        ResolvedImage::Ready(image) => UsableImage {
            image,
            unpacked: None,
            _held: None,
        },
        ResolvedImage::Packed(packed) => {
            let (root, held) = unpack_once(state_dir, &packed, notes)?;
            let Packed { digest, env, .. } = packed;
            UsableImage {
                image: ImageRoot::Folder(root),
                unpacked: Some(Unpacked { digest, env }),
                _held: Some(held),
            }
        }
    })
}

/// Finds the image of a sandbox that was made before; one that came packed is not looked at again.
pub(super) fn of_record(state_dir: &StateDir, record: &SandboxRecord) -> Result<ImageRoot> {
    let Some(known) = &record.unpacked else {
        return Ok(prepare(
            state_dir,
            ImageRoot::resolve(&record.asked.image)?,
            &Notes::none(),
        )?
        .image);
    };
    let root = folder(state_dir).join(&known.digest).join(ROOT);
    if root.is_dir() {
        return Ok(ImageRoot::Folder(root));
    }
    let again = prepare(
        state_dir,
        ImageRoot::resolve(&record.asked.image)?,
        &Notes::none(),
    )?;
    if again.unpacked.as_ref().map(|new| &new.digest) == Some(&known.digest) {
        return Ok(again.image);
    }
    let image = &record.asked.image;
    Err(EngineError::new(
        FailureKind::ImageMissing,
        format!("{image} holds another image than when the sandbox was made, and what was unpacked is gone"),
    )
    .with_hint("put the old image back, or make a new sandbox"))
}

/// Unpacks an image unless somebody has.
fn unpack_once(
    state_dir: &StateDir,
    packed: &Packed,
    notes: &Notes,
) -> Result<(PathBuf, ImageInUse)> {
    let waiting = |error: io::Error| failure("preparing the place of the image", &error);
    let folder = folder(state_dir).join(&packed.digest);
    let root = folder.join(ROOT);
    state_dir.prepare().map_err(waiting)?;
    loop {
        let together = lock(&folder, File::lock_shared).map_err(waiting)?;
        if root.is_dir() {
            let now = FileTimes::new().set_modified(SystemTime::now());
            together.set_times(now).map_err(waiting)?;
            return Ok((root, ImageInUse(together)));
        }
        drop(together);
        let _alone = lock(&folder, File::lock).map_err(waiting)?;
        if !root.is_dir() {
            unpack(&folder, packed, notes).inspect_err(|_| delete(&folder))?;
        }
    }
}

/// Locks the folder of an image, which somebody may be removing.
fn lock(folder: &Path, how: fn(&File) -> io::Result<()>) -> io::Result<File> {
    loop {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let file = match File::open(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        how(&file)?;
        if is_at(&file, folder) {
            return Ok(file);
        }
    }
}

/// Locks the folder of an image if nobody else has.
fn try_lock_alone(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    (file.try_lock().is_ok() && is_at(&file, folder)).then_some(file)
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

fn unpack(folder: &Path, packed: &Packed, notes: &Notes) -> Result<()> {
    let part = folder.join(PART);
    let tried = |error: io::Error| failure("unpacking the image", &error);
    state_dir::remove_all(&part).map_err(tried)?;
    fs::create_dir(&part).map_err(tried)?;
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).map_err(tried)?;
    let mut root = RootBuilder::begin(&part).map_err(tried)?;
    let (mut done, all) = (0, packed.layers.iter().map(|layer| layer.size).sum());
    for layer in &packed.layers {
        notes.send("unpacking the image", done, Some(all));
        let bytes = packed.layer(layer)?;
        let added = root.add(bytes);
        added.map_err(|error| {
            failure(&format!("unpacking {} of the image", layer.digest), &error)
        })?;
        done += layer.size;
    }
    // It is never looked into again: what a power cut would take away would be missing for ever.
    let done = File::open(&part).and_then(|part| Ok(rustix::fs::syncfs(&part)?));
    done.and_then(|()| fs::rename(&part, folder.join(ROOT)))
        .map_err(tried)
}

/// Removes an image whose folder is locked; what is cut short has no root any more.
fn delete(folder: &Path) {
    let _ = fs::rename(folder.join(ROOT), folder.join(PART));
    let _ = state_dir::remove_all(folder);
    if let Some(all) = folder.parent() {
        // Only the last one to go succeeds.
        let _ = fs::remove_dir(all);
    }
}

fn image_dirs(state_dir: &StateDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(state_dir))
        .into_iter()
        .flatten()
        .flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Tells whether there are images that are not whole; somebody may be at work on them.
pub(super) fn has_partial(state_dir: &StateDir) -> bool {
    image_dirs(state_dir)
        .iter()
        .any(|image| !image.join(ROOT).is_dir())
}

/// Removes images that were never finished.
pub(super) fn remove_partial(state_dir: &StateDir) {
    for image in image_dirs(state_dir) {
        let lock = try_lock_alone(&image);
        if lock.is_some() && !image.join(ROOT).is_dir() {
            delete(&image);
        }
    }
}

fn is_used(state_dir: &StateDir, digest: &str) -> bool {
    let records = state_dir.records();
    let mut used = records.iter().filter_map(|record| record.unpacked.as_ref());
    used.any(|unpacked| unpacked.digest == digest)
}

/// Lists images that no sandbox has used for a while.
pub(super) fn leftovers(state_dir: &StateDir) -> Vec<Leftover> {
    let is_old = |image: &PathBuf| {
        let changed = fs::metadata(image).and_then(|about| about.modified());
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > UNUSED))
    };
    let old = image_dirs(state_dir).into_iter().filter(is_old);
    let names = old.filter_map(|image| Some(image.file_name()?.to_str()?.to_owned()));
    let unused = names.filter(|name| !is_used(state_dir, name));
    unused
        .map(|name| Leftover {
            kind: KIND.to_owned(),
            name,
        })
        .collect()
}

/// Removes an image that no sandbox uses.
pub(super) fn remove(state_dir: &StateDir, digest: &str) -> Result<()> {
    let in_use = || {
        EngineError::new(
            FailureKind::Conflict,
            "removing an unpacked image: it is in use",
        )
    };
    if !oci::is_hex(digest) {
        return Err(EngineError::not_found("the image"));
    }
    let image = folder(state_dir).join(digest);
    // Whoever is about to use it holds it until a record says so.
    let lock = try_lock_alone(&image);
    if image.exists() && (lock.is_none() || is_used(state_dir, digest)) {
        return Err(in_use());
    }
    delete(&image);
    Ok(())
}
