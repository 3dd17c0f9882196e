//! System calls that build a sandbox: namespaces, processes, and in the files below mounts, rights and streams.
//!
//! All of them are made in processes with one thread. Every function returns the kernel's own error.

mod landlock;
mod mounts;
mod rights;
mod streams;

use std::ffi::{CString, OsStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

use crate::abi;
pub(crate) use landlock::enter_domain;
pub(crate) use mounts::{
    attach, become_root_here, make_device, mount_new, mount_spread, open_tree,
    open_tree_without_links, restrict_mount, restrict_tree,
};
pub(crate) use rights::{
    become_user, drop_capabilities, end_with_parent, filter_calls, limit, limit_capabilities,
    no_new_privileges, raise_priority, use_processors,
};
pub(crate) use streams::{
    close_from, control_terminal, loopback_up, make_socket, set_standard_streams, terminal_peer,
};

/// Namespaces of a sandbox, but for the network's, which is left out when the sandbox may use the host's.
pub(crate) const NEW_NAMESPACES: c_int = abi::CLONE_NEWUSER
    | abi::CLONE_NEWNS
    | abi::CLONE_NEWPID
    | abi::CLONE_NEWIPC
    | abi::CLONE_NEWUTS
    | abi::CLONE_NEWCGROUP;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn sethostname(name: *const c_char, length: usize) -> c_int;
    fn execve(path: *const c_char, argv: *const *const c_char, env: *const *const c_char) -> c_int;
    fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    safe fn fork() -> c_int;
    safe fn setsid() -> c_int;
    safe fn alarm(seconds: c_uint) -> c_uint;
    safe fn umask(mask: c_uint) -> c_uint;
    #[link_name = "unshare"]
    safe fn sys_unshare(flags: c_int) -> c_int;
    safe fn setns(fd: c_int, kind: c_int) -> c_int;
    safe fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int;
    #[link_name = "kill"]
    safe fn sys_kill(pid: c_int, signal: c_int) -> c_int;
    safe fn _exit(code: c_int) -> !;
}

unsafe extern "C" {
    // Where the program's code lies; the linker defines them.
    static __executable_start: u8;
    static etext: u8;
}

/// Lets go of the program's code, of which a process that waits needs next to nothing; what is used comes back by itself.
pub(crate) fn release_code_pages() {
    let page = crate::sys::page_size();
    let start = (&raw const __executable_start)
        .addr()
        .next_multiple_of(page);
    let length = ((&raw const etext).addr() / page * page).saturating_sub(start);
    // SAFETY: the range holds only code and constants, which the kernel reads from the file again when they are needed.
    unsafe {
        madvise(
            std::ptr::with_exposed_provenance_mut(start),
            length,
            abi::MADV_DONTNEED,
        )
    };
}

/// Turns a result below zero into the error it stands for.
pub(crate) fn check<T: Default + PartialOrd>(result: T) -> io::Result<T> {
    if result < T::default() {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Does the same for a bare system call that returns a descriptor or a process.
fn check_number(result: c_long) -> io::Result<c_int> {
    c_int::try_from(check(result)?).map_err(io::Error::other)
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn name(path: &Path) -> io::Result<CString> {
    text(path.as_os_str().as_bytes())
}

/// Adds what was tried to an error.
pub(crate) fn with_context<T>(what: &str, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
}

/// Splits off a process: `None` in the child.
pub(crate) fn fork_child() -> io::Result<Option<i32>> {
    let pid = check(fork())?;
    Ok((pid > 0).then_some(pid))
}

/// Splits off a process whose parent is our own; it is in the new process namespace, if we have made one.
pub(crate) fn fork_sibling() -> io::Result<Option<i32>> {
    // SAFETY: without a stack of its own or shared memory this is a fork; the process has one thread.
    let pid = check_number(unsafe {
        syscall(
            abi::call::CLONE,
            c_long::from(abi::CLONE_PARENT),
            0_usize,
            0_usize,
            0_usize,
            0_usize,
        )
    })?;
    Ok((pid > 0).then_some(pid))
}

/// Leaves the host's namespaces.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    check(sys_unshare(flags)).map(drop)
}

/// Joins a namespace of any kind.
pub(crate) fn join_namespace(namespace: &OwnedFd) -> io::Result<()> {
    with_context(
        "joining a namespace (setns)",
        check(setns(namespace.as_raw_fd(), 0)),
    )
    .map(drop)
}

/// Leaves the terminal and its signals.
pub(crate) fn new_session() {
    setsid();
}

/// Ends by a signal after so many seconds, whatever happens until then.
pub(crate) fn end_after(seconds: u32) {
    alarm(seconds);
}

/// Ends at once, running nothing on the way.
pub(crate) fn exit_now(code: i32) -> ! {
    _exit(code)
}

/// Makes files readable for others unless said otherwise.
pub(crate) fn usual_file_mode() {
    umask(0o022);
}

/// Sends a signal to every process that can be seen, but the first and this one.
pub(crate) fn signal_all(signal: i32) {
    sys_kill(-1, signal);
}

/// Names the machine.
pub(crate) fn name_machine(name: &[u8]) {
    // SAFETY: the name is as long as said.
    unsafe { sethostname(name.as_ptr().cast(), name.len()) };
}

/// Replaces this process by a program; comes back only with an error.
pub(crate) fn execute(path: &str, words: &[Vec<u8>], env: &[Vec<u8>]) -> io::Error {
    let strings = |list: &[Vec<u8>]| {
        list.iter()
            .map(|bytes| text(bytes))
            .collect::<io::Result<Vec<_>>>()
    };
    let (path, words, env) = match (text(path.as_bytes()), strings(words), strings(env)) {
        (Ok(path), Ok(words), Ok(env)) => (path, words, env),
        (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => return error,
    };
    let pointers = |list: &[CString]| {
        list.iter()
            .map(|s| s.as_ptr())
            .chain([null()])
            .collect::<Vec<_>>()
    };
    // SAFETY: both lists end with a null pointer and live until the call returns, if it does.
    unsafe {
        execve(
            path.as_ptr(),
            pointers(&words).as_ptr(),
            pointers(&env).as_ptr(),
        )
    };
    io::Error::last_os_error()
}

/// Views the text of a word as a path.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
