//! Hostile output: nothing that a terminal obeys gets through, and the cut between chunks does not matter.

#![allow(clippy::indexing_slicing)] // Tests may panic.

use super::super::{SafeStream, safe_line};
use super::*;
use crate::fuzz::Target;

const SEEDS: [&[u8]; 6] = [
    b"a\x1b[1;31mred\x1b[0m!\n",
    b"10%\r20%\x1b[K\x08\tdone\n",
    b"\x1b]52;c;cGF5\x07\x1bP1$rx\x1b\\\x9b5m",
    b"\x1b[38;2;1;2;3m\x1b[48:5:7mx\x1b[2J\x1b[6n",
    b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80 \xe6\xbc\xa2 \xcc\x81",
    b"\xe2\x80\xae\xed\xa0\x80\xff\xc2\x9b",
];

fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StyledLine> {
    let (mut parser, mut lines) = (LineParser::new(), Vec::new());
    for chunk in chunks {
        parser.push(chunk, &mut |line| lines.push(line));
    }
    parser.finish(&mut |line| lines.push(line));
    lines
}

fn is_obeyed(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

#[test]
fn ansi() {
    let target = Target {
        name: "ansi",
        seeds: &SEEDS,
        words: &[
            b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b\\", b"\x9b", b"m", b";", b"\r", b"\x08",
        ],
        cost: 1,
    };
    target.run(|bytes| {
        let whole = lines([bytes]);
        let cut = bytes.len() / 2;
        assert_eq!(lines([&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        for line in &whole {
            assert!(!line.text.contains(char::is_control), "{line:?}");
            assert_eq!(
                line.pieces().map(|(text, _)| text.len()).sum::<usize>(),
                line.text.len()
            );
        }
        let (mut safe, mut stream) = (String::new(), SafeStream::new());
        stream.push(bytes, &mut safe);
        stream.finish(&mut safe);
        assert!(!safe.contains(is_obeyed), "{safe:?}");
        assert!(!safe_line(bytes).contains(char::is_control));
        let styles = whole.iter().map(|line| line.runs.len());
        (whole.len(), styles.sum::<usize>().min(8), safe.len() / 8)
    });
}
