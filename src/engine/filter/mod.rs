//! Which system calls processes of a sandbox may make, whatever engine runs it: one list, in the two shapes that engines take.
//!
//! An allow-list, because what a new kernel adds must not be open by default; other calls answer "no such call", which programs
//! know how to live with. Well-known dangerous ones answer "not permitted", so that tools say something sensible.

mod calls;
mod profile;
mod program;

pub(super) use profile::profile;
pub(super) use program::program;

use calls::{Call, calls};

/// Numbers of the errors that calls answer with.
const NOT_PERMITTED: u16 = 1;
const NO_SUCH_CALL: u16 = 38;
const NO_SUCH_FAMILY: u16 = 97;

/// Every flag of `clone` that makes a namespace.
const NAMESPACE_FLAGS: u32 = 0x7e02_0080;
/// Families of sockets: local, internet, and asking the kernel about networks.
const SOCKET_FAMILIES: [u32; 4] = [1, 2, 10, 16];
/// Terminal requests that type into, or reprogram, what is outside.
const TERMINAL_TRICKS: [u32; 3] = [0x5412, 0x541c, 0x5423];
/// Changes of personality that programs really ask for: none, and "which is it?".
const PERSONALITIES: [u32; 2] = [0, 0xffff_ffff];

/// A call whose answer depends on an argument. The kernel reads only the lower half of each of them, and so does the filter.
struct Condition {
    call: Call,
    /// Which argument, from zero.
    argument: u8,
    allowed: Allowed,
    /// The error of what is not allowed.
    refusal: u16,
}

/// Values of an argument.
#[derive(Clone, Copy)]
enum Allowed {
    /// One of these.
    Only(&'static [u32]),
    /// None of these.
    AllBut(&'static [u32]),
    /// No bit of these.
    Without(u32),
}

const CONDITIONS: &[Condition] = &[
    Condition {
        call: calls![SYS_clone][0],
        argument: 0,
        allowed: Allowed::Without(NAMESPACE_FLAGS),
        refusal: NOT_PERMITTED,
    },
    Condition {
        call: calls![SYS_socket][0],
        argument: 0,
        allowed: Allowed::Only(&SOCKET_FAMILIES),
        refusal: NO_SUCH_FAMILY,
    },
    Condition {
        call: calls![SYS_personality][0],
        argument: 0,
        allowed: Allowed::Only(&PERSONALITIES),
        refusal: NOT_PERMITTED,
    },
    Condition {
        call: calls![SYS_ioctl][0],
        argument: 1,
        allowed: Allowed::AllBut(&TERMINAL_TRICKS),
        refusal: NOT_PERMITTED,
    },
];

/// Who sees memory that belongs to no process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// The kernel counts it, or nothing is limited.
    Counted,
    /// A watcher looks at processes only; so there must not be much of it.
    Watched,
}
