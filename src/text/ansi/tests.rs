//! Tables and properties of the line parser.

use super::super::draft::LONGEST;
use super::super::style::{TextColor, TextFlags};
use super::*;
use crate::text::{display_width, safe_block};

/// Bytes that make trouble, many of them halves of something, with a bar between them.
const TROUBLE: &[u8] = b"\x1b|\x1b[|\x1b]|\x1bP|\x1b\\|\x9b|\xc2\x9b|\xc2\x9c|\xc2|\xe2\x80|\xae|\xf0\x9f|\
    \xe6\xbc\xa2|\xcc\x81|\x07|\x08|\x18|\x1a|\x7f|\n|\r|\t|\0|0;1<?$ |38;5;|48:2::1:2:3|1;31m|m|K|2K|1G|G|;|\
    hello|\x1b[31m|\x1b[0m|\r\x1b[K|\xed\xa0\x80|\xf3\xa0\x81\x81|\xff|9999999";

fn in_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StyledLine> {
    let (mut parser, mut lines) = (LineParser::new(), Vec::new());
    for chunk in chunks {
        parser.push(chunk, &mut |line| lines.push(line));
    }
    parser.finish(&mut |line| lines.push(line));
    lines
}

fn texts(bytes: &[u8]) -> Vec<String> {
    let lines = in_chunks([bytes]);
    lines.into_iter().map(|line| line.text.into()).collect()
}

fn soup(seed: &mut u64, pieces: usize) -> Vec<u8> {
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(*seed >> 33).unwrap_or(0)
    };
    let trouble: Vec<&[u8]> = TROUBLE.split(|&byte| byte == b'|').collect();
    let pick = |n: usize| trouble.get(n % trouble.len()).copied().unwrap_or_default();
    (0..pieces).flat_map(|_| pick(next()).to_vec()).collect()
}

#[test]
fn makes_lines() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"", &[]),
        (b"a\nb", &["a", "b"]),
        (b"a\n\nb\n", &["a", "", "b"]),
        (b"dos\r\nline\r\n", &["dos", "line"]),
        (b"10%\r20%\r100%\n", &["100%"]),
        (b"100%\r5%", &["5%0%"]),
        (b"loading\r\x1b[Kdone", &["done"]),
        (b"loading\x1b[2K\rdone", &["done"]),
        (b"loading\x1b[1Gd", &["doading"]),
        (b"keep\x1b[K\x1b[1Kall", &["keepall"]),
        (b"|\x08/\x08-\x08\\", &["\\"]),
        (b"ab\x08\x08\x08X", &["Xb"]),
        (b"\x08\rx", &["x"]),
        (b"a\tb\tc", &["a       b       c"]),
        ("漢\tb".as_bytes(), &["漢      b"]),
        (b"12345678\tb", &["12345678        b"]),
        (b"abc\r\tz", &["abc     z"]),
        (b"a\x1b[1;31mred\x1b[0m!", &["ared!"]),
        (b"a\x1b[2J\x1b[Hb\x1b[5Ac", &["abc"]),
        (b"a\x1b]52;c;cGF5\x07b\x1bP1$rx\x1b\\c", &["abc"]),
        (b"a\x1b]0;no end\nb", &["a", "b"]),
        (b"a\x1b[?25l\x1b[>4mb\x07\0", &["ab"]),
        (b"\xff\xc3(\xe2\x82", &["\u{fffd}\u{fffd}(\u{fffd}"]),
        ("x\u{202e}y\u{200b}".as_bytes(), &["x<U+202E>y<U+200B>"]),
        ("👩\u{200d}👧".as_bytes(), &["👩\u{200d}👧"]),
    ];
    for (bytes, expected) in cases {
        assert_eq!(&texts(bytes), expected, "{:?}", bytes.escape_ascii());
        let single = in_chunks(bytes.chunks(1));
        let single: Vec<&str> = single.iter().map(|line| &*line.text).collect();
        assert_eq!(&single, expected, "{:?}", bytes.escape_ascii());
    }
}

#[test]
fn keeps_colours_across_pieces_and_lines() {
    let lines = in_chunks([b"a\x1b[1;31mb\nc\x1b[0md\nplain".as_slice()]);
    let red = TextStyle {
        fg: Some(TextColor::Indexed(1)),
        bg: None,
        flags: TextFlags::BOLD,
    };
    let none = TextStyle::default();
    let pieces: Vec<Vec<_>> = lines.iter().map(|line| line.pieces().collect()).collect();
    assert_eq!(
        pieces,
        [
            vec![("a", none), ("b", red)],
            vec![("c", red), ("d", none)],
            vec![("plain", none)]
        ]
    );
    assert!(lines.last().is_some_and(|line| line.runs.is_empty()));
}

#[test]
fn overwriting_brings_its_own_colour() {
    let lines = in_chunks([b"abc\r\x1b[32mX\n".as_slice()]);
    let line = lines.first().cloned().unwrap_or_default();
    let green = Some(TextColor::Indexed(2));
    let pieces: Vec<_> = line
        .pieces()
        .map(|(text, style)| (text, style.fg))
        .collect();
    assert_eq!(pieces, [("X", green), ("bc", None)]);
}

#[test]
fn long_lines_are_cut_and_counted() {
    let bytes = vec![b'x'; 100_000];
    let lines = in_chunks(bytes.chunks(777));
    let line = lines.first().cloned().unwrap_or_default();
    assert_eq!((lines.len(), line.cut), (1, 100_000 - LONGEST as u64));
    assert_eq!(line.note().as_deref(), Some("… +91 808 bytes"));
    assert!(line.text.ends_with("xx… +91 808 bytes"));
    let dim = line
        .pieces()
        .last()
        .map(|(text, style)| (text, style.flags));
    assert_eq!(dim, Some(("… +91 808 bytes", TextFlags::DIM)));
}

#[test]
fn the_open_line_is_visible_at_once() {
    let mut parser = LineParser::new();
    assert!(parser.is_blank() && parser.partial().is_none());
    parser.push(b"10%\r20", &mut |_| ());
    let partial = parser.partial().unwrap_or_default();
    assert_eq!(&*partial.text, "20%");
    parser.push(b"\n\x1b[31", &mut |_| ());
    assert!(parser.is_blank());
}

#[test]
fn the_cut_between_chunks_does_not_matter() {
    let mut seed = 1;
    for round in 0..3_000 {
        let bytes = soup(&mut seed, 2 + round % 30);
        let whole = in_chunks([bytes.as_slice()]);
        for at in 0..=bytes.len() {
            let (start, end) = bytes.split_at(at);
            assert_eq!(
                in_chunks([start, end]),
                whole,
                "{:?} cut at {at}",
                bytes.escape_ascii()
            );
        }
        assert_eq!(
            in_chunks(bytes.chunks(1)),
            whole,
            "{:?}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn nothing_dangerous_comes_out() {
    let mut seed = 2;
    for round in 0..20_000 {
        let bytes = soup(&mut seed, round % 200);
        for line in in_chunks([bytes.as_slice()]) {
            assert!(!line.text.chars().any(|c| c.is_control() || is_hidden(c)));
            let ends: Vec<u32> = line.runs.iter().map(|run| run.0).collect();
            assert!(ends.is_sorted_by(|a, b| a < b));
            assert!(
                ends.last()
                    .is_none_or(|&end| end as usize == line.text.len())
            );
        }
    }
}

#[test]
fn shows_what_the_plain_stream_shows() {
    let mut seed = 3;
    for round in 0..5_000 {
        let mut bytes = soup(&mut seed, round % 60);
        // These are obeyed here and kept or dropped there.
        bytes.retain(|byte| !matches!(byte, b'\t' | b'\r' | 0x08 | b'K' | b'G'));
        let block = safe_block(&bytes);
        let expected: Vec<&str> = block.lines().collect();
        assert_eq!(texts(&bytes), expected, "{:?}", bytes.escape_ascii());
    }
}

#[test]
fn sequences_without_end_hide_little_and_lines_stay_short() {
    for start in ["\x1b]", "\x1bP", "\x1b[", "\u{9d}"] {
        let mut bytes = start.as_bytes().to_vec();
        bytes.extend(std::iter::repeat_n(b';', 200_000));
        let line = in_chunks(bytes.chunks(4096)).pop().unwrap_or_default();
        let hidden = 200_000 - LONGEST as u64 - line.cut;
        assert!(hidden.abs_diff(4096) <= 2, "{start:?} hid {hidden}");
        assert!(display_width(&line.text) < LONGEST + 40);
    }
}
