//! Files on their way between the panes and a sandbox: pieces collected, pieces sent, one preview at a time.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::domain::{SandboxPath, SandboxRef, StreamId};
use crate::protocol::Command;

/// Bytes sent at a time.
const PIECE: usize = 48 * 1024;
/// Most bytes of a preview.
pub const PREVIEW: u64 = 256 * 1024;
/// Most bytes of a file in the editor, and one more to notice that there are more.
pub const EDITABLE: u64 = 2 * 1024 * 1024 + 1;

/// What to do when all is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// A buffer was saved.
    Saved(SandboxRef, SandboxPath),
}

/// What to do with what was collected.
#[derive(Debug, Clone, PartialEq)]
pub enum Collected {
    /// Show it.
    Preview(SandboxRef, SandboxPath),
    /// Edit it; with the time of its last change.
    Edit(SandboxRef, SandboxPath, Option<DateTime<Utc>>),
}

/// A file that was collected.
#[derive(Debug)]
pub struct CollectedFile {
    /// What it is for.
    pub then: Collected,
    /// What was read of it.
    pub bytes: Vec<u8>,
    /// May there be more?
    pub is_full: bool,
}

#[derive(Debug)]
struct Sending {
    bytes: Bytes,
    then: Sent,
}

#[derive(Debug)]
struct Collecting {
    bytes: Vec<u8>,
    limit: u64,
    then: Collected,
}

/// Everything under way.
#[derive(Debug, Default)]
pub struct Transfers {
    sending: HashMap<StreamId, Sending>,
    collecting: HashMap<StreamId, Collecting>,
    /// Work on files that waits for its turn, and what it is called.
    pub queue: VecDeque<(Command, String)>,
    /// Is the file that is being opened for `$EDITOR`?
    pub then_external: bool,
    /// The file to preview when the one under way has come; older intents are forgotten.
    pub next_preview: Option<(SandboxRef, SandboxPath)>,
}

impl Transfers {
    /// Books something to be sent.
    pub fn send(&mut self, stream: StreamId, bytes: Bytes, then: Sent) {
        self.sending.insert(stream, Sending { bytes, then });
    }

    /// Takes the next piece to be sent; `None` when all is sent.
    pub fn next_piece(&mut self, stream: StreamId) -> Option<Bytes> {
        let sending = self.sending.get_mut(&stream)?;
        let piece = sending.bytes.split_to(sending.bytes.len().min(PIECE));
        (!piece.is_empty()).then_some(piece)
    }

    /// Ends a sending.
    pub fn sent(&mut self, stream: StreamId) -> Option<Sent> {
        self.sending.remove(&stream).map(|sending| sending.then)
    }

    /// Tells whether a stream is a sending of ours.
    #[must_use]
    pub fn is_sending(&self, stream: StreamId) -> bool {
        self.sending.contains_key(&stream)
    }

    /// Books something to be collected.
    pub fn collect(&mut self, stream: StreamId, limit: u64, then: Collected) {
        self.collecting.insert(
            stream,
            Collecting {
                bytes: Vec::new(),
                limit,
                then,
            },
        );
    }

    /// Adds a piece; false if the stream is not collected.
    pub fn add(&mut self, stream: StreamId, bytes: &[u8]) -> bool {
        let Some(collecting) = self.collecting.get_mut(&stream) else {
            return false;
        };
        let room = usize::try_from(collecting.limit)
            .unwrap_or(usize::MAX)
            .saturating_sub(collecting.bytes.len());
        collecting.bytes.extend(bytes.iter().take(room));
        true
    }

    /// Ends a collection.
    pub fn collected(&mut self, stream: StreamId) -> Option<CollectedFile> {
        let collecting = self.collecting.remove(&stream)?;
        Some(CollectedFile {
            is_full: collecting.bytes.len() as u64 >= collecting.limit,
            then: collecting.then,
            bytes: collecting.bytes,
        })
    }

    /// Tells whether a preview is under way.
    #[must_use]
    pub fn previewing(&self) -> bool {
        self.collecting
            .values()
            .any(|collecting| matches!(collecting.then, Collected::Preview(..)))
    }
}
