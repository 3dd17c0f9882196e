//! The last lines that a command printed, whole and bounded.

use std::collections::VecDeque;

use crate::domain::StreamKind;

/// Lines that are kept.
const LAST_LINES: usize = 24;
/// Bytes of one line that are kept.
const LONGEST_LINE: usize = 600;

/// The last lines of a command; both streams, each line whole.
#[derive(Debug, Default)]
pub(super) struct OutputTail {
    lines: VecDeque<String>,
    /// What has no end yet, of both streams.
    partial: [Vec<u8>; 2],
}

impl OutputTail {
    /// Goes through the lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter()
    }

    /// Takes bytes and returns the lines that they end.
    pub(super) fn add(&mut self, stream: StreamKind, bytes: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        let partial = match stream {
            StreamKind::Stdout => &mut self.partial[0],
            StreamKind::Stderr => &mut self.partial[1],
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(partial.len());
            partial.extend(piece.iter().take(room).filter(|byte| **byte != b'\n'));
            if piece.ends_with(b"\n") {
                whole.extend(line(&std::mem::take(partial)));
            }
        }
        self.lines.extend(whole.iter().cloned());
        let over = self.lines.len().saturating_sub(LAST_LINES);
        self.lines.drain(..over);
        whole
    }

    /// Takes what came without a line's end.
    pub(super) fn flush(&mut self) {
        for partial in &mut self.partial {
            self.lines.extend(line(&std::mem::take(partial)));
        }
    }

    /// Reads the number that the first line starts with.
    pub(super) fn first_number(&self) -> Option<u64> {
        let word = self.lines.front()?.split_whitespace().next()?;
        Some(word.parse().unwrap_or(0))
    }
}

fn line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_and_none_grows() {
        let mut tail = OutputTail::default();
        for number in 0..100 {
            tail.add(StreamKind::Stderr, format!("err {number}\nla").as_bytes());
            tail.add(StreamKind::Stderr, b"st\n\n");
        }
        tail.add(StreamKind::Stdout, &vec![b'x'; 100_000]);
        tail.flush();
        assert!(tail.lines.len() <= LAST_LINES + 1);
        assert_eq!(tail.lines.back().map(String::len), Some(LONGEST_LINE));
        assert!(tail.lines.contains(&"err 99".to_owned()));
        assert!(tail.lines.contains(&"last".to_owned()));
    }
}
