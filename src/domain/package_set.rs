//! A package set: the installed packages of one set of wishes, kept for the next run that has the same.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Access, SandboxPath};

/// A package set as its engine knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageSet {
    /// What the engine calls it; two package sets never share a name.
    pub name: String,
    /// Stands for language, image, platform, index and packages; the same wishes have the same key.
    pub key: String,
    /// The language of the programs that use it.
    pub language: String,
    /// The image that its packages were installed for.
    pub image: String,
    /// The packages that were asked for, sorted.
    pub packages: Vec<String>,
    /// When it was begun.
    pub made_at: DateTime<Utc>,
    /// Bytes on it.
    #[serde(default)]
    pub size_bytes: u64,
    /// Was everything installed? Only then it may be used.
    #[serde(default)]
    pub complete: bool,
}

/// Where a sandbox sees a package set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageMount {
    /// The package set's name.
    pub name: String,
    /// Where it appears.
    pub target: SandboxPath,
    /// Programs read; only who installs writes.
    pub access: Access,
}

/// A package set, and what is known of its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPackages {
    /// The package set.
    pub set: PackageSet,
    /// Runs that found their packages on it.
    pub hits: u64,
    /// When a run last used it.
    pub used_at: DateTime<Utc>,
    /// Too old to be used again.
    pub expired: bool,
}

/// A package set that was to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedPackages {
    /// Which.
    pub set: PackageSet,
    /// Why.
    pub why: &'static str,
    /// What came of it.
    pub done: Result<(), String>,
}
