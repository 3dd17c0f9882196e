//! Turns the bytes of a program into lines with their colours, and everything else in them harmless.
//!
//! What holds for [`SafeStream`](super::SafeStream) holds here: the cut between chunks does not matter,
//! sequences are dropped whole, a sequence without an end hides little, hidden characters get a mark.
//! Kept are colours and attributes. Obeyed are tab, carriage return, backspace and the erasing of the
//! line, which progress bars need; none of them can reach another line.

use vte::Params;

use super::decode::Decoder;
use super::draft::{Draft, StyledLine};
use super::escape::{Escape, Outlet};
use super::hidden::{is_hidden, push_mark};
use super::style::TextStyle;

/// The bytes looked at together by the fast path; a size that compilers turn into vector code.
const BLOCK: usize = 16;

/// The bytes of a sequence that the fast path reads.
const SHORT: usize = 64;

/// The most parameters that the fast path reads.
const FEW: usize = 16;

/// Makes lines of a stream of chunks, in a few KiB whatever comes in.
#[derive(Default)]
pub struct LineParser {
    decoder: Decoder,
    writer: Writer,
}

impl LineParser {
    /// Creates a parser that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes and hands over each line that they end.
    pub fn push(&mut self, bytes: &[u8], emit: &mut impl FnMut(StyledLine)) {
        let Self { decoder, writer } = self;
        decoder.push(bytes, &mut |text| writer.push(text, emit));
    }

    /// Ends the stream: what stands in the open line is handed over.
    pub fn finish(&mut self, emit: &mut impl FnMut(StyledLine)) {
        let Self { decoder, writer } = self;
        decoder.finish(&mut |text| writer.push(text, emit));
        emit_open(self.partial(), emit);
        *self = Self::default();
    }

    /// Tells whether nothing stands in the open line.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.writer.pen.draft.is_blank()
    }

    /// Returns the line that has not ended yet, if anything stands in it.
    #[must_use]
    pub fn partial(&self) -> Option<StyledLine> {
        (!self.is_blank()).then(|| self.writer.pen.draft.line())
    }
}

fn emit_open(line: Option<StyledLine>, emit: &mut impl FnMut(StyledLine)) {
    if let Some(line) = line {
        emit(line);
    }
}

#[derive(Default)]
struct Writer {
    escape: Escape,
    pen: Pen,
}

impl Writer {
    fn push(&mut self, mut text: &str, emit: &mut impl FnMut(StyledLine)) {
        while !text.is_empty() {
            text = if self.escape.is_open() {
                self.follow(text)
            } else {
                self.write(text, emit)
            };
        }
    }

    /// Passes one character to the open sequence, or gives the sequence up; returns the rest.
    fn follow<'a>(&mut self, text: &'a str) -> &'a str {
        let mut chars = text.chars();
        let Some(c) = chars.next() else { return "" };
        if self.escape.must_abort(c) {
            self.escape = Escape::default();
            return text;
        }
        self.escape.feed(c, &mut self.pen);
        chars.as_str()
    }

    /// Takes clean text and the special character after it; returns the rest.
    fn write<'a>(&mut self, text: &'a str, emit: &mut impl FnMut(StyledLine)) -> &'a str {
        let (clean, rest) = text
            .split_at_checked(clean_length(text))
            .unwrap_or_default();
        if !clean.is_empty() {
            self.pen.draft.write(clean, self.pen.style);
        }
        if let Some(rest) = self.pen.read_csi(rest) {
            return rest;
        }
        let mut chars = rest.chars();
        if let Some(c) = chars.next() {
            self.obey(c, emit);
        }
        chars.as_str()
    }

    fn obey(&mut self, c: char, emit: &mut impl FnMut(StyledLine)) {
        match c {
            '\n' => emit(self.pen.end_line()),
            '\t' => self.pen.control(b'\t'),
            '\r' => self.pen.control(b'\r'),
            '\u{8}' => self.pen.control(0x08),
            c if Escape::is_start(c) => self.escape.feed(c, &mut self.pen),
            c if is_hidden(c) => self.pen.show(c),
            _ => (),
        }
    }
}

/// Writes into the open line.
#[derive(Default)]
struct Pen {
    style: TextStyle,
    draft: Draft,
}

impl Pen {
    fn end_line(&mut self) -> StyledLine {
        let line = self.draft.line();
        self.draft.clear();
        line
    }

    /// Reads a whole and simple control sequence at once, since coloured output is full of them;
    /// returns the rest, or nothing when the sequence needs the long way.
    fn read_csi<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let sequence = text.strip_prefix("\x1b[")?;
        let mut start = sequence.bytes().take(SHORT);
        let end = start.position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
        let (digits, rest) = sequence.split_at_checked(end)?;
        let action = rest.chars().next().filter(|c| matches!(c, '@'..='~'))?;
        let mut params = [0; FEW];
        let last = read_params(digits, &mut params)?;
        self.run_csi(params.get(..=last)?.chunks(1), action);
        rest.get(1..)
    }

    fn run_csi<'a>(&mut self, mut params: impl Iterator<Item = &'a [u16]>, action: char) {
        if action == 'm' {
            return self.style.apply(params);
        }
        let first = params.next().and_then(<[u16]>::first).copied();
        match (action, first.unwrap_or(0)) {
            ('K', 0) => self.draft.erase_rest(),
            // The place goes to the start, which is where programs that do this go next.
            ('K', 2) => self.draft.clear(),
            ('G', 0 | 1) => self.control(b'\r'),
            _ => (),
        }
    }
}

impl Outlet for Pen {
    fn show(&mut self, c: char) {
        let mut buffer = [0; 4];
        if !is_hidden(c) {
            return self.draft.write(c.encode_utf8(&mut buffer), self.style);
        }
        let mut mark = String::new();
        push_mark(c, &mut mark);
        self.draft.write(&mark, self.style);
    }

    fn control(&mut self, byte: u8) {
        self.draft.control(byte, self.style);
    }

    fn csi(&mut self, params: &Params, action: char) {
        self.run_csi(params.iter(), action);
    }
}

/// Reads numbers with semicolons between them; returns the place of the last, unless they are too many.
fn read_params(digits: &str, params: &mut [u16; FEW]) -> Option<usize> {
    let mut last = 0;
    for byte in digits.bytes() {
        if byte == b';' {
            last += 1;
            continue;
        }
        let param = params.get_mut(last)?;
        *param = with_digit(*param, byte);
    }
    Some(last)
}

fn with_digit(param: u16, digit: u8) -> u16 {
    param
        .saturating_mul(10)
        .saturating_add(u16::from(digit - b'0'))
}

/// Returns how many bytes at the start need no care.
fn clean_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let blocks = bytes.chunks_exact(BLOCK);
    let plain = BLOCK * blocks.take_while(|block| is_plain(block)).count();
    let mut rest = bytes.iter().skip(plain);
    let Some(found) = rest.position(|byte| !matches!(byte, 0x20..=0x7e)) else {
        return bytes.len();
    };
    let rest = text.get(plain + found..).unwrap_or_default();
    let more = rest.find(|c: char| c.is_control() || is_hidden(c));
    plain + found + more.unwrap_or(rest.len())
}

/// Tells whether a block is printable ASCII only.
fn is_plain(block: &[u8]) -> bool {
    // No early exit: a loop without branches becomes vector code.
    block
        .iter()
        .fold(true, |plain, byte| plain & matches!(byte, 0x20..=0x7e))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
