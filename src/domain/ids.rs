//! Names and numbers that identify things, each with a type of its own so that they cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How much of an engine's id is shown to people.
const SHORT_ID: usize = 12;

/// The name of a host: one engine at one address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostName(String);

impl HostName {
    /// Names a host.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The engine's own id of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SandboxId(Box<str>);

impl SandboxId {
    /// Wraps an id as the engine gave it.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first characters, which is what people compare.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..SHORT_ID).unwrap_or(&self.0)
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

/// One sandbox among all hosts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SandboxRef {
    /// The host it lives on.
    pub host: HostName,
    /// Its id there.
    pub id: SandboxId,
}

impl SandboxRef {
    /// Names a sandbox on a host.
    #[must_use]
    pub fn new(host: HostName, id: SandboxId) -> Self {
        Self { host, id }
    }
}

impl fmt::Display for SandboxRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.id)
    }
}

/// Why a name was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a sandbox name; use 1 to 63 letters, digits, `-`, `_` or `.`, starting with a letter or digit"
)]
pub struct NameError(String);

/// A valid sandbox name, safe in URLs, labels and file names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SandboxName(String);

impl SandboxName {
    /// Checks a name given by a person.
    ///
    /// # Errors
    /// The name is empty, too long or holds a character that engines refuse.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if starts_well && text.len() <= 63 && text.chars().all(valid) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError(text.escape_default().to_string()))
        }
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of one exec, unique on this machine, carried into the sandbox so that its processes can be found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ExecId(String);

impl ExecId {
    /// Wraps an id; it must be short and alphanumeric, because it travels as a program argument.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Ties a reply to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Ties output, input and the end of one byte stream (an exec, a file read or a file write) together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_engines_accept_pass() {
        for name in ["a", "py-1", "0.x_y", &"n".repeat(63)] {
            assert_eq!(
                SandboxName::parse(name).map(|n| n.to_string()),
                Ok(name.to_owned())
            );
        }
    }

    #[test]
    fn names_that_could_hurt_are_refused() {
        for name in [
            "",
            "-a",
            "../x",
            "a/b",
            "a b",
            "é",
            "a\u{1b}[2J",
            &"n".repeat(64),
        ] {
            assert!(SandboxName::parse(name).is_err(), "{name:?}");
        }
        let error = SandboxName::parse("a\u{1b}b").map_err(|e| e.to_string());
        assert!(error.is_err_and(|text| !text.contains('\u{1b}')));
    }

    #[test]
    fn short_ids_show_twelve_characters() {
        assert_eq!(
            SandboxId::new("0123456789abcdef").to_string(),
            "0123456789ab"
        );
        assert_eq!(SandboxId::new("abc").to_string(), "abc");
    }
}
