//! System calls that build a sandbox: namespaces, mounts, identities and filters.
//!
//! All of them are made in processes with one thread. Every function returns the kernel's own error.

use std::ffi::{CString, OsStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

#[cfg(target_arch = "x86_64")]
mod number {
    pub const CLONE: i64 = 56;
    pub const PIVOT_ROOT: i64 = 155;
}
#[cfg(target_arch = "aarch64")]
mod number {
    pub const CLONE: i64 = 220;
    pub const PIVOT_ROOT: i64 = 41;
}
// These have the same number everywhere.
const OPEN_TREE: c_long = 428;
const MOVE_MOUNT: c_long = 429;
const CLOSE_RANGE: c_long = 436;
const MOUNT_SETATTR: c_long = 442;

/// Namespaces of a sandbox.
pub const NEW_NAMESPACES: c_int = 0x1000_0000 | 0x0002_0000 | 0x2000_0000 | 0x0800_0000 | 0x0400_0000 | 0x0200_0000;
/// The network namespace, which is left out when the sandbox may use the host's.
pub const NEW_NETWORK: c_int = 0x4000_0000;
const CLONE_PARENT: c_long = 0x8000;

/// Mounts: no set-user-id programs.
pub const NOSUID: u64 = 2;
/// Mounts: no devices.
pub const NODEV: u64 = 4;
/// Mounts: no programs.
pub const NOEXEC: u64 = 8;
/// Mounts: reading only.
pub const READ_ONLY: u64 = 1;
/// Mount call: applies to the whole tree.
pub const RECURSIVE: c_ulong = 0x4000;
/// Mount call: nothing goes back to the host.
pub const PRIVATE: c_ulong = 1 << 18;

const AT_FDCWD: c_int = -100;
const AT_EMPTY_PATH: c_uint = 0x1000;
const AT_RECURSIVE: c_uint = 0x8000;
const O_CLOEXEC: c_uint = 0o2_000_000;
const MNT_DETACH: c_int = 2;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
    fn mount(source: *const c_char, target: *const c_char, kind: *const c_char, flags: c_ulong, data: *const c_void) -> c_int;
    fn umount2(target: *const c_char, flags: c_int) -> c_int;
    fn sethostname(name: *const c_char, length: usize) -> c_int;
    fn execve(path: *const c_char, argv: *const *const c_char, env: *const *const c_char) -> c_int;
    fn setgroups(count: usize, list: *const u32) -> c_int;
    fn capset(header: *const [u32; 2], data: *const [u32; 6]) -> c_int;
    fn setrlimit(resource: c_int, limit: *const [u64; 2]) -> c_int;
    fn getrlimit(resource: c_int, limit: *mut [u64; 2]) -> c_int;
    fn sched_getaffinity(pid: c_int, size: usize, set: *mut u64) -> c_int;
    fn sched_setaffinity(pid: c_int, size: usize, set: *const u64) -> c_int;
    fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    safe fn fork() -> c_int;
    safe fn setsid() -> c_int;
    safe fn umask(mask: c_uint) -> c_uint;
    #[link_name = "unshare"]
    safe fn sys_unshare(flags: c_int) -> c_int;
    safe fn setns(fd: c_int, kind: c_int) -> c_int;
    safe fn setresuid(real: u32, effective: u32, saved: u32) -> c_int;
    safe fn setresgid(real: u32, effective: u32, saved: u32) -> c_int;
    safe fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int;
    safe fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    safe fn dup2(from: c_int, to: c_int) -> c_int;
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
pub fn forget_code() {
    const MADV_DONTNEED: c_int = 4;
    let page = crate::sys::page_size() as usize;
    let start = (&raw const __executable_start).addr().next_multiple_of(page);
    let length = ((&raw const etext).addr() / page * page).saturating_sub(start);
    // SAFETY: the range holds only code and constants, which the kernel reads from the file again when they are needed.
    unsafe { madvise(std::ptr::with_exposed_provenance_mut(start), length, MADV_DONTNEED) };
}

/// Turns a result below zero into the error it stands for.
pub fn check(result: impl Into<c_long>) -> io::Result<c_long> {
    match result.into() {
        ..0 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn name(path: &Path) -> io::Result<CString> {
    text(path.as_os_str().as_bytes())
}

/// Adds what was tried to an error.
pub fn tried<T>(what: &str, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
}

/// Splits off a process: `None` in the child.
pub fn split() -> io::Result<Option<i32>> {
    let pid = check(fork())?;
    Ok((pid > 0).then_some(pid as i32))
}

/// Splits off a process whose parent is our own; it is in the new process namespace, if we have made one.
pub fn split_sibling() -> io::Result<Option<i32>> {
    // SAFETY: without a stack of its own or shared memory this is a fork; the process has one thread.
    let pid = check(unsafe { syscall(number::CLONE, CLONE_PARENT, 0_usize, 0_usize, 0_usize, 0_usize) })?;
    Ok((pid > 0).then_some(pid as i32))
}

/// Leaves the host's namespaces.
pub fn unshare(flags: c_int) -> io::Result<()> {
    check(sys_unshare(flags)).map(drop)
}

/// Joins a namespace of any kind.
pub fn join_namespace(namespace: &OwnedFd) -> io::Result<()> {
    tried("joining a namespace (setns)", check(setns(namespace.as_raw_fd(), 0))).map(drop)
}

/// Leaves the terminal and its signals.
pub fn new_session() {
    setsid();
}

/// Ends at once, running nothing on the way.
pub fn leave(code: i32) -> ! {
    _exit(code)
}

/// Makes files readable for others unless said otherwise.
pub fn usual_file_mode() {
    umask(0o022);
}

/// Sends a signal to every process that can be seen, but the first and this one.
pub fn signal_all(signal: i32) {
    sys_kill(-1, signal);
}

/// Becomes somebody; `groups` says whether other groups can be given up.
pub fn become_user(uid: u32, gid: u32, groups: bool) -> io::Result<()> {
    if groups {
        // SAFETY: a list of no groups has no address.
        tried("setgroups", check(unsafe { setgroups(0, null()) }))?;
    }
    tried("setresgid", check(setresgid(gid, gid, gid)))?;
    tried("setresuid", check(setresuid(uid, uid, uid))).map(drop)
}

/// Gives up every capability that processes started from here could ever get back.
pub fn limit_capabilities() {
    const PR_CAPBSET_DROP: c_int = 24;
    const PR_CAP_AMBIENT: c_int = 47;
    for capability in 0..64 {
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    prctl(PR_CAP_AMBIENT, 4, 0, 0, 0);
}

/// Gives up every capability of this process.
pub fn drop_capabilities() -> io::Result<()> {
    let (header, none) = ([0x2008_0522, 0], [0; 6]);
    // SAFETY: both have the layout of version 3 of the call.
    tried("capset", check(unsafe { capset(&raw const header, &raw const none) })).map(drop)
}

/// Never gains privileges again.
pub fn no_new_privileges() -> io::Result<()> {
    tried("no_new_privs", check(prctl(38, 1, 0, 0, 0))).map(drop)
}

/// Ends when the parent does.
pub fn end_with_parent() {
    prctl(1, 9, 0, 0, 0);
}

/// Installs a system call filter, given as instructions of 8 bytes.
pub fn filter_calls(program: &[u8]) -> io::Result<()> {
    #[repr(C)]
    struct Program {
        count: u16,
        instructions: *const u8,
    }
    // The kernel wants them aligned; a vector of words is.
    let words: Vec<u64> = program.chunks_exact(8).map(|w| u64::from_ne_bytes(w.try_into().unwrap_or_default())).collect();
    let program = Program { count: u16::try_from(words.len()).unwrap_or(0), instructions: words.as_ptr().cast() };
    tried("seccomp", check(prctl(22, 2, (&raw const program) as c_ulong, 0, 0))).map(drop)
}

/// Limits a resource for good.
pub fn limit(resource: i32, most: u64) {
    let mut now = [0, 0];
    // SAFETY: the array has the layout of struct rlimit.
    unsafe {
        getrlimit(resource, &raw mut now);
        let most = [most.min(now[1]); 2];
        setrlimit(resource, &raw const most);
    }
}

/// Runs on the first so many of our processors only.
pub fn use_processors(count: usize) {
    let mut set = [0_u64; 16];
    // SAFETY: the array is as large as said.
    unsafe { sched_getaffinity(0, size_of_val(&set), set.as_mut_ptr()) };
    let mut left = count.max(1);
    for word in &mut set {
        for bit in 0..64 {
            let mask = 1_u64 << bit;
            if *word & mask != 0 && left == 0 {
                *word &= !mask;
            }
            left -= usize::from(*word & mask != 0).min(left);
        }
    }
    // SAFETY: as above.
    unsafe { sched_setaffinity(0, size_of_val(&set), set.as_ptr()) };
}

/// Mounts a file system of a kind.
pub fn mount_new(kind: &str, target: &Path, flags: u64, options: &str) -> io::Result<()> {
    let (kind_text, target_text, options) = (text(kind.as_bytes())?, name(target)?, text(options.as_bytes())?);
    let data = options.as_ptr().cast();
    // SAFETY: all strings live through the call.
    let result = unsafe { mount(kind_text.as_ptr(), target_text.as_ptr(), kind_text.as_ptr(), flags, data) };
    tried(&format!("mounting {kind} on {}", target.display()), check(result)).map(drop)
}

/// Changes how mounts below a path spread.
pub fn mount_spread(target: &Path, flags: c_ulong) -> io::Result<()> {
    let target = name(target)?;
    // SAFETY: the string lives through the call.
    tried("detaching mounts", check(unsafe { mount(null(), target.as_ptr(), null(), flags, null()) })).map(drop)
}

/// Takes a copy of a file or folder with everything mounted below it, attached to nothing yet.
pub fn open_tree(source: &Path) -> io::Result<OwnedFd> {
    let path = name(source)?;
    // SAFETY: the string lives through the call; the result is a new descriptor of ours.
    let fd = unsafe { syscall(OPEN_TREE, AT_FDCWD, path.as_ptr(), 1 | AT_RECURSIVE | O_CLOEXEC) };
    let fd = tried(&format!("opening {}", source.display()), check(fd))?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Sets flags of a tree that was opened.
pub fn restrict_tree(tree: &OwnedFd, flags: u64) -> io::Result<()> {
    set_flags(tree.as_raw_fd(), c"".to_owned(), AT_EMPTY_PATH | AT_RECURSIVE, flags)
}

/// Sets flags of one mount.
pub fn restrict_mount(target: &Path, flags: u64) -> io::Result<()> {
    set_flags(AT_FDCWD, name(target)?, 0, flags)
}

fn set_flags(fd: RawFd, path: CString, how: c_uint, flags: u64) -> io::Result<()> {
    // Set, clear, spread (private), user namespace.
    let attributes = [flags, 0, PRIVATE, 0];
    // SAFETY: string and array live through the call; the array is struct mount_attr.
    let result = unsafe { syscall(MOUNT_SETATTR, fd, path.as_ptr(), how, attributes.as_ptr(), size_of_val(&attributes)) };
    tried("mount_setattr", check(result)).map(drop)
}

/// Attaches a tree.
pub fn attach(tree: &OwnedFd, target: &Path) -> io::Result<()> {
    let path = name(target)?;
    // SAFETY: the strings live through the call.
    let result = unsafe { syscall(MOVE_MOUNT, tree.as_raw_fd(), c"".as_ptr(), AT_FDCWD, path.as_ptr(), 4_u32) };
    tried(&format!("attaching {}", target.display()), check(result)).map(drop)
}

/// Makes the current folder the root, for every process of this mount namespace, and lets go of the old one.
pub fn become_root_here() -> io::Result<()> {
    // SAFETY: the strings are static.
    let result = unsafe { syscall(number::PIVOT_ROOT, c".".as_ptr(), c".".as_ptr()) };
    tried("pivot_root", check(result))?;
    // SAFETY: as above.
    tried("leaving the old root", check(unsafe { umount2(c".".as_ptr(), MNT_DETACH) }))?;
    std::env::set_current_dir("/")
}

/// Names the machine.
pub fn name_machine(name: &[u8]) {
    // SAFETY: the name is as long as said.
    unsafe { sethostname(name.as_ptr().cast(), name.len()) };
}

/// Switches the loopback interface on.
pub fn loopback_up() -> io::Result<()> {
    const SIOCSIFFLAGS: c_ulong = 0x8914;
    let fd = check(socket(2, 2 | O_CLOEXEC as c_int, 0))?;
    // SAFETY: the descriptor is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&0x41_u16.to_ne_bytes());
    // SAFETY: the array has the size and layout of struct ifreq.
    tried("switching lo on", check(unsafe { ioctl(socket.as_raw_fd(), SIOCSIFFLAGS, request.as_mut_ptr()) })).map(drop)
}

/// Opens the other side of a terminal, which nothing but its own file system need name.
pub fn terminal_peer(master: &OwnedFd, rows: u16, columns: u16) -> io::Result<OwnedFd> {
    const TIOCSPTLCK: c_ulong = 0x4004_5431;
    const TIOCGPTPEER: c_ulong = 0x5441;
    const TIOCSWINSZ: c_ulong = 0x5414;
    let (unlocked, size) = (0, [rows, columns, 0, 0]);
    // SAFETY: the numbers and the array live through the calls; the result is a new descriptor.
    unsafe {
        check(ioctl(master.as_raw_fd(), TIOCSPTLCK, &raw const unlocked))?;
        check(ioctl(master.as_raw_fd(), TIOCSWINSZ, &raw const size))?;
        let peer = check(ioctl(master.as_raw_fd(), TIOCGPTPEER, 2 | 0o400 | O_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(peer as RawFd))
    }
}

/// Makes standard input the controlling terminal.
pub fn control_terminal() {
    const TIOCSCTTY: c_ulong = 0x540e;
    // SAFETY: the call takes a number.
    unsafe { ioctl(0, TIOCSCTTY, 0) };
}

/// Puts descriptors in the places of standard input, output and error.
pub fn set_standard_streams(streams: [RawFd; 3]) {
    for (place, fd) in streams.into_iter().enumerate() {
        // A descriptor that is in its place already must only lose its close-on-exec flag, which this does not do.
        dup2(fd, place as c_int);
    }
}

/// Closes everything from a number on.
pub fn close_from(first: u32) {
    // SAFETY: whatever was open is not used again: the caller executes a program or ends.
    unsafe { syscall(CLOSE_RANGE, first, u32::MAX, 0) };
}

/// Replaces this process by a program; comes back only with an error.
pub fn execute(path: &str, words: &[Vec<u8>], env: &[Vec<u8>]) -> io::Error {
    let strings = |list: &[Vec<u8>]| list.iter().map(|bytes| text(bytes)).collect::<io::Result<Vec<_>>>();
    let (path, words, env) = match (text(path.as_bytes()), strings(words), strings(env)) {
        (Ok(path), Ok(words), Ok(env)) => (path, words, env),
        (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => return error,
    };
    let pointers = |list: &[CString]| list.iter().map(|s| s.as_ptr()).chain([null()]).collect::<Vec<_>>();
    // SAFETY: both lists end with a null pointer and live until the call returns, if it does.
    unsafe { execve(path.as_ptr(), pointers(&words).as_ptr(), pointers(&env).as_ptr()) };
    io::Error::last_os_error()
}

/// Views the text of a word as a path.
pub fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
