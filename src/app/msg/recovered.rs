//! Unsaved buffers as data, so that they survive a crash.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::SandboxRef;

/// An unsaved buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveredBuffer {
    /// What it was called.
    pub name: String,
    /// The name of its language.
    pub language: Option<String>,
    /// Its text.
    pub text: String,
    /// The file it shows.
    pub origin: Option<RecoveredOrigin>,
    /// Whether its lines end in `\r\n` in the file.
    pub has_crlf: bool,
}

/// The file of an unsaved buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveredOrigin {
    /// Where it is.
    pub sandbox: SandboxRef,
    /// Its path, of any bytes.
    pub path: Vec<u8>,
    /// When it was last changed, as was known.
    pub known: Option<DateTime<Utc>>,
}
