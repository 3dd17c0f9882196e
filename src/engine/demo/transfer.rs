//! Files and trees on their way into and out of a simulated sandbox.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use super::files::{CAPACITY, FileTree, Node, full, invalid};
use super::script::unsupported;
use crate::domain::{FileEntry, FileKind, SandboxPath, TreeItem};
use crate::engine::{ByteStream, Result, TreeStream};

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

/// Reads a tree as it is now.
pub(super) fn pack(files: &FileTree, path: &SandboxPath) -> Result<TreeStream> {
    let mut items = Vec::new();
    for (at, node) in std::iter::once((path, files.get(path)?)).chain(files.below(path)) {
        let name = at.as_bytes().get(path.as_bytes().len()..);
        let name = name.unwrap_or_default();
        let name = name.strip_prefix(b"/").unwrap_or(name);
        items.push(Ok(TreeItem::Entry(node.entry(name))));
        let content = node.content.clone().filter(|bytes| !bytes.is_empty());
        items.extend(content.map(|bytes| Ok(TreeItem::Data(bytes))));
    }
    Ok(stream::iter(items).boxed())
}

/// A tree that has arrived whole, but is not in its place yet.
pub(super) struct Staged(Vec<(FileEntry, Vec<u8>)>);

impl Staged {
    /// Collects a tree until it ended well.
    pub(super) async fn collect(path: &SandboxPath, mut tree: TreeStream) -> Result<Self> {
        let mut staged: Vec<(FileEntry, Vec<u8>)> = Vec::new();
        let mut size = 0;
        while let Some(item) = tree.next().await {
            match (item?, staged.last_mut()) {
                (TreeItem::Entry(entry), first) if first.is_some() || entry.name.is_empty() => {
                    size += entry.name.len();
                    staged.push((entry, Vec::new()));
                }
                (TreeItem::Data(bytes), Some((_, data))) => {
                    size += bytes.len();
                    data.extend_from_slice(&bytes);
                }
                (TreeItem::Entry(_), _) | (TreeItem::Data(_), None) => {
                    return Err(invalid("a tree starts with its root"));
                }
            }
            if size > CAPACITY {
                return Err(full(path));
            }
        }
        Ok(Self(staged))
    }

    /// Puts the tree in its place, all of it or nothing.
    pub(super) fn unpack(self, files: &mut FileTree, path: &SandboxPath) -> Result<()> {
        let mut grown = files.clone();
        for (entry, data) in self.0 {
            if entry.name.starts_with(b"/") {
                return Err(invalid("a name in the tree is absolute"));
            }
            let content = match entry.kind {
                FileKind::File => Some(data.into()),
                FileKind::Directory => None,
                FileKind::Symlink { .. } => return Err(unsupported("links")),
                FileKind::Special => continue,
            };
            let node = Node {
                content,
                mode: entry.mode & 0o7777,
                modified_at: entry.modified_at,
            };
            let at = path.join(&entry.name).map_err(invalid)?;
            grown.insert(&at, node)?;
        }
        *files = grown;
        Ok(())
    }
}
