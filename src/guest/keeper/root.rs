//! Builds the root of a sandbox in its own mount namespace and makes it the only one.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::abi::{MS_PRIVATE, MS_REC};
use crate::kernel::{self, as_path, with_context};
use crate::wire::plan::{NODEV, NOEXEC, NOSUID, Plan, READ_ONLY, Step};

/// Where the new root is put together; the host's folder is covered in our namespace only, and out of sight later.
const STAGE: &str = "/tmp";

/// Trees of the host, opened in the order of the plan.
pub(crate) type Trees = Vec<OwnedFd>;

/// Opens the trees of a plan. As root this is done outside, because users of the block cannot reach into private folders.
pub(crate) fn open_trees(plan: &Plan) -> io::Result<Trees> {
    let mut trees = Vec::new();
    for step in &plan.steps {
        if let Step::Tree {
            source,
            flags,
            follows_links,
            ..
        } = step
        {
            let tree = if *follows_links {
                kernel::open_tree(as_path(source))?
            } else {
                kernel::open_tree_without_links(as_path(source))?
            };
            kernel::restrict_tree(&tree, *flags)?;
            trees.push(tree);
        }
    }
    Ok(trees)
}

/// Builds the root and enters it; `trees` are opened here if nobody could before.
pub(crate) fn build(plan: &Plan, trees: Option<Trees>) -> io::Result<()> {
    kernel::usual_file_mode();
    kernel::mount_spread(Path::new("/"), MS_REC | MS_PRIVATE)?;
    let trees = match trees {
        Some(trees) => trees,
        None => open_trees(plan)?,
    };
    let stage = Path::new(STAGE);
    kernel::mount_new("tmpfs", stage, NOSUID | NODEV, "mode=0755,size=8m")?;
    std::env::set_current_dir(stage)?;
    let mut trees = trees.iter();
    for step in &plan.steps {
        carry_out(step, &mut trees)?;
    }
    kernel::restrict_mount(stage, READ_ONLY | NOSUID | NODEV)?;
    kernel::become_root_here()?;
    kernel::name_machine(&plan.name);
    Ok(())
}

/// Where a path of the sandbox is while the root is being built.
fn staging_path(target: &[u8]) -> PathBuf {
    let inside = as_path(target);
    Path::new(STAGE).join(inside.strip_prefix("/").unwrap_or(inside))
}

fn carry_out<'a>(step: &Step, trees: &mut impl Iterator<Item = &'a OwnedFd>) -> io::Result<()> {
    match step {
        Step::Tree { source, target, .. } => {
            let tree = trees
                .next()
                .ok_or_else(|| io::Error::other("a tree is missing"))?;
            // The kind is asked of what was opened, since the source may be out of reach now.
            place_tree(tree, as_path(source), &staging_path(target))
        }
        Step::New {
            kind,
            target,
            flags,
            options,
        } => {
            let place = staging_path(target);
            make_folder(&place)?;
            kernel::mount_new(kind, &place, *flags, options)
        }
        Step::Link { text, target } => {
            let place = staging_path(target);
            make_parent(&place)?;
            with_context("making a link", symlink(as_path(text), &place))
        }
        Step::Folder { target, mode } => {
            let place = staging_path(target);
            make_folder(&place)?;
            fs::set_permissions(&place, fs::Permissions::from_mode(*mode))
        }
        Step::File { target, content } => {
            let place = staging_path(target);
            make_parent(&place)?;
            with_context("writing a file", fs::write(&place, content))
        }
        Step::Hide(target) => hide(&staging_path(target)),
        Step::Seal(target) => kernel::restrict_mount(&staging_path(target), READ_ONLY),
        Step::Protect(target) => protect(&staging_path(target)),
    }
}

fn place_tree(tree: &OwnedFd, source: &Path, place: &Path) -> io::Result<()> {
    if is_folder(tree) {
        make_folder(place)?;
    } else {
        make_parent(place)?;
        make_file(place)?;
    }
    with_context(
        &format!("showing {}", source.display()),
        kernel::attach(tree, place),
    )
}

fn is_folder(tree: &OwnedFd) -> bool {
    tree.try_clone()
        .map(fs::File::from)
        .and_then(|file| file.metadata())
        .is_ok_and(|meta| meta.is_dir())
}

fn make_folder(place: &Path) -> io::Result<()> {
    with_context(
        &format!("making {}", place.display()),
        fs::create_dir_all(place),
    )
}

fn make_parent(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), make_folder)
}

fn make_file(place: &Path) -> io::Result<()> {
    match fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(place)
    {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => with_context(&format!("making {}", place.display()), made.map(drop)),
    }
}

/// Covers something of the kernel; what this kernel does not have needs no cover.
fn hide(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(meta) if meta.is_dir() => kernel::mount_new(
            "tmpfs",
            place,
            NOSUID | NODEV | NOEXEC | READ_ONLY,
            "size=4k",
        ),
        Ok(_) => {
            let nothing = kernel::open_tree(Path::new("/dev/null"))?;
            kernel::restrict_tree(&nothing, READ_ONLY | NOSUID | NOEXEC)?;
            kernel::attach(&nothing, place)
        }
        Err(_) => Ok(()),
    }
}

/// Makes a part of a mount read-only by a mount of its own.
fn protect(place: &Path) -> io::Result<()> {
    if !place.exists() {
        return Ok(());
    }
    let tree = kernel::open_tree(place)?;
    kernel::restrict_tree(&tree, READ_ONLY | NOSUID)?;
    kernel::attach(&tree, place)
}
