//! Files and folders in memory, with names of any bytes; there are no links.

use std::collections::BTreeMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::{StreamExt, stream};

use crate::domain::{FileEntry, FileKind, SandboxPath};
use crate::engine::{ByteStream, EngineError, Result};
use crate::protocol::{FailureKind, FileOp};

/// Bytes that the files of one sandbox may hold together.
const CAPACITY: usize = 64 << 20;

/// One file, or a folder, which has no content.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    content: Option<Bytes>,
    mode: u32,
    modified_at: DateTime<Utc>,
}

/// All files of a sandbox.
#[derive(Debug, Clone)]
pub(super) struct FileTree {
    nodes: BTreeMap<SandboxPath, Node>,
}

impl FileTree {
    /// Makes a tree with the work directory and a few folders that every system has.
    pub(super) fn new(work_dir: &SandboxPath) -> Self {
        let nodes = BTreeMap::from([(SandboxPath::root(), Node::folder())]);
        let mut tree = Self { nodes };
        let usual = ["/etc", "/home", "/tmp"].map(|name| SandboxPath::parse(name.as_bytes()));
        for path in usual.iter().flatten().chain([work_dir]) {
            // It cannot fail: every folder on the way is new or a folder.
            let _ = tree.make_dir(path);
        }
        tree
    }

    /// Does small work on files.
    pub(super) fn apply(&mut self, op: &FileOp) -> Result<Vec<FileEntry>> {
        match op {
            FileOp::List(path) => return self.list(path),
            FileOp::Stat(path) => return Ok(vec![self.get(path)?.entry(path.file_name())]),
            FileOp::MakeDir(path) => self.make_dir(path)?,
            FileOp::Rename { from, to } => self.rename(from, to)?,
            FileOp::Delete { path, recursive } => self.delete(path, *recursive)?,
        }
        Ok(Vec::new())
    }

    /// Lists a directory by name.
    pub(super) fn list(&self, path: &SandboxPath) -> Result<Vec<FileEntry>> {
        if self.get(path)?.content.is_some() {
            return Err(not_directory(path));
        }
        let children = self.below(path);
        let children = children.filter(|(child, _)| child.parent().as_ref() == Some(path));
        let entries = children.map(|(child, node)| node.entry(child.file_name()));
        Ok(entries.collect())
    }

    fn make_dir(&mut self, path: &SandboxPath) -> Result<()> {
        let mut at = SandboxPath::root();
        for name in path.as_bytes().split(|b| *b == b'/') {
            at = at.join(name).map_err(invalid)?;
            let node = self.nodes.entry(at.clone()).or_insert_with(Node::folder);
            if node.content.is_some() {
                return Err(not_directory(&at));
            }
        }
        Ok(())
    }

    /// Moves a file or directory, over an old file if need be.
    fn rename(&mut self, from: &SandboxPath, to: &SandboxPath) -> Result<()> {
        let is_file = self.get(from)?.content.is_some();
        self.check_parent(to)?;
        if from == to {
            return Ok(());
        }
        let old = self.nodes.get(to);
        if is_below(to, from) || old.is_some_and(|old| !is_file || old.content.is_none()) {
            return Err(invalid(format!("{from} cannot be moved to {to}")));
        }
        let inside: Vec<_> = self.below(from).map(|(path, _)| path.clone()).collect();
        for path in inside.iter().chain([from]) {
            let rest = path.as_bytes().get(from.as_bytes().len()..);
            let target = to.join(rest.unwrap_or_default()).map_err(invalid)?;
            if let Some(node) = self.nodes.remove(path) {
                self.nodes.insert(target, node);
            }
        }
        Ok(())
    }

    fn delete(&mut self, path: &SandboxPath, recursive: bool) -> Result<()> {
        self.get(path)?;
        if path.is_root() {
            return Err(invalid("the root directory cannot be deleted"));
        }
        if !recursive && self.below(path).next().is_some() {
            let message = format!("{path} is not empty");
            return Err(EngineError::new(FailureKind::Conflict, message)
                .with_hint("delete it with all that is in it"));
        }
        self.clear(path);
        self.nodes.remove(path);
        Ok(())
    }

    /// Deletes everything below a directory.
    pub(super) fn clear(&mut self, path: &SandboxPath) {
        self.nodes.retain(|other, _| !is_below(other, path));
    }

    /// Returns the bytes of a file.
    pub(super) fn read(&self, path: &SandboxPath) -> Result<Bytes> {
        let content = self.get(path)?.content.clone();
        content.ok_or_else(|| invalid(format!("{path} is a directory")))
    }

    /// Replaces a file, or makes one with the directories above it.
    pub(super) fn put(
        &mut self,
        path: &SandboxPath,
        mode: Option<u32>,
        bytes: Bytes,
    ) -> Result<()> {
        self.check_file(path)?;
        let contents = self.nodes.values().filter_map(|node| node.content.as_ref());
        if contents.map(Bytes::len).sum::<usize>() + bytes.len() > CAPACITY {
            return Err(full(path));
        }
        self.make_dir(&path.parent().unwrap_or_else(SandboxPath::root))?;
        let mode = mode.or(self.nodes.get(path).map(|node| node.mode));
        let node = Node {
            content: Some(bytes),
            mode: mode.unwrap_or(0o644) & 0o7777,
            modified_at: Utc::now(),
        };
        self.nodes.insert(path.clone(), node);
        Ok(())
    }

    /// Fails where no file could be put.
    pub(super) fn check_file(&self, path: &SandboxPath) -> Result<()> {
        let mut above = path.parent();
        while let Some(folder) = above {
            if self
                .nodes
                .get(&folder)
                .is_some_and(|node| node.content.is_some())
            {
                return Err(not_directory(&folder));
            }
            above = folder.parent();
        }
        match self.nodes.get(path) {
            Some(node) if node.content.is_none() => Err(invalid(format!("{path} is a directory"))),
            Some(_) | None => Ok(()),
        }
    }

    /// Adds up what is below a directory.
    pub(super) fn size(&self, path: &SandboxPath) -> u64 {
        self.below(path).map(|(_, node)| node.entry(b"").size).sum()
    }

    /// Finds a file or folder.
    fn get(&self, path: &SandboxPath) -> Result<&Node> {
        let node = self.nodes.get(path);
        node.ok_or_else(|| match self.check_parent(path) {
            Err(error) if error.kind == FailureKind::Invalid => error,
            Ok(()) | Err(_) => EngineError::not_found(path),
        })
    }

    /// Iterates over everything below a directory.
    fn below(&self, path: &SandboxPath) -> impl Iterator<Item = (&SandboxPath, &Node)> {
        let nodes = self.nodes.iter();
        nodes.filter(move |(other, _)| is_below(other, path))
    }

    /// Fails where no file can be put, because there is no directory for it.
    fn check_parent(&self, path: &SandboxPath) -> Result<()> {
        let parent = path.parent().unwrap_or_else(SandboxPath::root);
        match self.nodes.get(&parent) {
            Some(node) if node.content.is_none() => Ok(()),
            Some(_) => Err(not_directory(&parent)),
            None => Err(EngineError::not_found(format!("the directory {parent}"))
                .with_hint("make the directory first")),
        }
    }
}

impl Node {
    fn folder() -> Self {
        Self {
            content: None,
            mode: 0o755,
            modified_at: Utc::now(),
        }
    }

    /// Describes it under a name.
    fn entry(&self, name: &[u8]) -> FileEntry {
        let (kind, size) = match &self.content {
            Some(bytes) => (FileKind::File, bytes.len() as u64),
            None => (FileKind::Directory, 4096),
        };
        FileEntry {
            name: name.to_vec(),
            kind,
            size,
            mode: self.mode,
            uid: 1000,
            gid: 1000,
            modified_at: self.modified_at,
        }
    }
}

fn is_below(path: &SandboxPath, folder: &SandboxPath) -> bool {
    let rest = path.as_bytes().strip_prefix(folder.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"/") || (folder.is_root() && !rest.is_empty()))
}

/// Streams a file, or the beginning of it.
pub(super) fn stream_file(bytes: &Bytes, limit: Option<u64>) -> ByteStream {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let bytes = bytes.slice(..limit.unwrap_or(usize::MAX).min(bytes.len()));
    stream::iter((!bytes.is_empty()).then_some(Ok(bytes))).boxed()
}

/// Collects a file until it ended well.
pub(super) async fn collect(path: &SandboxPath, mut content: ByteStream) -> Result<Bytes> {
    let mut whole = Vec::new();
    while let Some(piece) = content.next().await {
        whole.extend_from_slice(&piece?);
        if whole.len() > CAPACITY {
            return Err(full(path));
        }
    }
    Ok(whole.into())
}

/// Describes something that makes no sense.
pub(super) fn invalid(error: impl std::fmt::Display) -> EngineError {
    EngineError::new(FailureKind::Invalid, error.to_string())
}

/// Describes a tree that holds as much as it may.
fn full(path: &SandboxPath) -> EngineError {
    let message = format!("{path} does not fit: the files of a demo sandbox hold 64 MiB at most");
    EngineError::new(FailureKind::NoSpace, message).with_hint("delete some files first")
}

fn not_directory(path: &SandboxPath) -> EngineError {
    invalid(format!("{path} is not a directory"))
}
