//! An error as data: what went wrong, in words, and what to do next.

use std::fmt;

use serde::Serialize;

/// The kinds of failures that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The sandbox, file, image or session does not exist.
    NotFound,
    /// It exists already, or its state does not allow this.
    Conflict,
    /// The image is not there and cannot be had.
    ImageMissing,
    /// The engine does not answer.
    Unreachable,
    /// It took too long.
    Timeout,
    /// The engine or the file system says no.
    Denied,
    /// What was asked makes no sense.
    Invalid,
    /// sandtop itself says no: a limit, a guard or read-only mode.
    Refused,
    /// This engine cannot do it.
    Unsupported,
    /// The disk is full.
    NoSpace,
    /// Too much at once; try again.
    Busy,
    /// Packages that a program needs cannot be installed.
    Packages,
    /// It was cancelled.
    Interrupted,
    /// A fault of sandtop or of the engine.
    Internal,
}

impl FailureKind {
    /// Reads the word used in JSON.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let all = [
            Self::NotFound,
            Self::Conflict,
            Self::ImageMissing,
            Self::Unreachable,
            Self::Timeout,
            Self::Denied,
            Self::Invalid,
            Self::Refused,
            Self::Unsupported,
            Self::NoSpace,
            Self::Busy,
            Self::Packages,
            Self::Interrupted,
            Self::Internal,
        ];
        all.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the word used in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::ImageMissing => "image_missing",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Denied => "denied",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
            Self::NoSpace => "no_space",
            Self::Busy => "busy",
            Self::Packages => "packages",
            Self::Interrupted => "interrupted",
            Self::Internal => "internal",
        }
    }
}

/// A failure as it is shown, logged and serialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What callers act on.
    pub kind: FailureKind,
    /// What was tried, on what, and why it failed.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// Describes a failure without a hint.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
