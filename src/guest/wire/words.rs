//! Lines of words: any bytes, escaped, one space in between.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Writes any bytes as an argument that survives JSON and command lines.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b',' | b':' => {
                out.push(char::from(*byte));
            }
            other => push_hex(&mut out, *other),
        }
    }
    out
}

fn push_hex(out: &mut String, byte: u8) {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

/// Reads what [`escape`] wrote.
#[must_use]
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| hex_byte(after)).flatten();
        out.push(code.unwrap_or(*first));
        rest = after
            .get(if code.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    out
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

/// A line being written.
#[derive(Debug, Default)]
pub(super) struct LineWriter(String);

impl LineWriter {
    /// Begins with a word that says what the line is.
    pub(super) fn new(first: &str) -> Self {
        Self(escape(first.as_bytes()))
    }

    /// Adds a word.
    pub(super) fn word(mut self, word: impl AsRef<[u8]>) -> Self {
        self.0.push(' ');
        self.0.push_str(&escape(word.as_ref()));
        self
    }

    /// Adds a number.
    pub(super) fn number<T: ToString + Copy>(self, number: T) -> Self {
        self.word(number.to_string())
    }

    /// Returns the line, without its end.
    pub(super) fn line(self) -> String {
        self.0
    }
}

/// A line being read.
#[derive(Debug, Clone)]
pub(super) struct LineReader<'a>(std::str::Split<'a, char>);

impl<'a> LineReader<'a> {
    /// Reads a line from its first word; its end may be there or not.
    pub(super) fn new(line: &'a str) -> Self {
        Self(line.trim_end_matches(['\n', '\r']).split(' '))
    }

    /// Takes the next word as bytes.
    pub(super) fn bytes(&mut self) -> Option<Vec<u8>> {
        self.0.next().map(unescape)
    }

    /// Takes the next word as text; what is none is made one.
    pub(super) fn text(&mut self) -> Option<String> {
        let bytes = self.bytes()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Takes the next word as a number.
    pub(super) fn number<T: FromStr>(&mut self) -> Option<T> {
        self.text()?.parse().ok()
    }

    /// Takes all words that are left.
    pub(super) fn rest(self) -> Vec<Vec<u8>> {
        self.0.map(unescape).collect()
    }
}

/// Writes `key=value` pairs as one line, values escaped.
pub(super) fn write_fields(fields: &BTreeMap<&str, String>) -> String {
    let words = fields
        .iter()
        .map(|(key, value)| format!("{key}={}", escape(value.as_bytes())));
    words.collect::<Vec<_>>().join(" ")
}

/// Reads what [`write_fields`] wrote; what is no pair is passed over.
pub(super) fn read_fields(line: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(line);
    let pairs = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let value = |value: &str| String::from_utf8_lossy(&unescape(value)).into_owned();
    pairs
        .map(|(key, text)| (key.to_owned(), value(text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_as_an_argument() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(&escape(&all)), all);
        assert_eq!(unescape("100%"), b"100%");
        assert_eq!(unescape("%zz%4"), b"%zz%4");
        assert_eq!(escape(b"/a b"), "/a%20b");
    }

    #[test]
    fn lines_hold_empty_words_numbers_and_line_ends() {
        let line = LineWriter::new("first")
            .word("")
            .word(b"a\n b\xff")
            .number(-7);
        let line = line.line();
        assert_eq!(line.lines().count(), 1);
        let mut words = LineReader::new(&line);
        assert_eq!(words.text().as_deref(), Some("first"));
        assert_eq!(words.bytes().as_deref(), Some(&b""[..]));
        assert_eq!(
            words.clone().rest(),
            [b"a\n b\xff".to_vec(), b"-7".to_vec()]
        );
        assert_eq!(words.bytes().as_deref(), Some(&b"a\n b\xff"[..]));
        assert_eq!(words.number::<u8>(), None, "it is negative");
        assert_eq!(words.number::<i32>(), None, "nothing is left");
    }

    #[test]
    fn fields_survive_and_rubbish_is_passed_over() {
        let fields = BTreeMap::from([("a", "b=c d\n".to_owned()), ("e", String::new())]);
        let line = write_fields(&fields);
        let read = read_fields(format!("rubbish {line} \u{fffd}").as_bytes());
        assert_eq!(read.len(), 2);
        assert_eq!(read.get("a").map(String::as_str), Some("b=c d\n"));
        assert_eq!(read.get("e").map(String::as_str), Some(""));
    }
}
