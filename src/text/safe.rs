//! The single choke point that turns foreign bytes into text that is safe on a terminal.
//!
//! Bytes are decoded, escape sequences are dropped whole, hidden characters get a visible mark. The
//! result holds no control character but newline, tab and carriage return, and the state kept between
//! two chunks is a few KiB at most, whatever comes in.

use super::decode::Decoder;
use super::escape::Escape;
use super::hidden::{is_hidden, push_visible};

/// The bytes looked at together by the fast path; a size that compilers turn into vector code.
const BLOCK: usize = 32;

/// Makes a stream of chunks safe; where the chunks are cut does not matter.
#[derive(Default)]
pub struct SafeStream {
    decoder: Decoder,
    escape: Escape,
}

impl SafeStream {
    /// Creates a stream that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the safe form of the next bytes to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        let Self { decoder, escape } = self;
        decoder.push(bytes, &mut |text| push_text(escape, text, out));
    }

    /// Ends the stream, so that a cut character shows and an open sequence is forgotten.
    pub fn finish(&mut self, out: &mut String) {
        let Self { decoder, escape } = self;
        decoder.finish(&mut |text| push_text(escape, text, out));
        *self = Self::default();
    }
}

/// Makes a whole text of many lines safe.
#[must_use]
pub fn safe_block(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut stream = SafeStream::new();
    stream.push(bytes, &mut out);
    stream.finish(&mut out);
    out
}

fn push_text(escape: &mut Escape, mut text: &str, out: &mut String) {
    while let Some(c) = text.chars().next() {
        text = if escape.is_open() || needs_care(c) {
            push_char(escape, c, out);
            text.get(c.len_utf8()..).unwrap_or_default()
        } else {
            push_clean_start(text, out)
        };
    }
}

fn push_char(escape: &mut Escape, c: char, out: &mut String) {
    if escape.is_open() && escape.must_abort(c) {
        *escape = Escape::default();
    }
    if escape.is_open() || Escape::is_start(c) {
        escape.feed(c, out);
    } else if !is_dropped(c) {
        push_visible(c, out);
    }
}

/// Copies the longest start that needs no care at once; returns the rest.
fn push_clean_start<'a>(text: &'a str, out: &mut String) -> &'a str {
    let blocks = text.as_bytes().chunks_exact(BLOCK);
    let plain = BLOCK * blocks.take_while(|block| is_plain(block)).count();
    let clean = text
        .get(plain..)
        .and_then(|rest| rest.find(needs_care))
        .map_or(text.len(), |found| plain + found);
    let (start, rest) = text.split_at_checked(clean).unwrap_or_default();
    out.push_str(start);
    rest
}

/// Tells whether a block is printable ASCII, newlines, tabs and carriage returns only.
fn is_plain(block: &[u8]) -> bool {
    // No early exit: a loop without branches becomes vector code.
    block.iter().fold(true, |plain, byte| {
        plain & (matches!(byte, 0x20..=0x7e) | matches!(byte, b'\n' | b'\t' | b'\r'))
    })
}

fn needs_care(c: char) -> bool {
    is_dropped(c) || is_hidden(c)
}

fn is_dropped(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::super::escape::LONGEST;
    use super::*;

    /// Bytes that make trouble, many of them halves of something, with a bar between them.
    const TROUBLE: &[u8] = b"\x1b|\x1b[|\x1b]|\x1bP|\x1b_|\x1b^|\x1bX|\x1b\\|\x9b|\x9d|\xc2\x9b|\xc2\x9d|\
        \xc2\x90|\xc2\x9c|\xc2|\xe2\x80|\xae|\xf0\x9f|\xe2\x9c\x9c|\x07|\x18|\x1a|\x7f|\n|\r|\t|\0|0;1<?$ |\
        m|q|\\|hello|\xed\xa0\x80|\xf3\xa0\x81\x81|\xff";

    fn in_chunks(bytes: &[u8], size: usize) -> String {
        let (mut stream, mut out) = (SafeStream::new(), String::new());
        bytes
            .chunks(size)
            .for_each(|chunk| stream.push(chunk, &mut out));
        stream.finish(&mut out);
        out
    }

    fn soup(seed: &mut u64, pieces: usize) -> Vec<u8> {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(*seed >> 33).unwrap_or(0)
        };
        let trouble: Vec<&[u8]> = TROUBLE.split(|&byte| byte == b'|').collect();
        let mut bytes = Vec::new();
        for _ in 0..pieces {
            match trouble.get(next() % (trouble.len() + 4)) {
                Some(piece) => bytes.extend_from_slice(piece),
                None => bytes.push(next().to_le_bytes().first().copied().unwrap_or(0)),
            }
        }
        bytes
    }

    #[test]
    fn makes_blocks_safe() {
        let cases: &[(&[u8], &str)] = &[
            (b"plain\ttext\r\nnext", "plain\ttext\r\nnext"),
            (b"10%\r20%", "10%\r20%"),
            (b"a\x1b[1;31mred\x1b[0m", "ared"),
            (b"a\x1b]52;c;cGF5\x07b", "ab"),
            (b"a\x1b]0;t\xc3\xadtle\x1b\\b", "ab"),
            (
                b"a\x1bP1$r\xe2\x9c\x9cx\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e",
                "abcde",
            ),
            (
                "a\u{9b}31mb\u{9d}0;t\u{9c}c\u{90}q\u{9c}d\u{85}e".as_bytes(),
                "abcde",
            ),
            (b"a\x1b(Bb\x1bcc\x1b[?1049hd\x1b[1<m\xc3\xa9", "abcdé"),
            (b"bell\x07back\x08nul\0del\x7f", "bellbacknuldel"),
            (b"\xff\xc3(\xe2\x82", "\u{fffd}\u{fffd}(\u{fffd}"),
            (b"\x9b31m", "\u{fffd}31m"),
            (
                "x\u{202e}y\u{feff}\u{200c}z".as_bytes(),
                "x<U+202E>y<U+FEFF><U+200C>z",
            ),
            (
                "👩\u{200d}👧 ❤\u{fe0f}".as_bytes(),
                "👩\u{200d}👧 ❤\u{fe0f}",
            ),
            (b"a\x1b]0;no end\nb", "a\nb"),
            (b"a\x1b[12", "a"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(&safe_block(bytes), expected);
            assert_eq!(&in_chunks(bytes, 1), expected);
        }
    }

    #[test]
    fn the_cut_between_chunks_does_not_matter() {
        let mut seed = 1;
        for round in 0..3_000 {
            let bytes = soup(&mut seed, 2 + round % 40);
            let whole = safe_block(&bytes);
            for at in 0..=bytes.len() {
                let (mut stream, mut out) = (SafeStream::new(), String::new());
                let (start, end) = bytes.split_at(at);
                stream.push(start, &mut out);
                stream.push(end, &mut out);
                stream.finish(&mut out);
                assert_eq!(out, whole, "{bytes:?} cut at {at}");
            }
            assert_eq!(in_chunks(&bytes, 1), whole, "{bytes:?}");
        }
    }

    #[test]
    fn nothing_dangerous_comes_out() {
        let mut seed = 2;
        for round in 0..20_000 {
            let bytes = soup(&mut seed, round % 200);
            let out = safe_block(&bytes);
            assert!(!out.chars().any(needs_care), "{bytes:?} gave {out:?}");
        }
    }

    #[test]
    fn decodes_as_the_standard_library_does() {
        let mut seed = 3;
        for round in 0..3_000 {
            let mut bytes = soup(&mut seed, round % 40);
            bytes.retain(|byte| matches!(byte, 0x20..=0x7e | 0xa0..));
            let mut expected = String::new();
            let decoded = String::from_utf8_lossy(&bytes);
            decoded.chars().for_each(|c| push_visible(c, &mut expected));
            assert_eq!(in_chunks(&bytes, 3), expected);
        }
    }

    #[test]
    fn control_strings_without_end_hide_little() {
        for start in [
            "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b[", "\u{9d}",
        ] {
            let (mut stream, mut out) = (SafeStream::new(), String::new());
            stream.push(start.as_bytes(), &mut out);
            let (chunk, mut shown) = (vec![b';'; 1 << 16], 0);
            for _ in 0..64 {
                stream.push(&chunk, &mut out);
                shown += out.len();
                out.clear();
            }
            // The introducer may count as part of the sequence.
            let hidden = chunk.len() * 64 - shown;
            assert!(LONGEST.abs_diff(hidden) <= 2, "{start:?} hid {hidden}");
        }
    }
}
