//! Files of a sandbox, through the guest: streamed both ways, any size, any name, also on a read-only root.

use bytes::{Buf, Bytes};
use chrono::DateTime;
use futures_util::stream::{self, StreamExt};
use tokio::io::AsyncWriteExt;

use super::run::{GuestItem, GuestRun, check};
use super::{GuestCall, Guests, Stdio};
use crate::domain::{FileEntry, FileKind, SandboxId, SandboxPath, StdinMode, TreeItem};
use crate::engine::{ByteStream, EngineError, ExecStdin, Result, TreeStream, unfold};
use crate::guest::wire::{self, Call, Decoder, Entry, EntryKind, Record};
use crate::protocol::FileOp;

fn bytes(path: &SandboxPath) -> Vec<u8> {
    path.as_bytes().to_vec()
}

/// Does small work on files.
pub(super) async fn operate(
    guests: &Guests,
    id: &SandboxId,
    op: &FileOp,
) -> Result<Vec<FileEntry>> {
    let call = match op {
        FileOp::List(path) => Call::List(bytes(path)),
        FileOp::Stat(path) => Call::Stat(bytes(path)),
        FileOp::MakeDir(path) => Call::MakeDir(bytes(path)),
        FileOp::Rename { from, to } => Call::Rename {
            from: bytes(from),
            to: bytes(to),
        },
        FileOp::Delete { path, recursive } => Call::Delete {
            path: bytes(path),
            recursive: *recursive,
        },
    };
    entries(&guests.output(id, &call).await?)
}

fn entries(bytes: &[u8]) -> Result<Vec<FileEntry>> {
    let mut decoder = Decoder::default();
    decoder.push(bytes);
    let mut found = Vec::new();
    while let Some(record) = decoder.next_record().map_err(EngineError::internal)? {
        if let Record::Entry(entry) = record {
            found.push(from_wire(entry));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn from_wire(entry: Entry) -> FileEntry {
    FileEntry {
        kind: file_kind(entry.kind, entry.target),
        name: entry.name,
        size: entry.size,
        mode: entry.mode,
        uid: entry.uid,
        gid: entry.gid,
        modified_at: DateTime::from_timestamp(entry.seconds, entry.nanos).unwrap_or_default(),
    }
}

fn tree_item(entry: Entry) -> TreeItem {
    match entry.kind {
        EntryKind::Unreadable => TreeItem::Unreadable(entry.name),
        _ => TreeItem::Entry(from_wire(entry)),
    }
}

/// Reads what a file is; a link leads to `target`.
pub(super) fn file_kind(kind: EntryKind, target: Vec<u8>) -> FileKind {
    match kind {
        EntryKind::File => FileKind::File,
        EntryKind::Directory => FileKind::Directory,
        EntryKind::Symlink => FileKind::Symlink { target },
        EntryKind::Special | EntryKind::Unreadable => FileKind::Special,
    }
}

fn to_wire(entry: FileEntry) -> Entry {
    let (kind, target) = match entry.kind {
        FileKind::File => (EntryKind::File, Vec::new()),
        FileKind::Directory => (EntryKind::Directory, Vec::new()),
        FileKind::Symlink { target } => (EntryKind::Symlink, target),
        FileKind::Special => (EntryKind::Special, Vec::new()),
    };
    Entry {
        kind,
        mode: entry.mode,
        uid: entry.uid,
        gid: entry.gid,
        size: entry.size,
        seconds: entry.modified_at.timestamp(),
        nanos: entry.modified_at.timestamp_subsec_nanos(),
        name: entry.name,
        target,
    }
}

/// Reads a file; a failure before its first byte is an error of this call.
pub(super) async fn read(
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
    limit: Option<u64>,
) -> Result<ByteStream> {
    let path = bytes(path);
    printed(guests, id, &Call::Read { path, limit }).await
}

/// Streams what a verb prints.
async fn printed(guests: &Guests, id: &SandboxId, call: &Call) -> Result<ByteStream> {
    let (mut run, stdin) = guests.start(id, GuestCall::new(call)).await?;
    let first = step(&mut run).await.transpose()?;
    // The write half keeps the connection open for the engine, so it lives as long as the stream.
    let rest = unfold(Some((run, stdin)), |state| async move {
        let (mut run, stdin) = state?;
        match step(&mut run).await {
            Some(Ok(bytes)) => Some((Ok(bytes), Some((run, stdin)))),
            Some(Err(error)) => Some((Err(error), None)),
            None => None,
        }
    });
    match first {
        Some(bytes) => Ok(stream::iter([Ok(bytes)]).chain(rest).boxed()),
        None => Ok(stream::empty().boxed()),
    }
}

async fn step(run: &mut GuestRun) -> Option<Result<Bytes>> {
    match run.next().await {
        GuestItem::Chunk(chunk) => Some(Ok(chunk.bytes)),
        GuestItem::Trailer(trailer) => check(&trailer).err().map(Err),
        GuestItem::Cut => Some(Err(super::cut_off())),
    }
}

/// Replaces a file.
pub(super) async fn write(
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
    mode: Option<u32>,
    content: ByteStream,
) -> Result<()> {
    let path = bytes(path);
    let items = content.map(|bytes| bytes.map(TreeItem::Data)).boxed();
    send(guests, id, &Call::Write { path, mode }, items).await
}

/// Reads a tree.
pub(super) async fn pack(
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
) -> Result<TreeStream> {
    let bytes = printed(guests, id, &Call::Pack(bytes(path))).await?;
    let records = unfold(
        (bytes, Decoder::default()),
        |(mut bytes, mut decoder)| async move {
            loop {
                match decoder.next_record() {
                    Ok(Some(Record::Entry(entry))) => {
                        return Some((Ok(tree_item(entry)), (bytes, decoder)));
                    }
                    Ok(Some(Record::Data(data))) => {
                        return Some((
                            Ok(TreeItem::Data(Bytes::copy_from_slice(data))),
                            (bytes, decoder),
                        ));
                    }
                    Ok(Some(Record::End) | None) => {}
                    Err(text) => {
                        return Some((
                            Err(EngineError::internal(text)),
                            (stream::empty().boxed(), decoder),
                        ));
                    }
                }
                match bytes.next().await? {
                    Ok(more) => decoder.push(&more),
                    Err(error) => {
                        return Some((Err(error), (stream::empty().boxed(), Decoder::default())));
                    }
                }
            }
        },
    );
    Ok(records.boxed())
}

/// Writes a tree.
pub(super) async fn unpack(
    guests: &Guests,
    id: &SandboxId,
    path: &SandboxPath,
    tree: TreeStream,
) -> Result<()> {
    send(guests, id, &Call::Unpack(bytes(path)), tree).await
}

/// A place in a sandbox that is kept for a file; dropped before the file is whole, nothing of it stays.
pub(in crate::engine) struct Held {
    /// The name beside the final one under which the file grows, and who owns it.
    pub(in crate::engine) entry: FileEntry,
    run: GuestRun,
    stdin: ExecStdin,
}

impl Held {
    /// Says that the file is whole: it gets its name.
    pub(in crate::engine) async fn settle(mut self) -> Result<()> {
        // If the guest has hung up, its last words say why.
        let _ = self.stdin.write_all(&wire::end_bytes()).await;
        let _ = self.stdin.flush().await;
        loop {
            match self.run.next().await {
                GuestItem::Chunk(_) => {}
                GuestItem::Trailer(trailer) => return check(&trailer),
                GuestItem::Cut => return Err(super::cut_off()),
            }
        }
    }
}

/// Has a place kept for a file that does not come through the guest.
pub(super) async fn hold(guests: &Guests, id: &SandboxId, path: &SandboxPath) -> Result<Held> {
    let call = GuestCall {
        stdio: Stdio::Pipes(StdinMode::Piped),
        ..GuestCall::new(&Call::Hold(bytes(path)))
    };
    let (mut run, stdin) = guests.start(id, call).await?;
    let mut decoder = Decoder::default();
    loop {
        match run.next().await {
            GuestItem::Chunk(chunk) => decoder.push(&chunk.bytes),
            GuestItem::Trailer(trailer) => {
                check(&trailer)?;
                return Err(super::cut_off());
            }
            GuestItem::Cut => return Err(super::cut_off()),
        }
        if let Some(Record::Entry(entry)) = decoder.next_record().map_err(EngineError::internal)? {
            let entry = from_wire(entry);
            return Ok(Held { entry, run, stdin });
        }
    }
}

/// Feeds records to a verb while listening to it, so that its complaint is heard before everything is sent.
async fn send(guests: &Guests, id: &SandboxId, call: &Call, items: TreeStream) -> Result<()> {
    let call = GuestCall {
        stdio: Stdio::Pipes(StdinMode::Piped),
        ..GuestCall::new(call)
    };
    let (mut run, stdin) = guests.start(id, call).await?;
    let feeding = feed(stdin, items);
    tokio::pin!(feeding);
    let mut fed = false;
    loop {
        tokio::select! {
            item = run.next() => match item {
                GuestItem::Chunk(_) => {}
                GuestItem::Trailer(trailer) => return check(&trailer),
                GuestItem::Cut => return Err(super::cut_off()),
            },
            // An error of the source drops the connection without an end record: the guest then keeps the old file.
            sent = &mut feeding, if !fed => {
                sent?;
                fed = true;
            }
        }
    }
}

async fn feed(mut stdin: ExecStdin, mut items: TreeStream) -> Result<ExecStdin> {
    while let Some(item) = items.next().await {
        let sent = match item? {
            TreeItem::Entry(entry) => stdin.write_all(&wire::entry_bytes(&to_wire(entry))).await,
            TreeItem::Data(bytes) => send_data(&mut stdin, &bytes).await,
            TreeItem::Unreadable(_) => Ok(()),
        };
        if sent.is_err() {
            return Ok(stdin); // The guest has hung up; its last words say why.
        }
    }
    let _ = stdin.write_all(&wire::end_bytes()).await;
    let _ = stdin.flush().await;
    Ok(stdin)
}

async fn send_data(stdin: &mut ExecStdin, bytes: &[u8]) -> std::io::Result<()> {
    for piece in bytes.chunks(wire::DATA_PIECE) {
        let head = wire::data_head(piece.len());
        // One write for all: a head on its own would cost every process on the way a turn.
        let mut record = head.chain(piece).chain(wire::padding(piece.len()));
        stdin.write_all_buf(&mut record).await?;
    }
    Ok(())
}
