//! The only place that writes to the terminal: people's text, JSON, errors and notes.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::Failure;
use crate::text::{is_treacherous, safe_block, safe_line};

/// Why a verb ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It failed.
    Failed(Failure),
    /// Nobody reads our output any more; that is no error.
    ClosedPipe,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Result of printing and of verbs.
pub(super) type Outcome<T = ()> = Result<T, Stop>;

/// How a verb's result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Prints a line of people's text, made safe if it goes to a terminal.
pub(super) fn line(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    let written = if out.is_terminal() {
        writeln!(out, "{}", safe_block(text.as_bytes()))
    } else {
        writeln!(out, "{text}")
    };
    check(written.and_then(|()| out.flush()))
}

/// Prints one JSON value on a line.
pub(super) fn json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string(value)
        .unwrap_or_else(|error| json!({"error": error.to_string()}).to_string());
    let mut out = io::stdout().lock();
    check(writeln!(out, "{}", escaped(&text)).and_then(|()| out.flush()))
}

/// Escapes what JSON allows as it is but a terminal may obey or hide: the same value, harmless to look at.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_treacherous) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_treacherous(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = std::fmt::Write::write_fmt(&mut safe, format_args!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Tells a user's mistake in the words of the argument parser.
pub(super) fn mistake(text: &str) {
    let _ = writeln!(
        io::stderr().lock(),
        "{}",
        safe_block(text.trim_end().as_bytes())
    );
}

fn check(written: io::Result<()>) -> Outcome {
    written.map_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Stop::ClosedPipe;
        }
        let message = format!("writing to standard output failed: {error}");
        Stop::Failed(Failure::new(
            crate::protocol::FailureKind::Internal,
            message,
        ))
    })
}

/// Says something to the person on standard error.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe_line(text));
}

/// Tells of trouble that stops nothing.
pub(super) fn notice(failure: &Failure) {
    note(&format!("note: {}", failure.message));
    if let Some(hint) = &failure.hint {
        note(&format!("hint: {hint}"));
    }
}

/// Tells a failure: as text on standard error or, for programs, as JSON on standard output.
pub(super) fn failure(failure: &Failure, format: Format) {
    if format == Format::Json {
        let _ = json(&error_value(failure));
        return;
    }
    // Some failures bring the words of another program, in its own lines.
    let mut lines = failure.message.lines();
    note(&format!("error: {}", lines.next().unwrap_or_default()));
    lines.for_each(note);
    if let Some(hint) = &failure.hint {
        note(&format!("hint: {hint}"));
    }
}

/// Shapes a failure as JSON.
pub(super) fn error_value(failure: &Failure) -> Value {
    json!({"error": failure})
}

/// Shows how far something slow is, on one line that is overwritten; only on a terminal.
pub(super) struct ProgressLine {
    shown: bool,
    enabled: bool,
}

impl ProgressLine {
    pub(super) fn new(format: Format) -> Self {
        Self {
            shown: false,
            enabled: format == Format::Text && io::stderr().is_terminal(),
        }
    }

    pub(super) fn show(&mut self, text: &str) {
        if self.enabled {
            self.shown = true;
            let _ = write!(io::stderr().lock(), "\r\x1b[K{}", safe_line(text));
        }
    }

    pub(super) fn clear(&mut self) {
        if self.shown {
            self.shown = false;
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
