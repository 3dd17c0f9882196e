//! Follows one escape sequence with `vte`, so that it can be dropped whole.
//!
//! `vte` hides its state. Therefore it is fed one character at a time, only while a sequence is open,
//! and its callbacks tell when it is back in the ground state. An ignored CSI ends without a callback;
//! it counts as open until `vte` prints the next character.

use vte::{Params, Parser, Perform};

use super::hidden::push_visible;

/// The bytes after which a sequence without an end is given up.
pub(super) const LONGEST: usize = 4096;

const ESC: u8 = 0x1b;

/// Any bytes that `vte` ignores within a sequence and prints outside; none of them is 0x9c, which
/// `vte` takes for the end of a DCS even in the middle of a character.
const STAND_IN: &[u8] = "\u{fffd}".as_bytes();

/// Takes what turns out to lie outside of a sequence, and what whole sequences ask for.
pub(super) trait Outlet {
    /// Takes a character that is no control.
    fn show(&mut self, c: char);

    /// Takes a tab, carriage return or backspace in the middle of a sequence.
    fn control(&mut self, byte: u8);

    /// Hears a control sequence without private marks; it has no effect unless this gives it one.
    fn csi(&mut self, _params: &Params, _action: char) {}
}

impl Outlet for String {
    fn show(&mut self, c: char) {
        push_visible(c, self);
    }

    fn control(&mut self, byte: u8) {
        if matches!(byte, b'\t' | b'\r') {
            self.push(char::from(byte));
        }
    }
}

/// The escape sequence being skipped, if any.
#[derive(Default)]
pub(super) struct Escape {
    parser: Parser,
    is_open: bool,
    length: usize,
}

impl Escape {
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Tells whether a character, ESC or its 8-bit forms, starts a sequence.
    pub(super) fn is_start(c: char) -> bool {
        matches!(c, '\u{1b}' | '\u{80}'..='\u{9f}')
    }

    /// Tells whether the open sequence must be given up before this character, so that a control
    /// string without an end cannot hide all that follows.
    pub(super) fn must_abort(&self, c: char) -> bool {
        c == '\n' || (self.length >= LONGEST && !Self::is_start(c))
    }

    /// Passes a character to the sequence; what shows to lie outside of it goes to `out`.
    pub(super) fn feed(&mut self, c: char, out: &mut impl Outlet) {
        self.length = if Self::is_start(c) {
            0
        } else {
            self.length + c.len_utf8()
        };
        let mut sink = Sink {
            current: c,
            has_ended: false,
            out,
        };
        match u8::try_from(c) {
            Ok(byte @ ..=0x7f) => self.parser.advance(&mut sink, &[byte]),
            Ok(byte @ 0x80..=0x9f) => self.parser.advance(&mut sink, &[ESC, byte - 0x40]),
            Ok(_) | Err(_) => self.parser.advance(&mut sink, STAND_IN),
        }
        self.is_open = !sink.has_ended;
    }
}

/// Hears from `vte` what became of one character.
struct Sink<'a, O> {
    current: char,
    has_ended: bool,
    out: &'a mut O,
}

impl<O: Outlet> Perform for Sink<'_, O> {
    fn print(&mut self, _stand_in: char) {
        self.has_ended = true;
        if !self.current.is_control() {
            self.out.show(self.current);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\t' | b'\r' | 0x08 => self.out.control(byte),
            // CAN and SUB cancel a sequence.
            0x18 | 0x1a => self.has_ended = true,
            _ => (),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, marks: &[u8], is_odd: bool, action: char) {
        self.has_ended = true;
        if marks.is_empty() && !is_odd {
            self.out.csi(params, action);
        }
    }

    fn esc_dispatch(&mut self, _intermediates: &[u8], _ignore: bool, _byte: u8) {
        self.has_ended = true;
    }

    fn osc_dispatch(&mut self, _params: &[&[u8]], bell_terminated: bool) {
        // Without a bell it was ESC that ended the string, and the rest of `ESC \` is to come.
        self.has_ended = bell_terminated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a text to an open sequence; returns how many characters it took, and what it let out.
    fn follow(text: &str) -> (usize, String) {
        let (mut escape, mut out) = (Escape::default(), String::new());
        let mut taken = 0;
        for c in text.chars() {
            escape.feed(c, &mut out);
            taken += 1;
            if !escape.is_open() {
                break;
            }
        }
        (taken, out)
    }

    #[test]
    fn ends_with_the_last_character_of_the_sequence() {
        let cases = [
            "\x1b[1;31m",
            "\x1b[?1049h",
            "\x1bc",
            "\x1b(B",
            "\x1b]0;title\x07",
            "\x1b]0;title\x1b\\",
            "\x1b]0;títle\u{9c}",
            "\x1bP1;2qdata ✜\x1b\\",
            "\x1b_payload\x1b\\",
            "\x1b^payload\x1b\\",
            "\x1bXpayload\u{9c}",
            "\u{9b}31m",
            "\u{85}",
            "\x1b[31\x18",
        ];
        for text in cases {
            let all = text.chars().count();
            assert_eq!(
                follow(&format!("{text}x")),
                (all, String::new()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_silent_end_is_noticed_at_the_next_character() {
        for (text, shown) in [("\x1b[1<mé", "é"), ("\x1b[1<m\u{202e}", "<U+202E>")] {
            let all = text.chars().count();
            assert_eq!(follow(text), (all, shown.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn gives_up_at_a_newline_and_when_too_long() {
        let (mut escape, mut out) = (Escape::default(), String::new());
        "\x1b]".chars().for_each(|c| escape.feed(c, &mut out));
        assert!(escape.must_abort('\n') && !escape.must_abort('a'));
        "é".repeat(LONGEST / 2)
            .chars()
            .for_each(|c| escape.feed(c, &mut out));
        assert!(escape.must_abort('a') && !escape.must_abort('\x1b'));
    }
}
