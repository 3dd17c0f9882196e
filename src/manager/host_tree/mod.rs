//! File trees of the host: read for a sandbox, and written from one without trusting it.

mod read;
mod sparse;
mod write;

use std::io;
use std::path::Path;

pub(super) use read::read;
pub(super) use write::write;

use crate::engine::EngineError;
use crate::protocol::FailureKind;

fn failed(path: &Path, error: &io::Error) -> EngineError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FailureKind::NotFound,
        io::ErrorKind::PermissionDenied => FailureKind::Denied,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FailureKind::NoSpace,
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => FailureKind::Conflict,
        _ => FailureKind::Internal,
    };
    EngineError::new(kind, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
