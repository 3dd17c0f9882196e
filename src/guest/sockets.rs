//! Waiting for several descriptors, and sending descriptors to other processes.

use std::ffi::{c_int, c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;

pub(crate) use crate::abi::PollFd;
use crate::abi::{
    CONTROL_HEAD, Control, MOST_FDS, MSG_CMSG_CLOEXEC, MSG_NOSIGNAL, Message, POLLIN, Part,
    SCM_RIGHTS, SOL_SOCKET,
};
use crate::kernel::check;

unsafe extern "C" {
    fn sendmsg(fd: c_int, message: *const Message, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut Message, flags: c_int) -> isize;
    fn poll(fds: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
}

impl PollFd {
    /// Waits until there is something to read, or the other side is gone.
    pub(crate) fn new(fd: &impl AsRawFd) -> Self {
        Self {
            fd: fd.as_raw_fd(),
            events: POLLIN,
            happened: 0,
        }
    }

    /// Tells whether there is.
    pub(crate) fn is_ready(&self) -> bool {
        self.happened != 0
    }
}

/// Waits for any of them, at most so many milliseconds; -1 waits for ever.
pub(crate) fn wait_for(fds: &mut [PollFd], millis: i32) {
    // SAFETY: the slice is valid for its length, and the layout is the kernel's.
    unsafe { poll(fds.as_mut_ptr(), fds.len() as c_ulong, millis) };
}

/// Sends bytes, and descriptors with the first of them.
pub(crate) fn send(socket: &impl AsRawFd, bytes: &[u8], fds: &[RawFd]) -> io::Result<()> {
    let mut control = Control {
        length: CONTROL_HEAD + size_of_val(fds),
        level: SOL_SOCKET,
        kind: SCM_RIGHTS,
        fds: [0; MOST_FDS],
    };
    for (place, fd) in control.fds.iter_mut().zip(fds) {
        *place = *fd;
    }
    let (mut rest, mut with_fds) = (bytes, !fds.is_empty());
    while !rest.is_empty() {
        let mut part = Part {
            base: rest.as_ptr() as *mut c_void,
            length: rest.len(),
        };
        let (address, length) = if with_fds {
            ((&raw mut control).cast(), size_of::<Control>())
        } else {
            (null_mut(), 0)
        };
        let length = if with_fds {
            length.min((control.length + 7) & !7)
        } else {
            length
        };
        let message = Message {
            name: null_mut(),
            name_len: 0,
            parts: &raw mut part,
            part_count: 1,
            control: address,
            control_len: length,
            flags: 0,
        };
        // SAFETY: the message points to live values of the kernel's layout.
        let sent = check(unsafe { sendmsg(socket.as_raw_fd(), &raw const message, MSG_NOSIGNAL) })?;
        with_fds = false;
        rest = rest.get(sent.cast_unsigned()..).unwrap_or_default();
    }
    Ok(())
}

/// Receives some bytes, and descriptors if they came with them; 0 is the end.
pub(crate) fn receive(
    socket: &impl AsRawFd,
    buffer: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut control = Control {
        length: 0,
        level: 0,
        kind: 0,
        fds: [-1; MOST_FDS],
    };
    let mut part = Part {
        base: buffer.as_mut_ptr().cast(),
        length: buffer.len(),
    };
    let mut message = Message {
        name: null_mut(),
        name_len: 0,
        parts: &raw mut part,
        part_count: 1,
        control: (&raw mut control).cast(),
        control_len: size_of::<Control>(),
        flags: 0,
    };
    // SAFETY: the message points to live values of the kernel's layout, with their true sizes.
    let got = check(unsafe { recvmsg(socket.as_raw_fd(), &raw mut message, MSG_CMSG_CLOEXEC) })?;
    if message.control_len >= CONTROL_HEAD
        && control.level == SOL_SOCKET
        && control.kind == SCM_RIGHTS
    {
        let count =
            (control.length.saturating_sub(CONTROL_HEAD) / size_of::<c_int>()).min(MOST_FDS);
        // SAFETY: the kernel has just put these new descriptors there; nobody else owns them.
        fds.extend(
            control
                .fds
                .iter()
                .take(count)
                .map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }),
        );
    }
    Ok(got.cast_unsigned())
}
