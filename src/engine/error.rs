//! The one error type of engines: a kind that callers act on, words for people, and the cause for the log.

use thiserror::Error;

use crate::protocol::{Failure, FailureKind};

/// The result of engine calls.
pub type Result<T> = std::result::Result<T, EngineError>;

/// Why an engine could not do something.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct EngineError {
    /// What callers act on.
    pub kind: FailureKind,
    /// What was tried, on what, and why it failed.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// What lies below, for the log.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl EngineError {
    /// Describes a failure.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            source: None,
        }
    }

    /// Describes something that does not exist.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(FailureKind::NotFound, format!("{what} was not found"))
    }

    /// Describes what an engine of this kind cannot do.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        Self::new(
            FailureKind::Unsupported,
            format!("this engine does not support {what}"),
        )
    }

    /// Describes a fault below us.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what lies below.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        if let Some(source) = &error.source {
            tracing::debug!(kind = error.kind.word(), message = %error.message, %source, "engine error");
        }
        Self {
            kind: error.kind,
            message: error.message,
            hint: error.hint,
        }
    }
}
