//! Streams of simulated processes: bounded everywhere, so that nothing grows when nobody reads.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{Mutex, mpsc};
use tokio::time::sleep;

use super::super::world::World;
use crate::domain::{OutputChunk, SandboxId, SandboxPath, StreamKind};

/// Bytes in one piece of output.
pub(super) const PIECE: usize = 16 << 10;

/// Bytes that wait in a pipe.
const PIPE: usize = 64 << 10;

/// Why a stream takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nobody reads.
    Closed,
    /// The files hold as much as they may, or the file cannot be written.
    Full,
}

/// The three streams of a process.
#[derive(Clone)]
pub(in crate::engine::demo) struct Io {
    pub(in crate::engine::demo) input: Input,
    pub(in crate::engine::demo) out: Sink,
    pub(in crate::engine::demo) err: Sink,
}

/// Where a process reads.
#[derive(Clone)]
pub(in crate::engine::demo) enum Input {
    /// Nothing comes.
    Empty,
    /// A pipe or what the user sends.
    Pipe(Arc<Mutex<DuplexStream>>),
    /// A file as it was when it was opened.
    File(Arc<Mutex<Bytes>>),
    /// Zeros without end.
    Zero,
}

/// Where a process writes.
#[derive(Clone)]
pub(in crate::engine::demo) enum Sink {
    /// The output of the exec.
    Exec {
        sender: mpsc::Sender<OutputChunk>,
        stream: StreamKind,
    },
    /// The output of the exec through a terminal.
    Terminal(mpsc::Sender<OutputChunk>),
    /// The next process.
    Pipe(Arc<Mutex<DuplexStream>>),
    /// The end of a file.
    File {
        world: Arc<World>,
        id: SandboxId,
        path: SandboxPath,
    },
    /// Nowhere.
    Null,
}

/// Makes a pipe.
pub(super) fn pipe() -> (Sink, Input) {
    let (write, read) = tokio::io::duplex(PIPE);
    (
        Sink::Pipe(Arc::new(Mutex::new(write))),
        Input::Pipe(Arc::new(Mutex::new(read))),
    )
}

impl Input {
    /// Reads some bytes, at most `most`; none at the end.
    pub(super) async fn read(&self, most: usize) -> Vec<u8> {
        let most = most.min(PIECE);
        match self {
            Self::Empty => Vec::new(),
            Self::Pipe(pipe) => {
                let mut piece = vec![0; most];
                let count = pipe.lock().await.read(&mut piece).await.unwrap_or(0);
                piece.truncate(count);
                piece
            }
            Self::File(rest) => {
                let mut rest = rest.lock().await;
                let count = most.min(rest.len());
                rest.split_to(count).to_vec()
            }
            Self::Zero => {
                breathe().await;
                vec![0; most]
            }
        }
    }

    /// Reads one line without its end; `None` at the end of the input.
    pub(super) async fn line(&self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            match self.read(1).await.first() {
                None if line.is_empty() => return None,
                None | Some(b'\n') => break,
                Some(_) if line.len() >= PIPE => break,
                Some(byte) => line.push(*byte),
            }
        }
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

impl Sink {
    /// Writes bytes, waiting for room.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<(), Refusal> {
        for piece in bytes.chunks(PIECE) {
            self.write_piece(piece).await?;
        }
        Ok(())
    }

    async fn write_piece(&self, piece: &[u8]) -> Result<(), Refusal> {
        match self {
            Self::Exec { sender, stream } => {
                send(sender, *stream, Bytes::copy_from_slice(piece)).await
            }
            Self::Terminal(sender) => send(sender, StreamKind::Stdout, cooked(piece)).await,
            Self::Pipe(pipe) => {
                let written = pipe.lock().await.write_all(piece).await;
                written.map_err(|_| Refusal::Closed)
            }
            Self::File { world, id, path } => {
                let written = world.with(id, |sandbox, _| sandbox.files.append(path, piece));
                written.map_err(|_| Refusal::Full)
            }
            Self::Null => Ok(()),
        }
    }
}

/// Lets time pass, so that endless output neither starves others nor outruns a paused clock.
pub(super) async fn breathe() {
    sleep(Duration::from_millis(1)).await;
}

async fn send(
    sender: &mpsc::Sender<OutputChunk>,
    stream: StreamKind,
    bytes: Bytes,
) -> Result<(), Refusal> {
    let sent = sender.send(OutputChunk { stream, bytes }).await;
    sent.map_err(|_| Refusal::Closed)
}

/// Ends lines as a terminal does.
fn cooked(piece: &[u8]) -> Bytes {
    let mut whole = Vec::with_capacity(piece.len());
    for byte in piece {
        if *byte == b'\n' {
            whole.push(b'\r');
        }
        whole.push(*byte);
    }
    whole.into()
}
