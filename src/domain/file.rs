//! Files of a sandbox: a path that cannot leave it, what a directory holds, and a whole tree as a stream.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};
use thiserror::Error;

/// Why a path was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    /// Nothing given.
    #[error("the path is empty; give a path inside the sandbox, such as /workspace/main.py")]
    Empty,
    /// A NUL byte inside.
    #[error("the path holds a NUL byte, which no file name can hold")]
    Nul,
    /// `..` inside.
    #[error("the path `{0}` holds `..`; write the path without it")]
    Parent(String),
    /// Not absolute where it must be.
    #[error("the path `{0}` is not absolute; start it with `/`")]
    Relative(String),
}

/// An absolute, normalised path inside a sandbox, of any bytes, without `..`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxPath(Box<[u8]>);

impl SandboxPath {
    /// Checks an absolute path.
    ///
    /// # Errors
    /// The path is empty, relative, or holds NUL or `..`.
    pub fn parse(bytes: &[u8]) -> Result<Self, PathError> {
        if bytes.is_empty() {
            return Err(PathError::Empty);
        }
        if !bytes.starts_with(b"/") {
            return Err(PathError::Relative(show(bytes)));
        }
        Self::root().join(bytes)
    }

    /// Checks a path that may be relative to `base`.
    ///
    /// # Errors
    /// The path is empty or holds NUL or `..`.
    pub fn resolve(bytes: &[u8], base: &Self) -> Result<Self, PathError> {
        match bytes.first() {
            None => Err(PathError::Empty),
            Some(b'/') => Self::parse(bytes),
            Some(_) => base.join(bytes),
        }
    }

    /// Returns `/`.
    #[must_use]
    pub fn root() -> Self {
        Self(Box::from(&b"/"[..]))
    }

    /// Appends one or more components.
    ///
    /// # Errors
    /// The addition holds NUL or `..`.
    pub fn join(&self, more: &[u8]) -> Result<Self, PathError> {
        if more.contains(&0) {
            return Err(PathError::Nul);
        }
        let mut whole = self.0.to_vec();
        for part in more.split(|b| *b == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err(PathError::Parent(show(more))),
                name => push_name(&mut whole, name),
            }
        }
        Ok(Self(whole.into()))
    }

    /// Tells whether it is `/`.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// Returns the raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the last component; empty for `/`.
    #[must_use]
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// Returns the directory it is in; `None` for `/`.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let parent = Path::new(OsStr::from_bytes(&self.0)).parent()?;
        Some(Self(parent.as_os_str().as_bytes().into()))
    }
}

fn push_name(whole: &mut Vec<u8>, name: &[u8]) {
    if whole.last() != Some(&b'/') {
        whole.push(b'/');
    }
    whole.extend_from_slice(name);
}

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

impl fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl Serialize for SandboxPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

/// What a directory entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with what it holds.
    Symlink {
        /// The text of the link.
        target: Vec<u8>,
    },
    /// A device, pipe or socket.
    Special,
}

impl FileKind {
    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink { .. } => "symlink",
            Self::Special => "special",
        }
    }
}

/// One file, as `ls` and `stat` know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name in its directory, or its path relative to the root of a tree; of any bytes.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: FileKind,
    /// Bytes in it.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner's number.
    pub uid: u32,
    /// Group's number.
    pub gid: u32,
    /// When its content last changed.
    pub modified_at: DateTime<Utc>,
}

/// A piece of a file tree on its way between the host and a sandbox.
///
/// A tree is its root (empty name), then what is below it, folders before their content; `Data` belongs to the last file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeItem {
    /// The next file, folder or link.
    Entry(FileEntry),
    /// Bytes of the file named last.
    Data(Bytes),
    /// A file or folder of this name is there and could not be read; nothing of it follows.
    Unreadable(Vec<u8>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> SandboxPath {
        SandboxPath::parse(text.as_bytes()).expect("a valid path")
    }

    #[test]
    fn paths_are_normalised() {
        assert_eq!(path("/a//b/./c/"), path("/a/b/c"));
        assert_eq!(path("/"), SandboxPath::root());
        assert_eq!(path("/a/b").file_name(), b"b");
        assert_eq!(path("/a/b").parent(), Some(path("/a")));
        assert_eq!(path("/a").parent(), Some(SandboxPath::root()));
        assert_eq!(SandboxPath::root().parent(), None);
    }

    #[test]
    fn paths_cannot_climb() {
        for bad in ["/a/../b", "/..", "/a/b/.."] {
            assert!(
                matches!(
                    SandboxPath::parse(bad.as_bytes()),
                    Err(PathError::Parent(_))
                ),
                "{bad}"
            );
        }
        assert_eq!(SandboxPath::parse(b""), Err(PathError::Empty));
        assert_eq!(SandboxPath::parse(b"/a\0b"), Err(PathError::Nul));
        assert_eq!(
            SandboxPath::parse(b"a"),
            Err(PathError::Relative("a".into()))
        );
        assert_eq!(
            path("/a").join(b"..b/...").map(|p| p.to_string()),
            Ok("/a/..b/...".into())
        );
    }

    #[test]
    fn relative_paths_start_at_the_base() {
        let base = path("/workspace");
        assert_eq!(
            SandboxPath::resolve(b"x/y", &base),
            Ok(path("/workspace/x/y"))
        );
        assert_eq!(SandboxPath::resolve(b"/x", &base), Ok(path("/x")));
        assert_eq!(SandboxPath::resolve(b"", &base), Err(PathError::Empty));
    }

    #[test]
    fn any_bytes_survive() {
        let odd = SandboxPath::parse(b"/\xff\n '\"").expect("a valid path");
        assert_eq!(odd.as_bytes(), b"/\xff\n '\"");
        assert_eq!(odd.file_name(), b"\xff\n '\"");
    }
}
