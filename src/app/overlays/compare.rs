//! Two runs side by side: how each ended, how long it took, and the first line in which their outputs differ.

use super::history::HistoryPanel;
use super::overlay::Overlay;
use crate::app::input::on_action::{open, submit};
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect};
use crate::domain::{OutputChunk, Run, StreamId, StreamKind};
use crate::protocol::{Command, Upto};

/// Bytes of each output that are compared.
const MOST: usize = 1 << 20;

/// Two runs whose outputs are being read.
#[derive(Debug)]
pub struct Comparing {
    sides: [Side; 2],
}

#[derive(Debug)]
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
    /// The list to go back to.
    pub back: Option<Box<HistoryPanel>>,
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

/// Reads what both runs printed so far.
pub(crate) fn begin(state: &mut AppState, pair: [Run; 2]) -> Vec<Effect> {
    let sides = pair.map(|run| Side {
        run,
        stream: state.pending.stream(),
        printed: Printed::default(),
        ended: false,
    });
    let commands = sides.each_ref().map(|side| {
        let command = Command::ReadRun {
            host: side.run.sandbox.host.clone(),
            run: side.run.id.clone(),
            stream: side.stream,
            upto: Upto::Now,
        };
        (command, side.stream)
    });
    state.comparing = Some(Comparing { sides });
    let effects = commands.into_iter().map(|(command, stream)| {
        submit(
            state,
            command,
            "reading what was printed",
            ReplyTo::Stream(stream),
        )
    });
    effects.collect()
}

fn side(state: &mut AppState, stream: StreamId) -> Option<&mut Side> {
    let comparing = state.comparing.as_mut()?;
    comparing.sides.iter_mut().find(|s| s.stream == stream)
}

/// Takes a piece of output; false if it is not for a comparison.
pub(crate) fn add(state: &mut AppState, stream: StreamId, chunk: &OutputChunk) -> bool {
    let side = side(state, stream);
    side.map(|side| side.printed.add(chunk)).is_some()
}

/// Takes that some output was not kept; false if it is not for a comparison.
pub(crate) fn missing(state: &mut AppState, stream: StreamId) -> bool {
    let side = side(state, stream);
    side.map(|side| side.printed.cut = true).is_some()
}

/// Takes that all is read; after both, the comparison is shown. False if it is not for one.
pub(crate) fn ended(state: &mut AppState, stream: StreamId) -> bool {
    let Some(side) = side(state, stream) else {
        return false;
    };
    side.ended = true;
    let is_done = |comparing: &mut Comparing| comparing.sides.iter().all(|side| side.ended);
    if let Some(done) = state.comparing.take_if(is_done) {
        show(state, done);
    }
    true
}

fn show(state: &mut AppState, done: Comparing) {
    let [one, other] = &done.sides;
    let difference = difference(&one.printed, &other.printed);
    let runs = done.sides.map(|side| side.run);
    // Whoever has gone on to something else meanwhile is left alone.
    let back = match state.view.overlay.take() {
        Some(Overlay::History(panel)) => Some(panel),
        None => None,
        other => {
            state.view.overlay = other;
            return;
        }
    };
    let comparison = Comparison {
        runs,
        difference,
        back,
    };
    open(state, Overlay::Comparison(Box::new(comparison)));
}

/// Closes the comparison at any key, and goes back to the list.
pub(crate) fn close(state: &mut AppState, comparison: Comparison) -> Vec<Effect> {
    state.view.overlay = comparison.back.map(Overlay::History);
    Vec::new()
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
