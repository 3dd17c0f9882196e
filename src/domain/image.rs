//! An image that is available locally, so that a sandbox can be made from it without a pull.

use chrono::{DateTime, Utc};
use serde::Serialize;

/// The image of the local engine that is this machine: its own programs, read-only.
pub const HOST_IMAGE: &str = "host";

/// One image under one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// What `create --image` takes.
    pub name: String,
    /// The engine's id.
    pub id: String,
    /// Bytes on disk, if known.
    pub size_bytes: Option<u64>,
    /// When it was made, if known.
    pub created_at: Option<DateTime<Utc>>,
}
