//! Files of a sandbox on their way to this machine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::domain::{SandboxPath, SandboxRef};

/// What is at a path of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// Nothing.
    Nothing,
    /// A folder.
    Folder,
    /// A file, a link or something else.
    File,
}

/// Files of a sandbox that are to be copied to this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Where they are.
    pub sandbox: SandboxRef,
    /// Which.
    pub targets: Vec<SandboxPath>,
    /// Where they go.
    pub to: PathBuf,
    /// Is that the folder that they go into, or the name that one gets?
    pub into: bool,
}

impl Download {
    /// Returns what each becomes.
    #[must_use]
    pub fn places(&self) -> Vec<PathBuf> {
        let place = |from: &SandboxPath| {
            if self.into {
                self.to.join(OsStr::from_bytes(from.file_name()))
            } else {
                self.to.clone()
            }
        };
        self.targets.iter().map(place).collect()
    }
}
