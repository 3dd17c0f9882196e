//! Mounts: file systems of the sandbox's own, parts of the host's tree, and a new root.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::null;

use super::{check, check_number, name, syscall, text, with_context};
use crate::abi::{self, AT_EMPTY_PATH, AT_FDCWD, AT_RECURSIVE, MS_PRIVATE, MountAttr, OpenHow};

unsafe extern "C" {
    fn mount(
        source: *const c_char,
        target: *const c_char,
        kind: *const c_char,
        flags: c_ulong,
        data: *const c_void,
    ) -> c_int;
    fn mknod(path: *const c_char, mode: u32, device: u64) -> c_int;
    fn umount2(target: *const c_char, flags: c_int) -> c_int;
}

/// Mounts a file system of a kind.
pub(crate) fn mount_new(kind: &str, target: &Path, flags: u64, options: &str) -> io::Result<()> {
    let (kind_text, target_text, options) = (
        text(kind.as_bytes())?,
        name(target)?,
        text(options.as_bytes())?,
    );
    let data = options.as_ptr().cast();
    // SAFETY: all strings live through the call.
    let result = unsafe {
        mount(
            kind_text.as_ptr(),
            target_text.as_ptr(),
            kind_text.as_ptr(),
            flags,
            data,
        )
    };
    with_context(
        &format!("mounting {kind} on {}", target.display()),
        check(result),
    )
    .map(drop)
}

/// Makes a device: the one that holds nothing, which does no harm.
pub(crate) fn make_device(place: &Path) -> io::Result<()> {
    const NULL: u64 = 0x103;
    let place = name(place)?;
    // SAFETY: the string lives through the call.
    check(unsafe { mknod(place.as_ptr(), abi::S_IFCHR | 0o600, NULL) }).map(drop)
}

/// Changes how mounts below a path spread.
pub(crate) fn mount_spread(target: &Path, flags: c_ulong) -> io::Result<()> {
    let target = name(target)?;
    // SAFETY: the string lives through the call.
    with_context(
        "detaching mounts",
        check(unsafe { mount(null(), target.as_ptr(), null(), flags, null()) }),
    )
    .map(drop)
}

/// Takes a copy of a file or folder with everything mounted below it, attached to nothing yet.
pub(crate) fn open_tree(source: &Path) -> io::Result<OwnedFd> {
    let copied = copy_tree(AT_FDCWD, &name(source)?, 0);
    with_context(&format!("opening {}", source.display()), copied)
}

/// The same for what must be exactly there: a link on the way is an error.
pub(crate) fn open_tree_without_links(source: &Path) -> io::Result<OwnedFd> {
    let opened = open_without_links(&name(source)?);
    let copied = opened.and_then(|file| copy_tree(file.as_raw_fd(), c"", AT_EMPTY_PATH));
    with_context(&format!("opening {}", source.display()), copied)
}

fn copy_tree(folder: RawFd, path: &CStr, how: c_uint) -> io::Result<OwnedFd> {
    let flags = abi::OPEN_TREE_CLONE | AT_RECURSIVE | abi::O_CLOEXEC.cast_unsigned();
    // SAFETY: the string lives through the call; the result is a new descriptor of ours.
    let fd = unsafe { syscall(abi::call::OPEN_TREE, folder, path.as_ptr(), flags | how) };
    let fd = check_number(fd)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn open_without_links(path: &CStr) -> io::Result<OwnedFd> {
    let flags = u64::from((abi::O_PATH | abi::O_CLOEXEC).cast_unsigned());
    let how: OpenHow = [flags, 0, abi::RESOLVE_NO_SYMLINKS];
    // SAFETY: string and array live through the call; the array is struct open_how.
    let fd = unsafe {
        syscall(
            abi::call::OPENAT2,
            AT_FDCWD,
            path.as_ptr(),
            how.as_ptr(),
            size_of_val(&how),
        )
    };
    let fd = check_number(fd)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets flags of a tree that was opened.
pub(crate) fn restrict_tree(tree: &OwnedFd, flags: u64) -> io::Result<()> {
    set_flags(tree.as_raw_fd(), c"", AT_EMPTY_PATH | AT_RECURSIVE, flags)
}

/// Sets flags of one mount.
pub(crate) fn restrict_mount(target: &Path, flags: u64) -> io::Result<()> {
    set_flags(AT_FDCWD, &name(target)?, 0, flags)
}

fn set_flags(fd: RawFd, path: &CStr, how: c_uint, flags: u64) -> io::Result<()> {
    // Set, clear, spread (private), user namespace.
    let attributes: MountAttr = [flags, 0, MS_PRIVATE, 0];
    // SAFETY: string and array live through the call; the array is struct mount_attr.
    let result = unsafe {
        syscall(
            abi::call::MOUNT_SETATTR,
            fd,
            path.as_ptr(),
            how,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    with_context("mount_setattr", check(result)).map(drop)
}

/// Attaches a tree.
pub(crate) fn attach(tree: &OwnedFd, target: &Path) -> io::Result<()> {
    let path = name(target)?;
    // SAFETY: the strings live through the call.
    let result = unsafe {
        syscall(
            abi::call::MOVE_MOUNT,
            tree.as_raw_fd(),
            c"".as_ptr(),
            AT_FDCWD,
            path.as_ptr(),
            abi::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    with_context(&format!("attaching {}", target.display()), check(result)).map(drop)
}

/// Makes the current folder the root, for every process of this mount namespace, and lets go of the old one.
pub(crate) fn become_root_here() -> io::Result<()> {
    // SAFETY: the strings are static.
    let result = unsafe { syscall(abi::call::PIVOT_ROOT, c".".as_ptr(), c".".as_ptr()) };
    with_context("pivot_root", check(result))?;
    // SAFETY: the string is static.
    let result = unsafe { umount2(c".".as_ptr(), abi::MNT_DETACH) };
    with_context("leaving the old root", check(result))?;
    std::env::set_current_dir("/")
}
