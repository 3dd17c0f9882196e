//! What is known of an engine: its kind, its version and what `doctor` finds.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The kinds of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Docker, or anything that speaks its API.
    Docker,
    /// Sandboxes that sandtop makes itself on this machine, without a daemon.
    Local,
    /// Simulated sandboxes in memory, for trying the program without an engine.
    Demo,
}

impl EngineKind {
    /// All kinds, for messages.
    pub const ALL: [Self; 3] = [Self::Docker, Self::Local, Self::Demo];

    /// Returns the word used in flags and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Local => "local",
            Self::Demo => "demo",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for EngineKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Self::ALL.map(Self::word).join(", ");
        let known = Self::ALL.into_iter().find(|kind| kind.word() == text);
        known.ok_or_else(|| {
            format!("`{text}` is not an engine of this version; use one of: {words}")
        })
    }
}

/// What an engine says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineInfo {
    /// Its kind.
    pub kind: EngineKind,
    /// Where it is.
    pub endpoint: String,
    /// Its version.
    pub version: String,
    /// The API version spoken with it.
    pub api_version: String,
    /// Processors it can use.
    pub cpus: u64,
    /// Memory it can use.
    pub memory_bytes: u64,
}

/// How serious a finding of `doctor` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckLevel {
    /// As it should be.
    Ok,
    /// Works, with a weakness.
    Warn,
    /// Does not work.
    Fail,
}

/// One finding of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it stands.
    pub level: CheckLevel,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Check {
    /// Records something that is as it should be.
    pub fn ok(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            level: CheckLevel::Ok,
            message: message.into(),
            hint: None,
        }
    }

    /// Records a weakness and what to do about it.
    pub fn warn(name: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            level: CheckLevel::Warn,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// Records a fault and what to do about it.
    pub fn fail(name: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            level: CheckLevel::Fail,
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}
