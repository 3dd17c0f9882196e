//! One file, folder or link in memory, and what can be wrong with its path.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::domain::{FileEntry, FileKind, SandboxPath};
use crate::engine::EngineError;
use crate::protocol::FailureKind;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Content {
    File(Arc<Vec<u8>>),
    Directory,
    Symlink(Vec<u8>),
}

/// One file, folder or link.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) modified_at: DateTime<Utc>,
}

impl Node {
    pub(super) fn new(content: Content, mode: u32, owner: (u32, u32)) -> Self {
        Self {
            content,
            mode,
            owner,
            modified_at: Utc::now(),
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self.content, Content::Directory)
    }

    /// Describes the node under a name.
    pub(super) fn entry(&self, name: &[u8]) -> FileEntry {
        let (kind, size) = match &self.content {
            Content::File(bytes) => (FileKind::File, bytes.len()),
            Content::Directory => (FileKind::Directory, 4096),
            Content::Symlink(target) => {
                let kind = FileKind::Symlink {
                    target: target.clone(),
                };
                (kind, target.len())
            }
        };
        FileEntry {
            name: name.to_vec(),
            kind,
            size: size as u64,
            mode: self.mode,
            uid: self.owner.0,
            gid: self.owner.1,
            modified_at: self.modified_at,
        }
    }
}

/// Describes a folder where a file is needed.
pub(super) fn is_a_directory(path: &SandboxPath) -> EngineError {
    EngineError::new(FailureKind::Invalid, format!("{path} is a directory"))
}

/// Describes a file where a folder is needed.
pub(super) fn not_directory(path: &SandboxPath) -> EngineError {
    EngineError::new(FailureKind::Invalid, format!("{path} is not a directory"))
}

/// Describes a tree that holds as much as it may.
pub(super) fn full(path: &SandboxPath) -> EngineError {
    let message = format!("{path} does not fit: the files of a demo sandbox hold 64 MiB at most");
    EngineError::new(FailureKind::NoSpace, message).with_hint("delete some files first")
}

/// Describes a path that makes no sense.
pub(super) fn invalid(error: impl std::fmt::Display) -> EngineError {
    EngineError::new(FailureKind::Invalid, error.to_string())
}

/// Describes a folder that still holds something.
pub(super) fn not_empty(path: &SandboxPath) -> EngineError {
    EngineError::new(FailureKind::Conflict, format!("{path} is not empty"))
        .with_hint("delete it with all that is in it")
}
