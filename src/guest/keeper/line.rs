//! Requests and answers on a socket: one line each, file descriptors along with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::sockets;

/// Longest line that is believed; a command line cannot be longer.
const LONGEST: usize = 8 << 20;

/// Sends a line, and descriptors with it.
pub(crate) fn send(socket: &impl AsRawFd, line: &str, fds: &[RawFd]) -> io::Result<()> {
    sockets::send(socket, format!("{line}\n").as_bytes(), fds)
}

/// A line, and what came with it.
pub(crate) type Received = (String, Vec<OwnedFd>);

/// Puts lines together.
#[derive(Default)]
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl Incoming {
    /// Waits for a line; `None` at the end.
    pub(crate) fn next(&mut self, socket: &impl AsRawFd) -> io::Result<Option<Received>> {
        loop {
            if let Some(line) = self.take() {
                return Ok(Some(line));
            }
            if !self.read(socket)? {
                return Ok(None);
            }
        }
    }

    /// Reads what is there; `false` at the end.
    pub(crate) fn read(&mut self, socket: &impl AsRawFd) -> io::Result<bool> {
        let mut piece = [0; 16 * 1024];
        let got = sockets::receive(socket, &mut piece, &mut self.fds)?;
        self.bytes
            .extend_from_slice(piece.get(..got).unwrap_or_default());
        if self.bytes.len() > LONGEST {
            return Err(io::Error::other("a request that is too long"));
        }
        Ok(got > 0)
    }

    /// Takes a whole line, if there is one.
    pub(crate) fn take(&mut self) -> Option<Received> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        let text = String::from_utf8_lossy(line.get(..end)?).into_owned();
        Some((text, std::mem::take(&mut self.fds)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn lines_are_put_together_from_pieces() {
        let (mut near, far) = UnixStream::pair().expect("sockets");
        let mut incoming = Incoming::default();
        near.write_all(b"one\ntw").expect("written");
        assert_eq!(
            incoming.next(&far).expect("a line").expect("a line").0,
            "one"
        );
        assert!(incoming.take().is_none());
        near.write_all(b"o\n\n").expect("written");
        assert_eq!(
            incoming.next(&far).expect("a line").expect("a line").0,
            "two"
        );
        assert_eq!(incoming.next(&far).expect("a line").expect("a line").0, "");
        drop(near);
        assert!(incoming.next(&far).expect("the end").is_none());
    }

    #[test]
    fn descriptors_come_with_their_line() {
        let (near, far) = UnixStream::pair().expect("sockets");
        let (mut read, write) = io::pipe().expect("a pipe");
        send(&near, "here", &[write.as_raw_fd()]).expect("sent");
        drop(write);
        let received = Incoming::default().next(&far).expect("a line");
        let (line, fds) = received.expect("a line");
        assert_eq!((line.as_str(), fds.len()), ("here", 1));
        for fd in fds {
            File::from(fd).write_all(b"through").expect("written");
        }
        let mut text = String::new();
        read.read_to_string(&mut text).expect("read");
        assert_eq!(text, "through");
    }

    #[test]
    fn a_line_that_never_ends_is_refused() {
        let mut incoming = Incoming {
            bytes: vec![b'x'; LONGEST],
            fds: Vec::new(),
        };
        let (mut near, far) = UnixStream::pair().expect("sockets");
        near.write_all(b"x").expect("written");
        assert!(incoming.read(&far).is_err());
    }
}
