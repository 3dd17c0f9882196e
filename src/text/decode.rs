//! Decodes chunks of UTF-8 that may be cut anywhere; what is broken becomes U+FFFD.

use std::str;

const BROKEN: &str = "\u{fffd}";

/// Decodes one stream of chunks.
#[derive(Default)]
pub(super) struct Decoder {
    /// The first bytes of a character whose rest is still to come.
    tail: Vec<u8>,
}

impl Decoder {
    /// Hands the text of the next bytes to `take`, in pieces.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut impl FnMut(&str)) {
        let mut rest = self.complete_tail(bytes, take);
        while !rest.is_empty() {
            rest = self.decode(rest, take);
        }
    }

    /// Ends the stream, so that a cut character shows.
    pub(super) fn finish(&mut self, take: &mut impl FnMut(&str)) {
        if !self.tail.is_empty() {
            take(BROKEN);
        }
        self.tail.clear();
    }

    /// Completes the character cut at the end of the last chunk; returns the bytes left.
    fn complete_tail<'a>(&mut self, mut bytes: &'a [u8], take: &mut impl FnMut(&str)) -> &'a [u8] {
        while !self.tail.is_empty()
            && let Some((&byte, rest)) = bytes.split_first()
        {
            self.tail.push(byte);
            match str::from_utf8(&self.tail) {
                Ok(whole) => take(whole),
                Err(error) if error.error_len().is_none() => {
                    bytes = rest;
                    continue;
                }
                Err(_) => return self.break_tail(bytes, take),
            }
            self.tail.clear();
            bytes = rest;
        }
        bytes
    }

    /// Gives up the cut character; the byte that does not continue it is part of the bytes left.
    fn break_tail<'a>(&mut self, bytes: &'a [u8], take: &mut impl FnMut(&str)) -> &'a [u8] {
        self.tail.clear();
        take(BROKEN);
        bytes
    }

    /// Takes the text up to the first broken character and that character; returns the bytes left.
    fn decode<'a>(&mut self, bytes: &'a [u8], take: &mut impl FnMut(&str)) -> &'a [u8] {
        let error = match str::from_utf8(bytes) {
            Ok(text) => return take_all(text, take),
            Err(error) => error,
        };
        let (valid, broken) = bytes
            .split_at_checked(error.valid_up_to())
            .unwrap_or_default();
        take_all(str::from_utf8(valid).unwrap_or_default(), take);
        let Some(length) = error.error_len() else {
            self.tail.extend_from_slice(broken);
            return &[];
        };
        take(BROKEN);
        broken.get(length..).unwrap_or_default()
    }
}

/// Takes a whole text and leaves no bytes.
fn take_all(text: &str, take: &mut impl FnMut(&str)) -> &'static [u8] {
    if !text.is_empty() {
        take(text);
    }
    &[]
}
