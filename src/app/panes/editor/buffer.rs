//! One buffer: a text, what it is called, where it came from and how it is looked at.

use std::cell::Cell;
use std::fmt;

use chrono::{DateTime, Utc};

use super::analysis::Known;
use super::text::Text;
use super::view::View;
use crate::code::Language;
use crate::domain::{SandboxPath, SandboxRef};

/// The most lines of a text that is edited.
pub const MAX_LINES: usize = 100_000;
/// The most bytes of a text that is edited.
pub const MAX_BYTES: usize = 2 << 20;
/// The most characters of a line that is edited; the text area counts them in 16 bits.
pub const MAX_LINE: usize = 60_000;

/// The file that a buffer shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Where it is.
    pub sandbox: SandboxRef,
    /// Which file.
    pub path: SandboxPath,
    /// When it was last changed, as we know it.
    pub known: Option<DateTime<Utc>>,
}

/// Why a buffer cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// It is not UTF-8, so that saving would spoil it.
    NotText,
    /// Its lines are too long to be edited without lag.
    LongLines,
}

impl fmt::Display for ReadOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotText => "it is not UTF-8 text",
            Self::LongLines => "its lines are too long",
        })
    }
}

/// A save that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saving {
    pub(super) path: SandboxPath,
    /// The state of the text that is written.
    pub(super) state: u64,
}

/// A text in the editor.
#[derive(Debug)]
pub struct Buffer {
    /// Tells it from all others, also after some were closed.
    pub(super) id: u64,
    /// What it is called.
    pub name: String,
    /// What it is written in.
    pub language: Option<Language>,
    /// The file it shows; `None` for one that was never saved.
    pub origin: Option<Origin>,
    /// Why it cannot be changed, if it cannot.
    pub read_only: Option<ReadOnly>,
    /// Whether its lines end in `\r\n` in the file; here they never do.
    pub(super) has_crlf: bool,
    /// The text.
    pub text: Text,
    /// The state of the text that is in the file; `None` is no state at all.
    pub(super) saved: Option<u64>,
    pub(super) saving: Option<Saving>,
    /// What is known of its code.
    pub known: Known,
    pub(super) view: Cell<View>,
}

impl Buffer {
    pub(super) fn new(id: u64, name: String, lines: Vec<String>) -> Self {
        let text = Text::new(lines);
        Self {
            id,
            name,
            language: None,
            origin: None,
            read_only: None,
            has_crlf: false,
            saved: Some(text.state()),
            text,
            saving: None,
            known: Known::default(),
            view: Cell::default(),
        }
    }

    /// Creates a buffer without a file; its name follows its language.
    pub(super) fn untitled(id: u64, language: Option<Language>, text: &str) -> Self {
        let mut buffer = Self::new(id, String::new(), split(text));
        buffer.set_language(language);
        buffer
    }

    /// Tells whether it holds something that is not in its file.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.saved != Some(self.text.state())
    }

    /// Chooses the language, and with it the colours and the name of a buffer without a file.
    pub(super) fn set_language(&mut self, language: Option<Language>) {
        if self.origin.is_none()
            && let Some(language) = &language
        {
            let number = match self.id {
                1 => String::new(),
                id => format!("-{id}"),
            };
            self.name = format!("untitled{number}.{}", language.extension());
        }
        let token = language
            .as_ref()
            .map_or(ending(&self.name), Language::extension);
        self.text.highlight.set_token(Some(token.to_owned()));
        self.language = language;
    }

    /// Returns the text as it is written to its file.
    pub(super) fn file_text(&self) -> String {
        let end = if self.has_crlf { "\r\n" } else { "\n" };
        self.text.lines().join(end)
    }

    /// Explains why text cannot be put in, if it cannot.
    pub(super) fn refusal(&self, more: &str) -> Option<String> {
        if let Some(reason) = self.read_only {
            return Some(format!("{} is read-only: {reason}", self.name));
        }
        // Taking away is always possible, whatever joined lines have grown to.
        if more.is_empty() {
            return None;
        }
        let lines = self.text.lines().len() + more.matches('\n').count();
        let bytes = self.text.bytes() + more.len();
        let here = self.text.line(self.text.cursor().0).len();
        too_big(lines, bytes, here + longest(more))
            .map(|limit| format!("Nothing was put in: the editor takes at most {limit}"))
    }
}

/// Names the limit that a text is over, if it is.
pub(super) fn too_big(lines: usize, bytes: usize, longest: usize) -> Option<String> {
    if lines > MAX_LINES {
        return Some(format!("{MAX_LINES} lines"));
    }
    if bytes > MAX_BYTES {
        return Some(format!("{} MiB", MAX_BYTES >> 20));
    }
    (longest > MAX_LINE).then(|| format!("{MAX_LINE} characters in a line"))
}

/// Returns the bytes of the longest line.
pub(super) fn longest(text: &str) -> usize {
    text.split('\n').map(str::len).max().unwrap_or(0)
}

/// Splits a text into lines; a newline at the end is an empty last line, so that joining gives the same text.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// Returns the ending of a file name, or the whole name of `Makefile` and the like.
pub(super) fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
