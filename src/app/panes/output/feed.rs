//! One of the two streams of a run: bytes in, lines out, each in the place where its first byte came.

use chrono::{DateTime, Utc};

use super::line::OutputLine;
use crate::domain::StreamKind;
use crate::text::{LineParser, Ring, StyledLine};

/// One of the two streams of a run.
pub(super) struct Feed {
    pub(super) kind: StreamKind,
    parser: LineParser,
    /// When the open line began.
    began: DateTime<Utc>,
    /// The number that the open line has already, because the other stream went on after it.
    place: Option<u64>,
}

impl Feed {
    pub(super) fn new(kind: StreamKind) -> Self {
        Self {
            kind,
            parser: LineParser::new(),
            began: DateTime::default(),
            place: None,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], now: DateTime<Utc>, lines: &mut Ring<OutputLine>) {
        if self.parser.is_blank() {
            self.began = now;
        }
        let Self {
            kind, began, place, ..
        } = self;
        self.parser.push(bytes, &mut |line| {
            put(lines, place.take(), output_line(line, *kind, *began));
            *began = now;
        });
        if let (Some(number), Some(open)) = (self.place, self.partial()) {
            lines.replace(number, open);
        }
    }

    /// Gives the open line the next number: what comes now stands below it, also if it goes on.
    pub(super) fn take_place(&mut self, lines: &mut Ring<OutputLine>) {
        if let (None, Some(open)) = (self.place, self.partial()) {
            self.place = Some(lines.end());
            lines.push(open);
        }
    }

    pub(super) fn finish(&mut self, lines: &mut Ring<OutputLine>) {
        let Self {
            kind, began, place, ..
        } = self;
        self.parser.finish(&mut |line| {
            put(lines, place.take(), output_line(line, *kind, *began));
        });
    }

    /// Tells whether no line is open.
    pub(super) fn is_blank(&self) -> bool {
        self.parser.is_blank()
    }

    /// Tells whether a line is open that stands below all others.
    pub(super) fn is_open_at_end(&self) -> bool {
        self.place.is_none() && !self.is_blank()
    }

    /// Returns the open line as it is so far.
    pub(super) fn partial(&self) -> Option<OutputLine> {
        let line = self.parser.partial()?;
        Some(output_line(line, self.kind, self.began))
    }
}

fn output_line(line: StyledLine, stream: StreamKind, at: DateTime<Utc>) -> OutputLine {
    OutputLine { line, stream, at }
}

/// Puts a finished line in its place, else below all others.
fn put(lines: &mut Ring<OutputLine>, place: Option<u64>, line: OutputLine) {
    match place {
        Some(number) => lines.replace(number, line),
        None => lines.push(line),
    }
}
