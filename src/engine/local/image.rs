//! What a sandbox's root is made of: the host's own programs, an unpacked root file system, or a packed image.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::oci::{self, Packed};
use super::plan_builder::{PlanBuilder, READ_ONLY_TREE};
use crate::domain::HOST_IMAGE;
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Folders of the host that hold its programs.
const PROGRAMS: [&str; 8] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
];

/// Settings of the host that programs need and that tell nothing about it.
const SETTINGS: [&str; 17] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/terminfo",
    "/etc/java",
    "/etc/inputrc",
    "/etc/services",
    "/etc/protocols",
    "/etc/os-release",
    "/etc/debian_version",
];

/// Where a root comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImageRoot {
    /// The host's programs.
    Host,
    /// A folder that holds a root.
    Folder(PathBuf),
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResolvedImage {
    /// A root that can be used as it is.
    Ready(ImageRoot),
    /// An image that has to be unpacked first.
    Packed(Packed),
}

impl ImageRoot {
    /// Finds what a name means.
    pub(super) fn resolve(name: &str) -> Result<ResolvedImage> {
        if name == HOST_IMAGE {
            return Ok(ResolvedImage::Ready(Self::Host));
        }
        let given = Path::new(name);
        if !given.is_absolute() {
            return Err(missing(
                format!("the image {name} is not one of the local engine"),
                "names like this one are for `--engine docker`; here use `host`, or the absolute path of an unpacked root file system or an OCI image folder",
            ));
        }
        let Ok(folder) = given.canonicalize() else {
            return find_tagged(name);
        };
        if oci::is_layout(&folder) {
            return oci::find(&folder, None).map(ResolvedImage::Packed);
        }
        // An unpacked OCI bundle keeps its root one level down.
        let inner = folder.join("rootfs");
        let root = if folder.join("config.json").is_file() && inner.is_dir() {
            inner
        } else {
            folder
        };
        if root.join("bin").exists() || root.join("usr").exists() {
            return Ok(ResolvedImage::Ready(Self::Folder(root)));
        }
        if root.is_file() {
            return Err(missing(
                format!("the image {name} is a file"),
                "unpack it, for example `tar -x -C FOLDER -f FILE`, and give FOLDER",
            ));
        }
        if root.join("manifest.json").is_file() {
            return Err(missing(
                format!(
                    "{name} was saved by a Docker engine before version 25, whose form sandtop does not read"
                ),
                "use `docker export NAME | tar -x -C FOLDER`, or `skopeo copy docker-archive:FILE oci:FOLDER:TAG`",
            ));
        }
        Err(missing(
            format!(
                "the folder {name} is neither a root file system (no bin, no usr) nor an OCI image (no index.json)"
            ),
            "put one there, for example `docker export NAME | tar -x -C FOLDER`",
        ))
    }

    /// Tells the path of a file of the image on the host.
    pub(super) fn at(&self, inside: &str) -> PathBuf {
        match self {
            Self::Host => PathBuf::from(inside),
            Self::Folder(root) => root.join(inside.trim_start_matches('/')),
        }
    }

    /// Adds the image to a plan; `reserved` are places where something else will be mounted.
    pub(super) fn show(&self, plan: &mut PlanBuilder, reserved: &BTreeSet<PathBuf>) {
        match self {
            Self::Host => show_host(plan, reserved),
            Self::Folder(root) => show_below(plan, root, Path::new("/"), reserved),
        }
    }
}

/// Finds the image `FOLDER:NAME` of a layout that holds several.
fn find_tagged(name: &str) -> Result<ResolvedImage> {
    let split = name.rsplit_once(':');
    let folder = split.and_then(|(folder, tag)| Some((fs::canonicalize(folder).ok()?, tag)));
    match folder {
        Some((folder, tag)) if oci::is_layout(&folder) => {
            oci::find(&folder, Some(tag)).map(ResolvedImage::Packed)
        }
        _ => Err(missing(
            format!("there is no folder {name}"),
            "give the absolute path of an unpacked root file system or an OCI image folder, or `host`",
        )),
    }
}

fn missing(message: String, hint: &str) -> EngineError {
    EngineError::new(FailureKind::ImageMissing, message).with_hint(hint)
}

fn show_host(plan: &mut PlanBuilder, reserved: &BTreeSet<PathBuf>) {
    for place in PROGRAMS {
        show_entry(plan, Path::new(place), Path::new(place), reserved);
    }
    for place in SETTINGS {
        // What a setting links to is shown itself: /etc/localtime, for one, is a link to its zone.
        if fs::metadata(place).is_ok() {
            let real = fs::canonicalize(place).unwrap_or_else(|_| place.into());
            plan.tree(&real, Path::new(place), READ_ONLY_TREE);
        }
    }
    for folder in ["/home", "/mnt", "/srv", "/sys", "/var/tmp"] {
        plan.folder(Path::new(folder), 0o755);
    }
    // Closed to all, as a home of somebody else should be; there is nothing in it.
    plan.folder(Path::new("/root"), 0);
}

/// Shows what a folder of the image holds, one by one.
fn show_below(plan: &mut PlanBuilder, folder: &Path, inside: &Path, reserved: &BTreeSet<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    for name in names {
        show_entry(plan, &folder.join(&name), &inside.join(&name), reserved);
    }
}

fn show_entry(plan: &mut PlanBuilder, source: &Path, inside: &Path, reserved: &BTreeSet<PathBuf>) {
    let Ok(meta) = fs::symlink_metadata(source) else {
        return;
    };
    if reserved.contains(inside) {
        return;
    }
    if meta.is_symlink() {
        // What lies below is the sandbox's own; a link would lead whoever makes it out of the new root.
        if reserved.iter().any(|place| place.starts_with(inside)) {
            return;
        }
        if let Ok(text) = fs::read_link(source) {
            plan.link(&text, inside);
        }
        return;
    }
    // Nothing can be mounted on a place that a read-only tree does not have; so such trees are shown piece by piece.
    let needs_place = |place: &PathBuf| {
        let below = place.strip_prefix(inside);
        below.is_ok_and(|below| !is_plain(source, below))
    };
    if meta.is_dir() && reserved.iter().any(needs_place) {
        plan.folder(inside, 0o755);
        show_below(plan, source, inside, reserved);
    } else if meta.is_dir() || meta.is_file() {
        plan.tree(source, inside, READ_ONLY_TREE);
    }
}

/// Tells whether a place is there, with no link on the way to it.
fn is_plain(source: &Path, below: &Path) -> bool {
    let mut place = source.to_owned();
    below.iter().all(|step| {
        place.push(step);
        fs::symlink_metadata(&place).is_ok_and(|meta| !meta.is_symlink())
    })
}
