//! What a process may do: whom it is, what it may call, how much it may use.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::ptr::null;

use super::{check, prctl, with_context};
use crate::abi::{self, FilterProgram, RLimit};

unsafe extern "C" {
    fn setgroups(count: usize, list: *const u32) -> c_int;
    fn capset(header: *const [u32; 2], data: *const [u32; 6]) -> c_int;
    fn setrlimit(resource: c_int, limit: *const RLimit) -> c_int;
    fn getrlimit(resource: c_int, limit: *mut RLimit) -> c_int;
    fn sched_getaffinity(pid: c_int, size: usize, set: *mut u64) -> c_int;
    fn sched_setaffinity(pid: c_int, size: usize, set: *const u64) -> c_int;
    safe fn setpriority(which: c_int, who: u32, value: c_int) -> c_int;
    safe fn setresuid(real: u32, effective: u32, saved: u32) -> c_int;
    safe fn setresgid(real: u32, effective: u32, saved: u32) -> c_int;
}

/// Becomes somebody; `groups` says whether other groups can be given up.
pub(crate) fn become_user(uid: u32, gid: u32, groups: bool) -> io::Result<()> {
    if groups {
        // SAFETY: a list of no groups has no address.
        with_context("setgroups", check(unsafe { setgroups(0, null()) }))?;
    }
    with_context("setresgid", check(setresgid(gid, gid, gid)))?;
    with_context("setresuid", check(setresuid(uid, uid, uid))).map(drop)
}

/// Gives up every capability that processes started from here could ever get back.
pub(crate) fn limit_capabilities() {
    for capability in 0..64 {
        prctl(abi::PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    prctl(abi::PR_CAP_AMBIENT, abi::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/// Gives up every capability of this process.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    let (header, none) = ([abi::CAPABILITY_VERSION_3, 0], [0; 6]);
    // SAFETY: both have the layout of version 3 of the call.
    with_context(
        "capset",
        check(unsafe { capset(&raw const header, &raw const none) }),
    )
    .map(drop)
}

/// Never gains privileges again.
pub(crate) fn no_new_privileges() -> io::Result<()> {
    with_context(
        "no_new_privs",
        check(prctl(abi::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)),
    )
    .map(drop)
}

/// Goes before others.
pub(crate) fn raise_priority() -> io::Result<()> {
    check(setpriority(abi::PRIO_PROCESS, 0, -5)).map(drop)
}

/// Ends when the parent does.
pub(crate) fn end_with_parent() {
    prctl(
        abi::PR_SET_PDEATHSIG,
        c_ulong::from(abi::SIGKILL.unsigned_abs()),
        0,
        0,
        0,
    );
}

/// Installs a system call filter, given as instructions of 8 bytes.
pub(crate) fn filter_calls(program: &[u8]) -> io::Result<()> {
    // The kernel wants them aligned; a vector of words is.
    let words: Vec<u64> = program
        .chunks_exact(8)
        .map(|w| u64::from_ne_bytes(w.try_into().unwrap_or_default()))
        .collect();
    let program = FilterProgram {
        count: u16::try_from(words.len()).unwrap_or(0),
        instructions: words.as_ptr().cast(),
    };
    with_context(
        "seccomp",
        check(prctl(
            abi::PR_SET_SECCOMP,
            abi::SECCOMP_MODE_FILTER,
            (&raw const program) as c_ulong,
            0,
            0,
        )),
    )
    .map(drop)
}

/// Limits a resource for good.
pub(crate) fn limit(resource: i32, most: u64) {
    let mut now = [0, 0];
    // SAFETY: the array has the layout of struct rlimit.
    unsafe {
        getrlimit(resource, &raw mut now);
        let most = [most.min(now[1]); 2];
        setrlimit(resource, &raw const most);
    }
}

/// Runs on the first so many of our processors only.
pub(crate) fn use_processors(count: usize) {
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
