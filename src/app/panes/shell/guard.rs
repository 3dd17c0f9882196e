//! Stands before the emulator and keeps from it what would stop or slow down the whole dashboard.
//!
//! * Repeats of the last character: eight bytes ask for 65535 characters, so a few KiB would take seconds.
//! * Clearing, moving or resetting the whole screen: four bytes ask for thousands of cells. A flood of them is thinned out;
//!   the last clearing always stays, so that what is seen in the end is right.
//! * The mark that makes an emoji of the character before it and so widens a cell: at the end of the last row, vt100
//!   0.18 then keeps half a wide character and panics when it is written over.

use std::borrow::Cow;

use vte::{Params, Perform};

use super::{CANCEL, MOST_SCROLLBACK};

/// The most cells that repeats may write and screens may be cleared of per push, small enough to be done within a frame.
const MOST_PER_PUSH: usize = 400_000;

/// The modes that switch to another screen, which is cleared.
const SCREENS: [u16; 3] = [47, 1047, 1049];

/// The first bytes of both marks of how a character is presented.
const PRESENTED: [u8; 2] = [0xef, 0xb8];

/// The last byte of U+FE0F, "as emoji".
const AS_EMOJI: u8 = 0x8f;

/// The last byte of U+FE0E, "as text", which widens nothing.
const AS_TEXT: u8 = 0x8e;

/// Reads along in front of the emulator.
#[derive(Default)]
pub(super) struct Guard {
    parser: vte::Parser,
    /// The last two bytes, since a mark may be cut in two.
    before: [u8; 2],
}

/// A sequence that costs more than its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Costly {
    /// The last character so many times more.
    Repeat(usize),
    /// The whole screen is cleared.
    Clear,
    /// Rows move or are cleared.
    Rows(usize),
}

/// Stops at the end of a costly sequence.
#[derive(Default)]
struct Watch {
    found: Option<Costly>,
}

impl Perform for Watch {
    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, last: char) {
        let first = params.iter().next().and_then(|param| param.first());
        let first = first.copied().unwrap_or(0);
        let is_screen = |param: &[u16]| param.iter().any(|mode| SCREENS.contains(mode));
        self.found = match (intermediates, last) {
            ([], 'b') => Some(Costly::Repeat(usize::from(first.max(1)))),
            ([] | [b'?'], 'J') if first >= 2 => Some(Costly::Clear),
            ([] | [b'?'], 'J') => Some(Costly::Rows(usize::MAX)),
            ([], 'L' | 'M' | 'S' | 'T') => Some(Costly::Rows(usize::from(first.max(1)))),
            ([b'?'], 'h' | 'l') if params.iter().any(is_screen) => Some(Costly::Rows(usize::MAX)),
            _ => None,
        };
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, last: u8) {
        if intermediates.is_empty() && last == b'c' {
            self.found = Some(Costly::Clear);
        }
    }

    fn terminated(&self) -> bool {
        self.found.is_some()
    }
}

impl Guard {
    /// Hands bytes to the emulator, with nothing in them that it cannot bear.
    pub(super) fn feed(&mut self, bytes: &[u8], to: &mut vt100::Parser) {
        let safe = self.narrowed(bytes);
        let mut bytes = safe.as_ref();
        let pieces = self.pieces(bytes);
        let is_clear = |(_, found): &(usize, Option<Costly>)| *found == Some(Costly::Clear);
        let last_clear = pieces.iter().rposition(is_clear);
        let (rows, columns) = to.screen().size();
        let (rows, columns) = (usize::from(rows.get()), usize::from(columns.get()));
        let (mut left, kept) = (MOST_PER_PUSH, MOST_SCROLLBACK + rows);
        for (index, (length, found)) in pieces.into_iter().enumerate() {
            let (head, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
            bytes = rest;
            let wanted = match found {
                None => 0,
                Some(Costly::Repeat(count)) => count,
                Some(Costly::Clear) => rows * columns,
                Some(Costly::Rows(count)) => count.min(rows) * columns,
            };
            let granted = match found {
                Some(Costly::Repeat(_)) => wanted.min(rows * columns).min(left),
                _ if wanted <= left || Some(index) == last_clear => wanted,
                _ => 0,
            };
            if granted == wanted {
                to.process(last_lines(head, kept));
            } else {
                shorten(head, granted, to);
            }
            left = left.saturating_sub(granted);
        }
    }

    /// Cuts bytes after each costly sequence; returns the lengths and the sequences.
    fn pieces(&mut self, mut bytes: &[u8]) -> Vec<(usize, Option<Costly>)> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let mut watch = Watch::default();
            let read = self.parser.advance_until_terminated(&mut watch, bytes);
            pieces.push((read, watch.found));
            bytes = bytes.get(read.max(1)..).unwrap_or_default();
        }
        pieces
    }

    /// Turns emoji marks into text marks, which are as long.
    fn narrowed<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut narrowed = Cow::Borrowed(bytes);
        for at in memchr::memchr_iter(AS_EMOJI, bytes) {
            let is_mark = self.two_before(bytes, at) == PRESENTED;
            if let Some(last) = is_mark.then(|| narrowed.to_mut().get_mut(at)).flatten() {
                *last = AS_TEXT;
            }
        }
        self.before = self.two_before(bytes, bytes.len());
        narrowed
    }

    fn two_before(&self, bytes: &[u8], at: usize) -> [u8; 2] {
        let [first, second] = self.before;
        match bytes.get(..at) {
            Some([.., a, b]) => [*a, *b],
            Some([b]) => [second, *b],
            _ => [first, second],
        }
    }
}

/// Leaves out lines of plain text that would be scrolled away at once: each costs a row of cells.
fn last_lines(bytes: &[u8], kept: usize) -> &[u8] {
    let mut ends = memchr::memrchr_iter(b'\n', bytes);
    match ends.nth(kept) {
        Some(at) if memchr::memchr(b'\x1b', bytes).is_none() => {
            bytes.get(at + 1..).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// Hands over bytes that end in a costly sequence, but without it, or as a repeat of fewer characters.
fn shorten(head: &[u8], count: usize, to: &mut vt100::Parser) {
    let but_last = head.split_last().map_or(head, |(_, before)| before);
    to.process(but_last);
    to.process(CANCEL);
    if count > 0 {
        to.process(format!("\x1b[{count}b").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::shell;
    use super::*;

    fn text(columns: u16, rows: u16, bytes: &[u8]) -> String {
        shell(columns, rows, bytes).screen().contents()
    }

    #[test]
    fn short_repeats_stay() {
        assert_eq!(text(10, 2, b"ab\x1b[3bc"), "abbbbc");
        assert_eq!(text(10, 2, b"ab\x1b[bc\x1b[?9b"), "abbc");
    }

    #[test]
    fn long_repeats_end_with_the_screen() {
        let shell = shell(4, 2, b"a\x1b[65535bc");
        assert_eq!(shell.screen().contents(), "aaaaac");
        assert_eq!(shell.screen().scrollback_len(), 1);
    }

    #[test]
    fn cuts_do_not_matter() {
        let bytes = b"x\x1b[2bz\xc3\xa9\x1b[99999b!\x1b[31mq";
        let whole = text(5, 3, bytes);
        for at in 0..bytes.len() {
            let (head, tail) = bytes.split_at(at);
            let mut cut = shell(5, 3, head);
            cut.push(tail);
            assert_eq!(cut.screen().contents(), whole, "at {at}");
        }
    }

    #[test]
    fn a_flood_of_repeats_is_bounded() {
        let bytes = b"x\x1b[65535b".repeat(4_000);
        let shell = shell(500, 100, &bytes);
        let rows = MOST_PER_PUSH / 500;
        assert!(shell.screen().scrollback_len() <= rows, "{rows}");
    }

    #[test]
    fn a_flood_of_clearings_is_thinned_out_and_ends_as_it_should() {
        let flood = b"\x1b[Hold\x1b[2J".repeat(50_000);
        let mut shell = shell(500, 100, &flood);
        shell.push(&[&flood, b"\x1b[Hnew".as_slice()].concat());
        assert_eq!(shell.screen().contents(), "new");
    }

    #[test]
    fn lines_that_nobody_could_scroll_to_are_left_out() {
        let lines: Vec<String> = (0..40_000).map(|n| format!("{n}\r\n")).collect();
        let shell = shell(9, 3, lines.concat().as_bytes());
        assert_eq!(shell.screen().contents(), "39998\n39999");
        assert_eq!(shell.screen().scrollback_len(), MOST_SCROLLBACK);
        let coloured = b"\x1b[31m\n".repeat(9_000);
        assert_eq!(last_lines(&coloured, 10), coloured);
        assert_eq!(last_lines(b"a\nb\nc", 1), b"b\nc");
    }

    #[test]
    fn costly_sequences_are_known_however_they_are_cut() {
        let bytes = b"a\x1b[3Mb\x1b[2J\x1b[?25;1049hc\x1bc\x1b[K";
        let expected = [
            (5, Some(Costly::Rows(3))),
            (5, Some(Costly::Clear)),
            (11, Some(Costly::Rows(usize::MAX))),
            (3, Some(Costly::Clear)),
            (3, None),
        ];
        assert_eq!(Guard::default().pieces(bytes), expected);
        let mut guard = Guard::default();
        let found = bytes
            .iter()
            .filter_map(|byte| guard.pieces(&[*byte]).pop()?.1);
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected
                .into_iter()
                .filter_map(|(_, found)| found)
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn marks_of_emoji_become_marks_of_text_however_they_are_cut() {
        let bytes = "a\u{fe0f}é\u{fe0f}\u{fe0e}漢\u{fe0f}".as_bytes();
        let expected = "a\u{fe0e}é\u{fe0e}\u{fe0e}漢\u{fe0e}".as_bytes();
        for at in 0..=bytes.len() {
            let mut guard = Guard::default();
            let (head, tail) = bytes.split_at(at);
            let mut narrowed = guard.narrowed(head).into_owned();
            for byte in tail {
                narrowed.extend_from_slice(&guard.narrowed(&[*byte]));
            }
            assert_eq!(narrowed, expected, "at {at}");
        }
    }

    #[test]
    fn an_emoji_mark_in_the_last_corner_is_harmless() {
        let shell = shell(4, 2, "\x1b[2;4H❤\u{fe0f}\x1b[2;4Hx".as_bytes());
        assert_eq!(shell.screen().contents(), "\n   x");
    }
}
