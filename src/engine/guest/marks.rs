//! Finds the guest's end mark in a byte stream without holding output back.

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

/// What is kept of what follows the mark; last words are short.
const MOST_AFTER: usize = 64 << 10;

/// Lets everything before the mark through, and keeps what follows it.
pub(super) struct MarkFilter {
    mark: Finder<'static>,
    held: BytesMut,
    after: Option<BytesMut>,
}

impl MarkFilter {
    pub(super) fn new(mark: &[u8]) -> Self {
        Self {
            mark: Finder::new(mark).into_owned(),
            held: BytesMut::new(),
            after: None,
        }
    }

    /// Takes bytes in and returns those that are certainly output.
    pub(super) fn push(&mut self, bytes: Bytes) -> Bytes {
        if let Some(after) = &mut self.after {
            let room = MOST_AFTER.saturating_sub(after.len()).min(bytes.len());
            after.extend_from_slice(bytes.get(..room).unwrap_or_default());
            return Bytes::new();
        }
        let whole = if self.held.is_empty() {
            bytes
        } else {
            self.join(&bytes)
        };
        match self.mark.find(&whole) {
            Some(at) => {
                let after = at + self.mark.needle().len();
                let rest = whole.get(after..).unwrap_or_default();
                self.after = Some(BytesMut::from(rest));
                whole.slice(..at)
            }
            None => self.hold_back(&whole),
        }
    }

    /// Returns what follows the mark, once it was seen.
    pub(super) fn after(&self) -> Option<&[u8]> {
        self.after.as_deref()
    }

    /// Gives up waiting for the mark: what was held back is output after all.
    pub(super) fn flush(&mut self) -> Bytes {
        std::mem::take(&mut self.held).freeze()
    }

    fn join(&mut self, bytes: &[u8]) -> Bytes {
        let mut whole = std::mem::take(&mut self.held);
        whole.extend_from_slice(bytes);
        whole.freeze()
    }

    /// Holds back the longest end of `whole` that could be the start of the mark.
    fn hold_back(&mut self, whole: &Bytes) -> Bytes {
        let mark = self.mark.needle();
        let longest = whole.len().min(mark.len() - 1);
        let could_start = |len: &usize| {
            let end = whole.get(whole.len() - len..).unwrap_or_default();
            mark.starts_with(end)
        };
        let held = (1..=longest).rev().find(could_start).unwrap_or(0);
        let (certain, kept) = (
            whole.slice(..whole.len() - held),
            whole.slice(whole.len() - held..),
        );
        self.held = BytesMut::from(&kept[..]);
        certain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &[u8] = b"\0\0mark:x\0";

    fn filter(pieces: &[&[u8]]) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut filter = MarkFilter::new(MARK);
        let mut out = Vec::new();
        for piece in pieces {
            out.extend(filter.push(Bytes::copy_from_slice(piece)));
        }
        let after = filter.after().map(<[u8]>::to_vec);
        out.extend(filter.flush());
        (out, after)
    }

    #[test]
    fn the_mark_is_found_at_any_split() {
        let whole = [&b"out\0\0\0mar"[..], MARK, b"tail"].concat();
        for at in 0..whole.len() {
            let (left, right) = whole.split_at(at);
            let (out, after) = filter(&[left, right]);
            assert_eq!(
                (out.as_slice(), after.as_deref()),
                (&b"out\0\0\0mar"[..], Some(&b"tail"[..])),
                "split at {at}"
            );
        }
    }

    #[test]
    fn look_alikes_are_not_lost() {
        for text in [&b"\0"[..], b"\0\0mark:", b"\0\0mark:y\0", b"plain"] {
            assert_eq!(filter(&[text]), (text.to_vec(), None));
        }
    }

    #[test]
    fn plain_output_is_not_held_back() {
        let mut filter = MarkFilter::new(MARK);
        assert_eq!(
            filter.push(Bytes::from_static(b"prompt> ")),
            Bytes::from_static(b"prompt> ")
        );
    }
}
