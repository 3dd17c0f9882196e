//! Splits a line into rows of a given width, between clusters only.

use std::ops::Range;

use super::width::{display_width, split_cluster};

/// Splits a text into rows of at most `width` columns; an empty text is one empty row.
///
/// A cluster wider than the row stands alone in one.
#[must_use]
pub fn rows(text: &str, width: usize) -> Rows<'_> {
    Rows {
        text,
        start: Some(0),
        width: width.max(1),
        is_ascii: text.is_ascii(),
    }
}

/// Returns how many rows a text takes.
#[must_use]
pub fn row_count(text: &str, width: usize) -> usize {
    if text.is_ascii() {
        text.len().div_ceil(width.max(1)).max(1)
    } else {
        rows(text, width).count()
    }
}

/// Splits a sentence into lines of at most `width` columns, between words where they fit.
#[must_use]
pub fn wrapped(sentence: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        let line = lines.last_mut();
        let fits = |line: &&mut String| display_width(line) + 1 + display_width(word) <= width;
        if let Some(line) = line.filter(fits) {
            *line = format!("{line} {word}");
            continue;
        }
        let pieces = rows(word, width).filter_map(|piece| word.get(piece));
        lines.extend(pieces.map(str::to_owned));
    }
    lines
}

/// The rows of a text, as ranges of bytes; nothing is measured before it is asked for.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    text: &'a str,
    start: Option<usize>,
    width: usize,
    is_ascii: bool,
}

impl Iterator for Rows<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.start?;
        let rest = self.text.get(start..)?;
        let length = if self.is_ascii {
            rest.len().min(self.width)
        } else {
            fitting(rest, self.width)
        };
        let end = start + length;
        self.start = (end < self.text.len()).then_some(end);
        Some(start..end)
    }
}

/// Returns the bytes of the first clusters that fit, but at least one.
fn fitting(text: &str, width: usize) -> usize {
    let (mut rest, mut used) = (text, 0);
    while let Some((cluster, after)) = split_cluster(rest) {
        used += display_width(cluster);
        if used > width {
            break;
        }
        rest = after;
    }
    let taken = text.len() - rest.len();
    if taken > 0 {
        return taken;
    }
    split_cluster(text).map_or(0, |(cluster, _)| cluster.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, width: usize) -> Vec<&str> {
        rows(text, width).filter_map(|row| text.get(row)).collect()
    }

    #[test]
    fn sentences_are_split_between_words() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("", 4, &[""]),
            ("one two", 7, &["one two"]),
            ("one two", 6, &["one", "two"]),
            ("a very-long-word b", 6, &["a", "very-l", "ong-wo", "rd b"]),
            ("漢 字漢", 4, &["漢", "字漢"]),
        ];
        for (sentence, width, expected) in cases {
            assert_eq!(wrapped(sentence, *width), *expected, "{sentence} {width}");
        }
    }

    #[test]
    fn splits_between_clusters() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("", 4, &[""]),
            ("abcd", 4, &["abcd"]),
            ("abcde", 4, &["abcd", "e"]),
            ("abc", 0, &["a", "b", "c"]),
            ("漢字漢", 4, &["漢字", "漢"]),
            ("a漢字", 4, &["a漢", "字"]),
            ("漢字", 1, &["漢", "字"]),
            ("e\u{301}e\u{301}x", 2, &["e\u{301}e\u{301}", "x"]),
            ("👩\u{200d}👧x", 2, &["👩\u{200d}👧", "x"]),
        ];
        for (text, width, expected) in cases {
            assert_eq!(&split(text, *width), expected, "{text:?} in {width}");
            assert_eq!(row_count(text, *width), expected.len(), "{text:?}");
        }
    }
}
