//! Two runs side by side: how each ended, how long it took, and the first line in which their outputs differ.

use crate::domain::{OutputChunk, Run, StreamId, StreamKind};

/// Bytes of each output that are compared.
const MOST: usize = 1 << 20;

/// Two runs whose outputs are being read.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparing {
    sides: [Side; 2],
}

#[derive(Debug, Clone, PartialEq)]
struct Side {
    run: Run,
    stream: StreamId,
    printed: Printed,
    ended: bool,
}

/// What a run printed, as far as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Printed {
    /// On standard output.
    pub stdout: Vec<u8>,
    /// On standard error.
    pub stderr: Vec<u8>,
    /// Is there more of it?
    pub cut: bool,
}

impl Printed {
    fn add(&mut self, chunk: &OutputChunk) {
        let kept = match chunk.stream {
            StreamKind::Stdout => &mut self.stdout,
            StreamKind::Stderr => &mut self.stderr,
        };
        let room = MOST.saturating_sub(kept.len());
        self.cut |= chunk.bytes.len() > room;
        kept.extend(chunk.bytes.iter().take(room));
    }
}

/// Where two outputs differ first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// They are the same.
    None,
    /// They are the same as far as they were kept and read.
    NoneSeen,
    /// In this line.
    At {
        /// Of which stream.
        stream: StreamKind,
        /// Its number, from 1.
        line: usize,
        /// The line in each; `None` where the output has ended.
        texts: [Option<String>; 2],
    },
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The older run and the newer one.
    pub runs: [Run; 2],
    /// Where their outputs differ first.
    pub difference: Difference,
}

/// Finds the first difference: in standard output, else in standard error.
#[must_use]
pub fn difference(one: &Printed, other: &Printed) -> Difference {
    let streams = [
        (StreamKind::Stdout, &one.stdout, &other.stdout),
        (StreamKind::Stderr, &one.stderr, &other.stderr),
    ];
    let mut found = streams.into_iter().filter_map(|(stream, a, b)| {
        let (line, texts) = first_line(a, b)?;
        Some(Difference::At {
            stream,
            line,
            texts,
        })
    });
    let same = if one.cut || other.cut {
        Difference::NoneSeen
    } else {
        Difference::None
    };
    found.next().unwrap_or(same)
}

/// Finds the first line that is not the same; `None` stands for the end.
fn first_line(a: &[u8], b: &[u8]) -> Option<(usize, [Option<String>; 2])> {
    let (mut a, mut b) = (lines(a), lines(b));
    for number in 1.. {
        let pair = [a.next(), b.next()];
        match pair {
            [None, None] => return None,
            [one, other] if one == other => {}
            pair => {
                let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
                return Some((number, pair.map(|line| line.map(text))));
            }
        }
    }
    None
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let all = (!text.is_empty()).then(|| text.split_inclusive(|byte| *byte == b'\n'));
    all.into_iter().flatten()
}

impl Comparing {
    /// Starts to read what two runs printed, each from a stream.
    #[must_use]
    pub fn new(pair: [(Run, StreamId); 2]) -> Self {
        let sides = pair.map(|(run, stream)| Side {
            run,
            stream,
            printed: Printed::default(),
            ended: false,
        });
        Self { sides }
    }

    fn side(&mut self, stream: StreamId) -> Option<&mut Side> {
        self.sides.iter_mut().find(|side| side.stream == stream)
    }

    /// Takes a piece of output; false if it is not for this.
    pub fn add(&mut self, stream: StreamId, chunk: &OutputChunk) -> bool {
        let side = self.side(stream);
        side.map(|side| side.printed.add(chunk)).is_some()
    }

    /// Takes that some output was not kept; false if it is not for this.
    pub fn miss(&mut self, stream: StreamId) -> bool {
        let side = self.side(stream);
        side.map(|side| side.printed.cut = true).is_some()
    }

    /// Takes that a stream has ended; false if it is not for this.
    pub fn end(&mut self, stream: StreamId) -> bool {
        let side = self.side(stream);
        side.map(|side| side.ended = true).is_some()
    }

    /// Compares when both have ended.
    #[must_use]
    pub fn outcome(&self) -> Option<Comparison> {
        let [one, other] = &self.sides;
        (one.ended && other.ended).then(|| Comparison {
            runs: [one.run.clone(), other.run.clone()],
            difference: difference(&one.printed, &other.printed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(stdout: &str, stderr: &str) -> Printed {
        Printed {
            stdout: stdout.into(),
            stderr: stderr.into(),
            cut: false,
        }
    }

    fn at(stream: StreamKind, line: usize, texts: [Option<&str>; 2]) -> Difference {
        Difference::At {
            stream,
            line,
            texts: texts.map(|text| text.map(str::to_owned)),
        }
    }

    #[test]
    fn the_first_line_that_differs_is_found() {
        use StreamKind::{Stderr, Stdout};
        let cases = [
            (("", ""), ("", ""), Difference::None),
            (("a\nb\n", "w"), ("a\nb\n", "w"), Difference::None),
            (
                ("a\nb\n", "w"),
                ("a\nc\n", "v"),
                at(Stdout, 2, [Some("b\n"), Some("c\n")]),
            ),
            (("a\n", ""), ("a\nb", ""), at(Stdout, 2, [None, Some("b")])),
            (
                ("a\n", ""),
                ("a", ""),
                at(Stdout, 1, [Some("a\n"), Some("a")]),
            ),
            (("a", "x\n"), ("a", ""), at(Stderr, 1, [Some("x\n"), None])),
        ];
        for (one, other, wanted) in cases {
            let (a, b) = (printed(one.0, one.1), printed(other.0, other.1));
            assert_eq!(difference(&a, &b), wanted, "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_was_not_kept_is_not_called_the_same() {
        let mut cut = printed("a\n", "");
        cut.cut = true;
        assert_eq!(difference(&cut, &printed("a\n", "")), Difference::NoneSeen);
        let mut long = Printed::default();
        long.add(&OutputChunk {
            stream: StreamKind::Stdout,
            bytes: vec![b'x'; MOST + 1].into(),
        });
        assert!(long.cut && long.stdout.len() == MOST);
    }
}
