//! Bounds what is read of a layer, so that a small file cannot unpack without end.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// A stream that may give only so much at a time.
pub(super) struct Metered<R> {
    pub(super) inner: R,
    pub(super) allowance: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.allowance.get()).unwrap_or(usize::MAX);
        if most == 0 {
            return Err(too_much());
        }
        let most = most.min(buffer.len());
        let got = self
            .inner
            .read(buffer.get_mut(..most).unwrap_or_default())?;
        self.allowance.set(self.allowance.get() - got as u64);
        Ok(got)
    }
}

/// The error for an image that is too large.
pub(super) fn too_much() -> io::Error {
    io::Error::other(
        "it unpacks to more than sandtop takes (32 GiB, two million files, names of 1 MiB)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_ends_with_the_allowance() {
        let allowance = Rc::new(Cell::new(3));
        let mut stream = Metered {
            inner: &b"abcdef"[..],
            allowance: Rc::clone(&allowance),
        };
        let mut bytes = [0; 8];
        assert_eq!(stream.read(&mut bytes).expect("bytes"), 3);
        assert!(stream.read(&mut bytes).is_err());
        allowance.set(8);
        assert_eq!(stream.read(&mut bytes).expect("bytes"), 3);
        assert_eq!(bytes[..3], *b"def");
    }
}
