//! Numbers of system calls that the C library has no function for.

use std::ffi::c_long;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

// These have the same number everywhere.
pub(crate) const IO_URING_SETUP: c_long = 425;
pub(crate) const OPEN_TREE: c_long = 428;
pub(crate) const MOVE_MOUNT: c_long = 429;
pub(crate) const FSOPEN: c_long = 430;
pub(crate) const PIDFD_OPEN: c_long = 434;
pub(crate) const CLONE3: c_long = 435;
pub(crate) const CLOSE_RANGE: c_long = 436;
pub(crate) const OPENAT2: c_long = 437;
pub(crate) const PIDFD_GETFD: c_long = 438;
pub(crate) const MOUNT_SETATTR: c_long = 442;
pub(crate) const LANDLOCK_CREATE_RULESET: c_long = 444;
pub(crate) const LANDLOCK_RESTRICT_SELF: c_long = 446;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::c_long;

    pub(crate) const GETPID: c_long = 39;
    pub(crate) const CLONE: c_long = 56;
    pub(crate) const PTRACE: c_long = 101;
    pub(crate) const PERSONALITY: c_long = 135;
    pub(crate) const PIVOT_ROOT: c_long = 155;
    pub(crate) const KEYCTL: c_long = 250;
    pub(crate) const PERF_EVENT_OPEN: c_long = 298;
    pub(crate) const PROCESS_VM_READV: c_long = 310;
    pub(crate) const BPF: c_long = 321;
    pub(crate) const USERFAULTFD: c_long = 323;
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::c_long;

    pub(crate) const PIVOT_ROOT: c_long = 41;
    pub(crate) const PERSONALITY: c_long = 92;
    pub(crate) const PTRACE: c_long = 117;
    pub(crate) const KEYCTL: c_long = 219;
    pub(crate) const CLONE: c_long = 220;
    pub(crate) const PERF_EVENT_OPEN: c_long = 241;
    pub(crate) const PROCESS_VM_READV: c_long = 270;
    pub(crate) const BPF: c_long = 280;
    pub(crate) const USERFAULTFD: c_long = 282;
}
