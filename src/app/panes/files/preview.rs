//! The start of a file, kept as it came and cut into lines once; drawing makes only the visible ones safe.

use std::str;

use crate::domain::SandboxPath;
use crate::protocol::Failure;

/// The most bytes of a file that are read for its preview.
pub const PREVIEW_LIMIT: usize = 256 * 1024;

/// How many bytes one line of a hex dump shows; with their letters they fit into half of 80 columns.
pub const HEX_WIDTH: usize = 8;

/// What is known of the start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Which file.
    pub path: SandboxPath,
    /// What it holds, or why that is not known.
    pub content: Result<Content, Failure>,
    /// The first line on screen.
    pub offset: usize,
}

/// The start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    bytes: Vec<u8>,
    shape: Shape,
    is_truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// Text, with where each of its lines starts.
    Text(Vec<usize>),
    Hex,
}

/// One line of a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewLine<'a> {
    /// A line of text, neither safe nor short.
    Text(&'a [u8]),
    /// Some bytes and where they are.
    Hex(usize, &'a [u8]),
}

impl Content {
    /// Looks at the start of a file.
    #[must_use]
    pub fn new(mut bytes: Vec<u8>, is_truncated: bool) -> Self {
        let is_truncated = is_truncated || bytes.len() > PREVIEW_LIMIT;
        bytes.truncate(PREVIEW_LIMIT);
        let shape = match text_length(&bytes, is_truncated) {
            Some(length) => {
                bytes.truncate(length);
                Shape::Text(line_starts(&bytes))
            }
            None => Shape::Hex,
        };
        Self {
            bytes,
            shape,
            is_truncated,
        }
    }

    /// Tells whether the file goes on after what is known of it.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Tells whether the file holds no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.shape {
            Shape::Text(starts) => starts.len(),
            Shape::Hex => self.bytes.len().div_ceil(HEX_WIDTH),
        }
    }

    /// Returns a line.
    #[must_use]
    pub fn line(&self, index: usize) -> Option<PreviewLine<'_>> {
        match &self.shape {
            Shape::Text(starts) => self.text_line(starts, index),
            Shape::Hex => self.hex_line(index),
        }
    }

    fn text_line(&self, starts: &[usize], index: usize) -> Option<PreviewLine<'_>> {
        let end = starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let line = self.bytes.get(*starts.get(index)?..end)?;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Some(PreviewLine::Text(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    fn hex_line(&self, index: usize) -> Option<PreviewLine<'_>> {
        let bytes = self.bytes.chunks(HEX_WIDTH).nth(index)?;
        Some(PreviewLine::Hex(index * HEX_WIDTH, bytes))
    }
}

/// Returns how much of the bytes is text; `None` when they are none.
fn text_length(bytes: &[u8], is_truncated: bool) -> Option<usize> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    match str::from_utf8(bytes) {
        Ok(_) => Some(bytes.len()),
        // The cut may be in the middle of a character.
        Err(error) if is_truncated && error.error_len().is_none() => Some(error.valid_up_to()),
        Err(_) => None,
    }
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let after_newlines = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
    let starts = std::iter::once(0).chain(after_newlines);
    // A newline at the end begins no line.
    starts.filter(|start| *start < bytes.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(content: &Content) -> Vec<PreviewLine<'_>> {
        (0..content.len())
            .filter_map(|index| content.line(index))
            .collect()
    }

    #[test]
    fn text_is_cut_into_lines() {
        let content = Content::new(b"a\r\n\nlast\n".to_vec(), false);
        let expected: [&[u8]; 3] = [b"a", b"", b"last"];
        assert_eq!(texts(&content), expected.map(PreviewLine::Text));
        assert_eq!(content.line(3), None);
        assert_eq!(Content::new(Vec::new(), false).len(), 0);
    }

    #[test]
    fn what_is_no_text_is_hex() {
        for bytes in [b"a\0b".to_vec(), b"a\xffb".to_vec(), b"a\xc3".to_vec()] {
            let content = Content::new(bytes.clone(), false);
            assert_eq!(texts(&content), [PreviewLine::Hex(0, &bytes)]);
        }
        let content = Content::new(vec![0; 33], false);
        assert_eq!(content.line(4), Some(PreviewLine::Hex(32, &[0])));
    }

    #[test]
    fn a_cut_character_does_not_make_it_hex() {
        let content = Content::new(b"a\xc3".to_vec(), true);
        assert_eq!(texts(&content), [PreviewLine::Text(b"a")]);
        let long = Content::new("é".repeat(PREVIEW_LIMIT).into_bytes(), false);
        assert!(long.is_truncated() && long.len() == 1);
    }
}
