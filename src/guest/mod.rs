//! The guest: a small static program that sandtop puts into each sandbox to run commands and work on files there.
//!
//! Why: an engine's own exec cannot kill a process tree, loses the difference between a signal and an exit code, and needs
//! `sh`, `tar` and friends in the image. The guest adopts every process of its command (subreaper), so that a timeout or a
//! cancel leaves none behind; it works in images that have nothing at all; and what it does with paths happens inside the
//! sandbox, with the sandbox's own rights.
//!
//! `main.rs` is the program's root. It uses only the standard library and is built by `build.rs` with a plain `rustc` call,
//! because cargo cannot link one program of a package statically and the rest as usual.

pub mod wire;

use std::hash::{DefaultHasher, Hash, Hasher};

/// The program itself; empty where it could not be built, which [`is_available`] tells.
pub const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest"));

/// Names the version of the program, by what it holds.
#[must_use]
pub fn version() -> String {
    let mut hasher = DefaultHasher::new();
    PROGRAM.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The processor it was built for, in the words of images.
pub const PLATFORM: &str = if cfg!(target_arch = "aarch64") {
    "arm64"
} else {
    "amd64"
};

/// Tells whether this build of sandtop carries the guest program.
#[must_use]
pub fn is_available() -> bool {
    !PROGRAM.is_empty()
}
