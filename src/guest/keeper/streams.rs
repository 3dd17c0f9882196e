//! Which descriptors the processes of a sandbox keep.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::{kernel, sys};

/// Points the standard streams nowhere.
pub(crate) fn silence() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        kernel::set_standard_streams([nothing.as_raw_fd(); 3]);
    }
}

/// Closes everything but the standard streams and one descriptor.
pub(crate) fn keep_only(fd: OwnedFd) -> OwnedFd {
    let kept = sys::move_to_three(fd);
    kernel::close_from(4);
    kept
}
