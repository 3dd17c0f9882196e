//! A file tree in memory: files, folders and links with names of any bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::Utc;

use super::node::{Content, Node, full, invalid, is_a_directory, not_directory, not_empty};
use super::path::{self, Key, Last};
use crate::domain::{FileEntry, SandboxPath};
use crate::engine::{EngineError, Result};
use crate::protocol::{FailureKind, FileOp};

/// Bytes that the files of one sandbox may hold together.
pub(super) const CAPACITY: usize = 64 << 20;

/// Permission bits of new folders and files.
const DIRECTORY_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;

/// All files of a sandbox, by whole path.
#[derive(Debug, Clone)]
pub(super) struct FileTree {
    pub(super) nodes: BTreeMap<Key, Node>,
    pub(super) owner: (u32, u32),
}

impl FileTree {
    /// Makes a tree with the work directory, `/tmp` and a few folders that every system has.
    pub(super) fn new(work_dir: &SandboxPath, owner: (u32, u32)) -> Self {
        let mut tree = Self {
            nodes: BTreeMap::new(),
            owner,
        };
        for name in [
            &b"/"[..],
            b"/etc",
            b"/home",
            b"/mnt",
            b"/tmp",
            b"/workspace",
        ] {
            let node = Node::new(Content::Directory, DIRECTORY_MODE, owner);
            tree.nodes.insert(name.to_vec(), node);
        }
        // It cannot fail: every folder on the way is new or a folder.
        let _ = tree.make_dir(work_dir);
        tree
    }

    /// Does small work on files.
    pub(super) fn apply(&mut self, op: &FileOp) -> Result<Vec<FileEntry>> {
        match op {
            FileOp::List(path) => return self.list(path),
            FileOp::Stat(path) => return self.stat(path).map(|entry| vec![entry]),
            FileOp::MakeDir(path) => self.make_dir(path)?,
            FileOp::Rename { from, to } => self.rename(from, to)?,
            FileOp::Delete { path, recursive } => self.delete(path, *recursive)?,
        }
        Ok(Vec::new())
    }

    /// Lists a directory by name.
    pub(super) fn list(&self, path: &SandboxPath) -> Result<Vec<FileEntry>> {
        let (key, node) = self.get(path, Last::Follow)?;
        if !node.is_directory() {
            return Err(not_directory(path));
        }
        let below = path::below(&key).len();
        let children = self.children(&key).filter_map(|(child, node)| {
            let name = child.get(below..).filter(|name| !name.contains(&b'/'))?;
            Some(node.entry(name))
        });
        Ok(children.collect())
    }

    /// Looks at one file.
    pub(super) fn stat(&self, path: &SandboxPath) -> Result<FileEntry> {
        let (_, node) = self.get(path, Last::Keep)?;
        Ok(node.entry(path.file_name()))
    }

    /// Makes a directory and the ones above it.
    pub(super) fn make_dir(&mut self, path: &SandboxPath) -> Result<()> {
        let mut at = SandboxPath::root();
        for name in path.as_bytes().split(|b| *b == b'/') {
            at = at.join(name).map_err(invalid)?;
            let key = path::resolve(&self.nodes, &at, Last::Follow)?;
            match self.nodes.get(&key) {
                Some(node) if node.is_directory() => {}
                Some(_) => return Err(not_directory(&at)),
                None => self.insert(key, Content::Directory, DIRECTORY_MODE),
            }
        }
        Ok(())
    }

    /// Moves a file or directory, over an old file or an empty directory if need be.
    pub(super) fn rename(&mut self, from: &SandboxPath, to: &SandboxPath) -> Result<()> {
        let (source, moved) = self.get(from, Last::Keep)?;
        let is_directory = moved.is_directory();
        let target = self.place(to, Last::Keep)?;
        if source == target {
            return Ok(());
        }
        if from.is_root() || target.starts_with(&path::below(&source)) {
            let message = format!("{from} cannot be moved to {to}, which is inside it");
            return Err(EngineError::new(FailureKind::Invalid, message));
        }
        match self.nodes.get(&target).map(Node::is_directory) {
            Some(true) if !is_directory => return Err(is_a_directory(to)),
            Some(false) if is_directory => return Err(not_directory(to)),
            Some(true) if self.children(&target).next().is_some() => return Err(not_empty(to)),
            Some(_) | None => {}
        }
        self.move_keys(&source, &target);
        Ok(())
    }

    /// Deletes a file, or a directory.
    pub(super) fn delete(&mut self, path: &SandboxPath, recursive: bool) -> Result<()> {
        let (key, _) = self.get(path, Last::Keep)?;
        if path.is_root() {
            let message = "the root directory cannot be deleted";
            return Err(EngineError::new(FailureKind::Invalid, message));
        }
        if !recursive && self.children(&key).next().is_some() {
            return Err(not_empty(path));
        }
        self.clear(path);
        self.nodes.remove(&key);
        Ok(())
    }

    /// Deletes everything below a directory.
    pub(super) fn clear(&mut self, path: &SandboxPath) {
        if let Ok(key) = path::resolve(&self.nodes, path, Last::Keep) {
            let below = path::below(&key);
            self.nodes
                .retain(|name, _| *name == key || !name.starts_with(&below));
        }
    }

    /// Returns the bytes of a file.
    pub(super) fn content(&self, path: &SandboxPath) -> Result<Arc<Vec<u8>>> {
        match &self.get(path, Last::Follow)?.1.content {
            Content::File(bytes) => Ok(Arc::clone(bytes)),
            Content::Directory => Err(is_a_directory(path)),
            Content::Symlink(_) => Err(EngineError::not_found(path)),
        }
    }

    /// Replaces a file, or makes one in a directory that exists.
    pub(super) fn put(
        &mut self,
        path: &SandboxPath,
        mode: Option<u32>,
        bytes: Vec<u8>,
    ) -> Result<()> {
        self.check_place(path)?;
        let key = self.place(path, Last::Follow)?;
        let old = self.nodes.get(&key);
        self.reserve(bytes.len(), path)?;
        let mode = mode.or(old.map(|node| node.mode)).unwrap_or(FILE_MODE);
        self.insert(key, Content::File(Arc::new(bytes)), mode & 0o7777);
        Ok(())
    }

    /// Fails where no file could be put.
    pub(super) fn check_place(&self, path: &SandboxPath) -> Result<()> {
        let key = self.place(path, Last::Follow)?;
        match self.nodes.get(&key) {
            Some(node) if node.is_directory() => Err(is_a_directory(path)),
            Some(_) | None => Ok(()),
        }
    }

    /// Adds bytes to the end of a file, which is made if need be.
    pub(super) fn append(&mut self, path: &SandboxPath, bytes: &[u8]) -> Result<()> {
        let key = self.place(path, Last::Follow)?;
        self.reserve(bytes.len(), path)?;
        match self.nodes.get_mut(&key) {
            None => self.put(path, None, bytes.to_vec()),
            Some(node) => match &mut node.content {
                Content::File(old) => {
                    Arc::make_mut(old).extend_from_slice(bytes);
                    node.modified_at = Utc::now();
                    Ok(())
                }
                Content::Directory | Content::Symlink(_) => Err(is_a_directory(path)),
            },
        }
    }

    /// Finds a node and its key.
    pub(super) fn get(&self, path: &SandboxPath, last: Last) -> Result<(Key, &Node)> {
        let key = path::resolve(&self.nodes, path, last)?;
        let node = self.nodes.get(&key);
        let node = node.ok_or_else(|| EngineError::not_found(path))?;
        Ok((key, node))
    }

    /// Iterates over everything below a key.
    pub(super) fn children(&self, key: &[u8]) -> impl Iterator<Item = (&Key, &Node)> {
        let below = path::below(key);
        let start = self.nodes.range(below.clone()..);
        start
            .take_while(move |(name, _)| name.starts_with(&below))
            .filter(|(name, _)| name.len() > 1)
    }

    /// Finds the key for something new, whose directory must exist.
    fn place(&self, path: &SandboxPath, last: Last) -> Result<Key> {
        let key = path::resolve(&self.nodes, path, last)?;
        let parent = self.nodes.get(path::parent(&key));
        match parent {
            Some(node) if node.is_directory() => Ok(key),
            Some(_) => Err(not_directory(path)),
            None => {
                let message = format!("the directory of {path} was not found");
                Err(EngineError::new(FailureKind::NotFound, message)
                    .with_hint("make the directory first"))
            }
        }
    }

    fn insert(&mut self, key: Key, content: Content, mode: u32) {
        self.nodes.insert(key, Node::new(content, mode, self.owner));
    }

    fn move_keys(&mut self, source: &[u8], target: &[u8]) {
        let below = path::below(source);
        let is_moved = |key: &Key| key == source || key.starts_with(&below);
        let (moved, kept) = std::mem::take(&mut self.nodes)
            .into_iter()
            .partition(|(key, _)| is_moved(key));
        let moved: BTreeMap<Key, Node> = moved;
        self.nodes = kept;
        for (key, node) in moved {
            let rest = key.get(source.len()..).unwrap_or_default();
            self.nodes.insert([target, rest].concat(), node);
        }
    }

    /// Fails if so many bytes more do not fit.
    pub(super) fn reserve(&self, more: usize, path: &SandboxPath) -> Result<()> {
        let size = |node: &Node| match &node.content {
            Content::File(bytes) => bytes.len(),
            Content::Directory | Content::Symlink(_) => 0,
        };
        if self.nodes.values().map(size).sum::<usize>() + more > CAPACITY {
            return Err(full(path));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> SandboxPath {
        SandboxPath::parse(text.as_bytes()).expect("a path")
    }

    fn tree() -> FileTree {
        let mut tree = FileTree::new(&path("/workspace"), (1, 2));
        tree.make_dir(&path("/workspace/a/b")).expect("a folder");
        tree.put(&path("/workspace/a/f"), Some(0o600), b"x".to_vec())
            .expect("a file");
        tree
    }

    fn kind<T>(result: Result<T>) -> Option<FailureKind> {
        result.err().map(|error| error.kind)
    }

    #[test]
    fn lists_hold_what_is_directly_below() {
        let tree = tree();
        let shown = tree.list(&path("/workspace/a")).expect("a list");
        let shown: Vec<_> = shown
            .iter()
            .map(|entry| (entry.name.as_slice(), entry.kind.word(), entry.mode))
            .collect();
        assert_eq!(
            shown,
            [(&b"b"[..], "directory", 0o755), (b"f", "file", 0o600)]
        );
        assert!(tree.list(&SandboxPath::root()).expect("a list").len() >= 2);
        let error = tree.list(&path("/workspace/a/f")).expect_err("a file");
        assert!(error.message.contains("not a directory"));
    }

    #[test]
    fn replaced_files_keep_their_mode() {
        let mut tree = tree();
        let file = path("/workspace/a/f");
        tree.put(&file, None, b"new".to_vec()).expect("a write");
        tree.append(&file, b"er").expect("more");
        let entry = tree.stat(&file).expect("a file");
        assert_eq!(
            (entry.mode, entry.size, entry.uid, entry.gid),
            (0o600, 5, 1, 2)
        );
    }

    #[test]
    fn full_folders_are_not_deleted_by_chance() {
        let mut tree = tree();
        let folder = path("/workspace/a");
        assert_eq!(
            kind(tree.delete(&folder, false)),
            Some(FailureKind::Conflict)
        );
        tree.delete(&folder, true).expect("a deletion");
        assert_eq!(
            kind(tree.stat(&path("/workspace/a/f"))),
            Some(FailureKind::NotFound)
        );
        assert_eq!(
            kind(tree.delete(&folder, true)),
            Some(FailureKind::NotFound)
        );
        assert_eq!(
            kind(tree.delete(&SandboxPath::root(), true)),
            Some(FailureKind::Invalid)
        );
    }

    #[test]
    fn folders_move_with_all_below_them() {
        let mut tree = tree();
        let (from, to) = (path("/workspace/a"), path("/tmp/z"));
        tree.rename(&from, &to).expect("a move");
        assert_eq!(*tree.content(&path("/tmp/z/f")).expect("a file"), b"x");
        assert_eq!(kind(tree.rename(&from, &to)), Some(FailureKind::NotFound));
        assert_eq!(
            kind(tree.rename(&to, &path("/tmp/z/b/c"))),
            Some(FailureKind::Invalid)
        );
        assert_eq!(
            kind(tree.rename(&to, &path("/nope/z"))),
            Some(FailureKind::NotFound)
        );
    }

    #[test]
    fn files_stop_growing_at_the_limit() {
        let mut tree = tree();
        let file = path("/tmp/big");
        tree.put(&file, None, vec![0; CAPACITY - 1]).expect("room");
        assert_eq!(kind(tree.append(&file, b"x")), Some(FailureKind::NoSpace));
    }
}
