//! A domain of the Landlock security module: processes in it reach sockets without a file and other processes only inside of it.
//!
//! Needed where a sandbox shares the host's network: names of such sockets are the network's, whoever asks.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{check, check_number, syscall, with_context};
use crate::abi::{
    LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL, LandlockRuleset, call,
};

/// Enters a new domain, with all processes started from here on. Kernels before 6.12 cannot; the error says so.
pub(crate) fn enter_domain() -> io::Result<()> {
    let scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
    let wanted: LandlockRuleset = [0, 0, scoped];
    // SAFETY: the array has the layout of struct landlock_ruleset_attr and lives through the call.
    let made = unsafe {
        syscall(
            call::LANDLOCK_CREATE_RULESET,
            wanted.as_ptr(),
            size_of_val(&wanted),
            0_usize,
        )
    };
    let ruleset = with_context("landlock_create_ruleset", check_number(made))?;
    // SAFETY: the descriptor is new and ours.
    let ruleset = unsafe { OwnedFd::from_raw_fd(ruleset) };
    // SAFETY: the arguments are numbers.
    let entered = unsafe { syscall(call::LANDLOCK_RESTRICT_SELF, ruleset.as_raw_fd(), 0_usize) };
    with_context("landlock_restrict_self", check(entered)).map(drop)
}
