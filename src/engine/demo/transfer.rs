//! Files and trees on their way into and out of a simulated sandbox.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use super::files::{CAPACITY, FileTree};
use super::node::{Content, Node, full, invalid, is_a_directory, not_directory};
use super::path::{self, Key, Last};
use crate::domain::{FileEntry, FileKind, SandboxPath, TreeItem};
use crate::engine::{ByteStream, EngineError, Result, TreeStream};

/// Bytes of a file in one piece.
const CHUNK: usize = 64 << 10;

/// Files, folders and links that one tree may hold.
const MOST_ENTRIES: usize = 100_000;

/// A file, folder or link with the content it had when it was packed.
type Packed = (FileEntry, Option<Arc<Vec<u8>>>);

/// Cuts a file into pieces.
pub(super) fn chunks(bytes: Arc<Vec<u8>>, limit: Option<u64>) -> ByteStream {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let end = limit.unwrap_or(usize::MAX).min(bytes.len());
    stream::iter((0..end).step_by(CHUNK))
        .map(move |from| {
            let piece = bytes.get(from..end.min(from + CHUNK)).unwrap_or_default();
            Ok(Bytes::copy_from_slice(piece))
        })
        .boxed()
}

/// Collects a file until it ended well.
pub(super) async fn collect(path: &SandboxPath, mut content: ByteStream) -> Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(piece) = content.next().await {
        let piece = piece?;
        if whole.len() + piece.len() > CAPACITY {
            return Err(full(path));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}

/// Reads a tree as it is now.
pub(super) fn pack(files: &FileTree, path: &SandboxPath) -> Result<TreeStream> {
    let (root, node) = files.get(path, Last::Keep)?;
    let below = path::below(&root).len();
    let mut packed = vec![pack_node(node, b"")];
    if node.is_directory() {
        let children = files.children(&root);
        packed.extend(children.map(|(key, node)| {
            let name = key.get(below..).unwrap_or_default();
            pack_node(node, name)
        }));
    }
    let items = stream::iter(packed).flat_map(|(entry, bytes)| {
        let data = bytes.map(|bytes| chunks(bytes, None).map(|piece| piece.map(TreeItem::Data)));
        let entry = stream::iter([Ok(TreeItem::Entry(entry))]);
        entry.chain(stream::iter(data).flatten())
    });
    Ok(items.boxed())
}

fn pack_node(node: &Node, name: &[u8]) -> Packed {
    let bytes = match &node.content {
        Content::File(bytes) => Some(Arc::clone(bytes)),
        Content::Directory | Content::Symlink(_) => None,
    };
    (node.entry(name), bytes)
}

/// A tree that has arrived whole, but is not in its place yet.
pub(super) struct Staged(Vec<(FileEntry, Vec<u8>)>);

impl Staged {
    /// Collects a tree until it ended well.
    pub(super) async fn collect(path: &SandboxPath, mut tree: TreeStream) -> Result<Self> {
        let mut staged: Vec<(FileEntry, Vec<u8>)> = Vec::new();
        let mut size = 0;
        while let Some(item) = tree.next().await {
            match item? {
                TreeItem::Entry(entry) => staged.push((entry, Vec::new())),
                TreeItem::Data(bytes) => {
                    size += bytes.len();
                    let last = staged.last_mut();
                    let (_, data) = last.ok_or_else(|| invalid("a tree starts with its root"))?;
                    data.extend_from_slice(&bytes);
                }
            }
            if size > CAPACITY || staged.len() > MOST_ENTRIES {
                return Err(full(path));
            }
        }
        if staged.first().is_none_or(|(root, _)| !root.name.is_empty()) {
            return Err(invalid("a tree starts with its root"));
        }
        Ok(Self(staged))
    }

    /// Puts the tree in its place, all of it or nothing.
    pub(super) fn plant(self, files: &mut FileTree, path: &SandboxPath) -> Result<()> {
        let mut grown = files.clone();
        let is_folder = |(root, _): &(FileEntry, _)| root.kind == FileKind::Directory;
        let last = match self.0.first() {
            Some(root) if is_folder(root) => Last::Follow,
            Some(_) | None => Last::Keep,
        };
        let root = path::resolve(&grown.nodes, path, last)?;
        for (entry, data) in self.0 {
            plant_entry(&mut grown, &root, entry, data)?;
        }
        grown.reserve(0, path)?;
        *files = grown;
        Ok(())
    }
}

fn plant_entry(files: &mut FileTree, root: &[u8], entry: FileEntry, data: Vec<u8>) -> Result<()> {
    let (key, path) = key_of(root, &entry.name)?;
    let parent = files.nodes.get(path::parent(&key));
    match parent.map(Node::is_directory) {
        Some(true) => {}
        Some(false) => return Err(not_directory(&path)),
        None => return Err(EngineError::not_found(format!("the directory of {path}"))),
    }
    let content = match entry.kind {
        FileKind::File => Content::File(Arc::new(data)),
        FileKind::Directory => Content::Directory,
        FileKind::Symlink { target } => Content::Symlink(target),
        FileKind::Special => return Ok(()),
    };
    let mut node = Node::new(content, entry.mode & 0o7777, files.owner);
    node.modified_at = entry.modified_at;
    match files.nodes.get(&key).map(Node::is_directory) {
        Some(true) if !node.is_directory() => return Err(is_a_directory(&path)),
        Some(false) if node.is_directory() => return Err(not_directory(&path)),
        Some(_) | None => {}
    }
    files.nodes.insert(key, node);
    Ok(())
}

/// Finds the place of an entry; names that climb or start at the root are refused.
fn key_of(root: &[u8], name: &[u8]) -> Result<(Key, SandboxPath)> {
    if name.starts_with(b"/") {
        return Err(invalid("a name in the tree is absolute"));
    }
    let base = SandboxPath::parse(root).map_err(invalid)?;
    let path = base.join(name).map_err(invalid)?;
    Ok((path.as_bytes().to_vec(), path))
}
