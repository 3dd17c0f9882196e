//! The few system calls that the standard library does not offer: processes, signals, pipes and a change of names. What the
//! keeper needs besides is in `kernel.rs` and `sockets.rs`; there is no other unsafe code in the guest but a line that clears a
//! variable.

use std::ffi::{CString, c_char, c_int, c_long, c_uint, c_ulong};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::abi::{
    AT_FDCWD, F_SETPIPE_SZ, O_CLOEXEC, PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, RENAME_EXCHANGE,
    Rusage, SC_PAGESIZE, SFD_CLOEXEC, SFD_NONBLOCK, SIG_BLOCK, SIG_SETMASK, SigSet, TimeSpec,
    WNOHANG,
};

/// What a pipe may hold; the most that the kernel grants to everybody.
const PIPE_BYTES: c_int = 1 << 20;

unsafe extern "C" {
    safe fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int;
    #[link_name = "kill"]
    safe fn sys_kill(pid: c_int, signal: c_int) -> c_int;
    safe fn getuid() -> u32;
    safe fn getgid() -> u32;
    safe fn sysconf(name: c_int) -> c_long;
    fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    fn signalfd(fd: c_int, set: *const SigSet, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn renameat2(
        from_folder: c_int,
        from: *const c_char,
        to_folder: c_int,
        to: *const c_char,
        flags: c_uint,
    ) -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Rusage) -> c_int;
    fn sigemptyset(set: *mut SigSet) -> c_int;
    fn sigaddset(set: *mut SigSet, signal: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const SigSet, old: *mut SigSet) -> c_int;
    fn sigtimedwait(set: *const SigSet, info: *mut u8, timeout: *const TimeSpec) -> c_int;
}

/// A child that has ended.
pub(crate) struct Reaped {
    /// Its pid.
    pub(crate) pid: u32,
    /// Its raw wait status.
    pub(crate) status: i32,
    /// Largest resident set of it and what it waited for, in bytes.
    pub(crate) peak_bytes: u64,
    /// Processor time of it and what it waited for, in microseconds.
    pub(crate) cpu_micros: u64,
}

/// Becomes the parent of every orphan below, instead of the sandbox's init.
pub(crate) fn become_subreaper() {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/// Hides memory and environment from processes of the same user.
pub(crate) fn hide_from_peers() {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/// Makes standard input and output hold more at once, where they are pipes.
///
/// The engine moves bytes through several processes; with the usual 64 KiB each of them sleeps after every piece.
pub(crate) fn widen_pipes() {
    for stream in [0, 1] {
        // SAFETY: the command takes one number and touches no memory; a refusal leaves the pipe as it is.
        unsafe { fcntl(stream, F_SETPIPE_SZ, PIPE_BYTES) };
    }
}

/// Gives each of two files the other's name, in one step.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let (one, other) = (
        CString::new(one.as_os_str().as_bytes())?,
        CString::new(other.as_os_str().as_bytes())?,
    );
    // SAFETY: both names live through the call.
    match unsafe {
        renameat2(
            AT_FDCWD,
            one.as_ptr(),
            AT_FDCWD,
            other.as_ptr(),
            RENAME_EXCHANGE,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends a signal; a process that is gone is fine.
pub(crate) fn kill(pid: u32, signal: i32) {
    if let Ok(pid) = i32::try_from(pid) {
        sys_kill(pid, signal);
    }
}

/// Tells who we are.
pub(crate) fn uid() -> u32 {
    getuid()
}

/// Tells which group we are in.
pub(crate) fn gid() -> u32 {
    getgid()
}

/// Tells how many bytes a page of memory has.
pub(crate) fn page_size() -> usize {
    usize::try_from(sysconf(SC_PAGESIZE)).unwrap_or(4096)
}

/// Gives a descriptor the first number after the standard streams, so that everything above can be closed.
pub(crate) fn move_to_three(fd: OwnedFd) -> OwnedFd {
    if fd.as_raw_fd() == 3 {
        return fd;
    }
    // SAFETY: whatever has that number is not used again by the caller, who closes all others.
    unsafe {
        dup3(fd.as_raw_fd(), 3, O_CLOEXEC);
        OwnedFd::from_raw_fd(3)
    }
}

/// What waiting for a child found.
pub(crate) enum Wait {
    /// One has ended.
    Ended(Reaped),
    /// Some live, none has ended.
    Running,
    /// There are no children.
    None,
}

/// Collects one ended child without waiting.
pub(crate) fn reap() -> Wait {
    let (mut status, mut usage) = (0, Rusage::default());
    // SAFETY: both pointers are to live, properly laid out values that wait4 fills in.
    let pid = unsafe { wait4(-1, &raw mut status, WNOHANG, &raw mut usage) };
    match u32::try_from(pid) {
        Ok(0) => Wait::Running,
        Ok(pid) => Wait::Ended(reaped(pid, status, &usage)),
        Err(_) => Wait::None,
    }
}

/// Waits for the end of one child.
pub(crate) fn wait_for(pid: i32) -> io::Result<Reaped> {
    let (mut status, mut usage) = (0, Rusage::default());
    loop {
        // SAFETY: as above.
        let ended = unsafe { wait4(pid, &raw mut status, 0, &raw mut usage) };
        let error = io::Error::last_os_error();
        match u32::try_from(ended) {
            Ok(pid) => return Ok(reaped(pid, status, &usage)),
            Err(_) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(error),
        }
    }
}

fn reaped(pid: u32, status: i32, usage: &Rusage) -> Reaped {
    Reaped {
        pid,
        status,
        peak_bytes: u64::try_from(usage.max_rss).unwrap_or(0) * 1024,
        cpu_micros: micros(usage.user) + micros(usage.system),
    }
}

fn micros([seconds, micros]: [i64; 2]) -> u64 {
    u64::try_from(seconds * 1_000_000 + micros).unwrap_or(0)
}

/// Starts a process. At the limit it waits a moment: those that have just ended count until they are reaped.
pub(crate) fn once_there_is_room<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..50 {
        match start() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(4));
            }
            started => return started,
        }
    }
    start()
}

/// Lets a command start with no signal blocked; it would inherit our mask otherwise, and hear no Ctrl-C.
pub(crate) fn start_with_all_signals(command: &mut Command) {
    let clear = || {
        unblock_signals();
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(clear) };
}

/// Blocks no signal any more.
pub(crate) fn unblock_signals() {
    let mut set = SigSet([0; 128]);
    // SAFETY: as below; sigprocmask may be called between fork and exec.
    unsafe {
        sigemptyset(&raw mut set);
        sigprocmask(SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Throws away what a file of signals holds.
pub(crate) fn drain(mut signals: &File) {
    let mut bytes = [0; 512];
    while matches!(signals.read(&mut bytes), Ok(1..)) {}
}

/// A set of signals that are waited for instead of being delivered.
pub(crate) struct Signals(SigSet);

impl Signals {
    /// Blocks the signals from now on; see [`start_with_all_signals`] for what is started meanwhile.
    pub(crate) fn take_over(signals: &[i32]) -> Self {
        let mut set = SigSet([0; 128]);
        // SAFETY: `set` is as large as the C library's sigset_t and lives through the calls.
        unsafe {
            sigemptyset(&raw mut set);
            for signal in signals {
                sigaddset(&raw mut set, *signal);
            }
            sigprocmask(SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
        Self(set)
    }

    /// Turns them into a file that can be waited for among others.
    pub(crate) fn into_file(self) -> File {
        // SAFETY: the set lives through the call; the result is a new descriptor, or one whose use gives errors.
        unsafe {
            File::from_raw_fd(signalfd(-1, &raw const self.0, SFD_NONBLOCK | SFD_CLOEXEC).max(0))
        }
    }

    /// Waits for one of them; `None` when the time has passed.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Option<i32> {
        let limit = limit.unwrap_or(Duration::from_hours(1));
        let spec = TimeSpec {
            seconds: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            nanos: c_long::from(limit.subsec_nanos()),
        };
        // SAFETY: the set and the time live through the call; no signal details are asked for.
        let signal =
            unsafe { sigtimedwait(&raw const self.0, std::ptr::null_mut(), &raw const spec) };
        (signal > 0).then_some(signal)
    }
}
