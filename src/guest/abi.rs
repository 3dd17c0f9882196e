//! Numbers and layouts of the kernel and the C library, each in one place.
//!
//! The guest is built by a plain `rustc` call without any crate, so they are written by hand. The tests below run with the `libc`
//! crate at hand and compare every one of them.

pub(crate) mod call;

use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};

/// Polite end.
pub(crate) const SIGTERM: i32 = 15;
/// Terminal gone.
pub(crate) const SIGHUP: i32 = 1;
/// Interrupt.
pub(crate) const SIGINT: i32 = 2;
/// Quit key.
pub(crate) const SIGQUIT: i32 = 3;
/// Suspend key.
pub(crate) const SIGTSTP: i32 = 20;
/// End at once.
pub(crate) const SIGKILL: i32 = 9;
/// Stop where it is.
pub(crate) const SIGSTOP: i32 = 19;
/// Go on.
pub(crate) const SIGCONT: i32 = 18;
/// A child changed.
pub(crate) const SIGCHLD: i32 = 17;

pub(crate) const SIG_BLOCK: c_int = 0;
pub(crate) const SIG_SETMASK: c_int = 2;
pub(crate) const SFD_NONBLOCK: c_int = 0o4_000;
pub(crate) const SFD_CLOEXEC: c_int = O_CLOEXEC;
pub(crate) const WNOHANG: c_int = 1;

pub(crate) const PR_SET_PDEATHSIG: c_int = 1;
pub(crate) const PR_SET_DUMPABLE: c_int = 4;
pub(crate) const PR_SET_SECCOMP: c_int = 22;
pub(crate) const PR_CAPBSET_DROP: c_int = 24;
pub(crate) const PR_SET_CHILD_SUBREAPER: c_int = 36;
pub(crate) const PR_SET_NO_NEW_PRIVS: c_int = 38;
pub(crate) const PR_CAP_AMBIENT: c_int = 47;
pub(crate) const PR_CAP_AMBIENT_CLEAR_ALL: c_ulong = 4;
pub(crate) const SECCOMP_MODE_FILTER: c_ulong = 2;
/// The version of the capability calls with 64 bits; no crate has it.
pub(crate) const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

pub(crate) const CLONE_NEWNS: c_int = 0x0002_0000;
pub(crate) const CLONE_NEWCGROUP: c_int = 0x0200_0000;
pub(crate) const CLONE_NEWUTS: c_int = 0x0400_0000;
pub(crate) const CLONE_NEWIPC: c_int = 0x0800_0000;
pub(crate) const CLONE_NEWUSER: c_int = 0x1000_0000;
pub(crate) const CLONE_NEWPID: c_int = 0x2000_0000;
pub(crate) const CLONE_NEWNET: c_int = 0x4000_0000;
pub(crate) const CLONE_PARENT: c_int = 0x8000;

pub(crate) const MS_REC: c_ulong = 0x4000;
pub(crate) const MS_PRIVATE: c_ulong = 1 << 18;
pub(crate) const MNT_DETACH: c_int = 2;
pub(crate) const OPEN_TREE_CLONE: c_uint = 1;
/// For `openat2`: no link on the way is followed.
pub(crate) const RESOLVE_NO_SYMLINKS: u64 = 4;
pub(crate) const MOVE_MOUNT_F_EMPTY_PATH: c_uint = 4;

pub(crate) const AT_FDCWD: c_int = -100;
pub(crate) const AT_EMPTY_PATH: c_uint = 0x1000;
pub(crate) const AT_RECURSIVE: c_uint = 0x8000;
pub(crate) const RENAME_EXCHANGE: c_uint = 2;
pub(crate) const F_SETPIPE_SZ: c_int = 1031;
pub(crate) const O_RDWR: c_int = 2;
pub(crate) const O_NOCTTY: c_int = 0o400;
pub(crate) const O_NONBLOCK: c_int = 0o4_000;
pub(crate) const O_CLOEXEC: c_int = 0o2_000_000;
pub(crate) const O_PATH: c_int = 0o10_000_000;
pub(crate) const O_NOFOLLOW: c_int = if cfg!(target_arch = "aarch64") {
    0o100_000
} else {
    0o400_000
};

pub(crate) const S_IFCHR: u32 = 0o020_000;
pub(crate) const PRIO_PROCESS: c_int = 0;

pub(crate) const RLIMIT_CORE: c_int = 4;
pub(crate) const RLIMIT_NOFILE: c_int = 7;
pub(crate) const MADV_DONTNEED: c_int = 4;
pub(crate) const SC_PAGESIZE: c_int = 30;

pub(crate) const AF_INET: c_int = 2;
pub(crate) const AF_NETLINK: c_int = 16;
pub(crate) const AF_PACKET: c_int = 17;
pub(crate) const AF_ALG: c_int = 38;
pub(crate) const AF_VSOCK: c_int = 40;
pub(crate) const SOCK_STREAM: c_int = 1;
pub(crate) const SOCK_DGRAM: c_int = 2;
pub(crate) const SOCK_RAW: c_int = 3;
pub(crate) const SOCK_SEQPACKET: c_int = 5;
pub(crate) const IPPROTO_ICMP: c_int = 1;
/// For netlink: asks about sockets. No crate that is here has it.
pub(crate) const NETLINK_SOCK_DIAG: c_int = 4;
pub(crate) const SOCK_CLOEXEC: c_int = O_CLOEXEC;
pub(crate) const SOL_SOCKET: c_int = 1;
pub(crate) const SCM_RIGHTS: c_int = 1;
pub(crate) const MSG_NOSIGNAL: c_int = 0x4000;
pub(crate) const MSG_CMSG_CLOEXEC: c_int = 0x4000_0000;
pub(crate) const POLLIN: i16 = 1;
pub(crate) const SIOCSIFFLAGS: c_ulong = 0x8914;
pub(crate) const IFF_UP: u16 = 0x1;
pub(crate) const IFF_RUNNING: u16 = 0x40;

pub(crate) const TIOCSCTTY: c_ulong = 0x540e;
pub(crate) const TIOCSWINSZ: c_ulong = 0x5414;
pub(crate) const TIOCSPTLCK: c_ulong = 0x4004_5431;
pub(crate) const TIOCGPTPEER: c_ulong = 0x5441;

/// `sigset_t`.
#[repr(C, align(8))]
pub(crate) struct SigSet(pub(crate) [u8; 128]);

/// `struct timespec`.
#[repr(C)]
pub(crate) struct TimeSpec {
    pub(crate) seconds: i64,
    pub(crate) nanos: c_long,
}

/// `struct rusage`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Rusage {
    pub(crate) user: [i64; 2],
    pub(crate) system: [i64; 2],
    pub(crate) max_rss: c_long,
    pub(crate) rest: [c_long; 13],
}

/// `struct rlimit`: the limit now, and the most it may become.
pub(crate) type RLimit = [u64; 2];

/// `struct winsize`: rows, columns, and pixels that nobody uses.
pub(crate) type WinSize = [u16; 4];

/// `struct open_how`: flags, mode, how the path is resolved.
pub(crate) type OpenHow = [u64; 3];

/// `struct landlock_ruleset_attr`: what of files, the network and other processes is handled. No crate that is here has it.
pub(crate) type LandlockRuleset = [u64; 3];
/// For Landlock: sockets without a file may be reached only in the same domain.
pub(crate) const LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1;
/// For Landlock: signals may be sent only in the same domain.
pub(crate) const LANDLOCK_SCOPE_SIGNAL: u64 = 2;

/// `struct mount_attr`: flags to set, flags to clear, how mounts spread, a user namespace.
pub(crate) type MountAttr = [u64; 4];

/// `struct ifreq`: a name of [`IFNAMSIZ`] bytes, then flags.
pub(crate) type IfReq = [u8; 40];

/// Bytes of a network interface's name.
pub(crate) const IFNAMSIZ: usize = 16;

/// `struct sock_fprog`: a filter of system calls.
#[repr(C)]
pub(crate) struct FilterProgram {
    pub(crate) count: u16,
    pub(crate) instructions: *const u8,
}

/// `struct msghdr`.
#[repr(C)]
pub(crate) struct Message {
    pub(crate) name: *mut c_void,
    pub(crate) name_len: u32,
    pub(crate) parts: *mut Part,
    pub(crate) part_count: usize,
    pub(crate) control: *mut c_void,
    pub(crate) control_len: usize,
    pub(crate) flags: c_int,
}

/// `struct iovec`.
#[repr(C)]
pub(crate) struct Part {
    pub(crate) base: *mut c_void,
    pub(crate) length: usize,
}

/// Most file descriptors in one message.
pub(crate) const MOST_FDS: usize = 7;

/// Bytes of `struct cmsghdr`, which come before the descriptors.
pub(crate) const CONTROL_HEAD: usize = 16;

/// `struct cmsghdr` with file descriptors behind it.
#[repr(C, align(8))]
pub(crate) struct Control {
    pub(crate) length: usize,
    pub(crate) level: c_int,
    pub(crate) kind: c_int,
    pub(crate) fds: [c_int; MOST_FDS],
}

/// `struct pollfd`.
#[repr(C)]
pub(crate) struct PollFd {
    pub(crate) fd: c_int,
    pub(crate) events: i16,
    pub(crate) happened: i16,
}

#[cfg(test)]
mod tests;
