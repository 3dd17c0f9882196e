//! Terminals, standard streams and the network's loopback: what a process of the sandbox is attached to.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{check, syscall, with_context};
use crate::abi::{self, IFNAMSIZ, IfReq, O_CLOEXEC, WinSize};

unsafe extern "C" {
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
    safe fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    safe fn dup2(from: c_int, to: c_int) -> c_int;
}

/// Makes a socket.
pub(crate) fn make_socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    let fd = check(socket(family, kind | abi::SOCK_CLOEXEC, protocol))?;
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Switches the loopback interface on.
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = make_socket(abi::AF_INET, abi::SOCK_DGRAM, 0)?;
    let mut request: IfReq = [0; _];
    request[..2].copy_from_slice(b"lo");
    request[IFNAMSIZ..IFNAMSIZ + 2]
        .copy_from_slice(&(abi::IFF_UP | abi::IFF_RUNNING).to_ne_bytes());
    // SAFETY: the array has the size and layout of struct ifreq.
    with_context(
        "switching lo on",
        check(unsafe { ioctl(socket.as_raw_fd(), abi::SIOCSIFFLAGS, request.as_mut_ptr()) }),
    )
    .map(drop)
}

/// Opens the other side of a terminal, which nothing but its own file system need name.
pub(crate) fn terminal_peer(master: &OwnedFd, rows: u16, columns: u16) -> io::Result<OwnedFd> {
    let (unlocked, size): (c_int, WinSize) = (0, [rows, columns, 0, 0]);
    // SAFETY: the numbers and the array live through the calls; the result is a new descriptor.
    unsafe {
        check(ioctl(
            master.as_raw_fd(),
            abi::TIOCSPTLCK,
            &raw const unlocked,
        ))?;
        check(ioctl(master.as_raw_fd(), abi::TIOCSWINSZ, &raw const size))?;
        let peer = check(ioctl(
            master.as_raw_fd(),
            abi::TIOCGPTPEER,
            abi::O_RDWR | abi::O_NOCTTY | O_CLOEXEC,
        ))?;
        Ok(OwnedFd::from_raw_fd(peer))
    }
}

/// Makes standard input the controlling terminal.
pub(crate) fn control_terminal() {
    // SAFETY: the call takes a number.
    unsafe { ioctl(0, abi::TIOCSCTTY, 0) };
}

/// Puts descriptors in the places of standard input, output and error.
pub(crate) fn set_standard_streams(streams: [RawFd; 3]) {
    for (place, fd) in (0..).zip(streams) {
        // A descriptor that is in its place already must only lose its close-on-exec flag, which this does not do.
        dup2(fd, place);
    }
}

/// Closes everything from a number on.
pub(crate) fn close_from(first: u32) {
    // SAFETY: whatever was open is not used again: the caller executes a program or ends.
    unsafe { syscall(abi::call::CLOSE_RANGE, first, u32::MAX, 0) };
}
