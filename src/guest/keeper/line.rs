//! Requests and answers: one line of escaped words each, file descriptors along with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::plan;
use crate::{sockets, wire};

/// Longest line that is believed; a command line cannot be longer.
const LONGEST: usize = 8 << 20;

/// A line to send.
pub(crate) struct Line(Vec<u8>);

impl Line {
    /// Begins with a verb.
    pub(crate) fn new(verb: &str) -> Self {
        Self(format!("{verb}\n").into_bytes())
    }

    /// Adds a word.
    pub(crate) fn word(mut self, word: impl AsRef<[u8]>) -> Self {
        self.0.pop();
        self.0.push(b' ');
        self.0.extend(wire::escape(word.as_ref()).into_bytes());
        self.0.push(b'\n');
        self
    }

    /// Makes a line of words.
    pub(crate) fn of(words: &[Vec<u8>]) -> Self {
        let words: Vec<String> = words.iter().map(|word| wire::escape(word)).collect();
        Self(format!("{}\n", words.join(" ")).into_bytes())
    }

    /// Returns what goes over the wire.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Words of a line, and what came with it.
pub(crate) type Received = (Vec<Vec<u8>>, Vec<OwnedFd>);

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
        let text = String::from_utf8_lossy(line.get(..end)?);
        Some((plan::words(&text), std::mem::take(&mut self.fds)))
    }
}
