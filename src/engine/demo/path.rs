//! Finding the way through folders and links of a file tree.

use std::collections::{BTreeMap, VecDeque};

use super::node::{Content, Node, not_directory};
use crate::domain::SandboxPath;
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Links on one way, after which it is taken for a circle.
const MOST_LINKS: usize = 40;

/// A whole path without links, starting with `/`.
pub(super) type Key = Vec<u8>;

/// What to do with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Go where it leads.
    Follow,
    /// Stay at the link.
    Keep,
}

/// Follows links until only the key is left; what it names need not exist.
pub(super) fn resolve(nodes: &BTreeMap<Key, Node>, path: &SandboxPath, last: Last) -> Result<Key> {
    let mut ahead = names(path.as_bytes());
    let mut key = Key::new();
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        step(&mut key, &name);
        match nodes.get(&key).map(|node| &node.content) {
            Some(Content::Symlink(target)) if last == Last::Follow || !ahead.is_empty() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(circle(path));
                }
                turn(&mut key, target, &mut ahead);
            }
            Some(Content::File(_)) if !ahead.is_empty() => return Err(not_directory(path)),
            Some(Content::File(_) | Content::Directory | Content::Symlink(_)) | None => {}
        }
    }
    if key.is_empty() {
        key.push(b'/');
    }
    Ok(key)
}

/// Returns what the names of everything below a directory start with.
pub(super) fn below(key: &[u8]) -> Key {
    match key {
        b"/" => b"/".to_vec(),
        key => [key, b"/"].concat(),
    }
}

/// Returns the directory that a key is in.
pub(super) fn parent(key: &[u8]) -> &[u8] {
    match key.iter().rposition(|b| *b == b'/') {
        None | Some(0) => b"/",
        Some(end) => key.get(..end).unwrap_or_default(),
    }
}

fn names(path: &[u8]) -> VecDeque<Vec<u8>> {
    let parts = path.split(|b| *b == b'/').filter(|name| !name.is_empty());
    parts.map(<[u8]>::to_vec).collect()
}

fn step(key: &mut Key, name: &[u8]) {
    match name {
        b"." => {}
        b".." => key.truncate(key.iter().rposition(|b| *b == b'/').unwrap_or(0)),
        name => {
            key.push(b'/');
            key.extend_from_slice(name);
        }
    }
}

/// Puts the text of a link in place of its name.
fn turn(key: &mut Key, target: &[u8], ahead: &mut VecDeque<Vec<u8>>) {
    step(key, b"..");
    if target.starts_with(b"/") {
        key.clear();
    }
    for name in names(target).into_iter().rev() {
        ahead.push_front(name);
    }
}

fn circle(path: &SandboxPath) -> EngineError {
    let message = format!("{path} goes through too many links");
    EngineError::new(FailureKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> BTreeMap<Key, Node> {
        let node = |content| Node::new(content, 0o755, (0, 0));
        let link = |target: &[u8]| node(Content::Symlink(target.to_vec()));
        BTreeMap::from([
            (b"/".to_vec(), node(Content::Directory)),
            (b"/a".to_vec(), node(Content::Directory)),
            (b"/a/up".to_vec(), link(b"../b")),
            (b"/a/self".to_vec(), link(b"self")),
            (b"/a/abs".to_vec(), link(b"/c/d")),
        ])
    }

    fn key(path: &str, last: Last) -> Option<String> {
        let path = SandboxPath::parse(path.as_bytes()).expect("a path");
        let key = resolve(&tree(), &path, last).ok()?;
        Some(String::from_utf8_lossy(&key).into_owned())
    }

    #[test]
    fn links_are_followed_but_not_out_of_the_root() {
        assert_eq!(key("/a/up/x", Last::Keep).as_deref(), Some("/b/x"));
        assert_eq!(key("/a/up", Last::Keep).as_deref(), Some("/a/up"));
        assert_eq!(key("/a/abs", Last::Follow).as_deref(), Some("/c/d"));
        assert_eq!(key("/", Last::Follow).as_deref(), Some("/"));
        assert_eq!(key("/a/self/x", Last::Keep), None);
    }

    #[test]
    fn keys_know_what_is_around_them() {
        assert_eq!(parent(b"/a/b"), b"/a");
        assert_eq!(parent(b"/a"), b"/");
        assert_eq!(below(b"/"), b"/");
        assert_eq!(below(b"/a"), b"/a/");
    }
}
