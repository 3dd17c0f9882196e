//! Where a command's output goes: through to our own streams, or into memory for JSON.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd};

use serde_json::{Map, Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::views;
use crate::domain::{OutputChunk, StreamKind};
use crate::text::{SafeStream, TerminalFilter, TerminalPermissions};

/// Pieces that may wait for a slow reader of ours.
const WAITING: usize = 4;

/// Writes output beside everything else, so that a blocked pipe does not keep us from hearing signals.
pub(super) struct Writer {
    pieces: mpsc::Sender<OutputChunk>,
    /// Many commands print nothing; our streams are opened for the first piece.
    waiting: Option<(mpsc::Receiver<OutputChunk>, Drawing)>,
    /// Says how it went.
    writing: Option<JoinHandle<io::Result<()>>>,
}

impl Writer {
    /// Prepares to write.
    pub(super) fn new(drawing: Drawing) -> Self {
        let (pieces, waiting) = mpsc::channel(WAITING);
        Self {
            pieces,
            waiting: Some((waiting, drawing)),
            writing: None,
        }
    }

    /// Waits until a piece can be handed over, or never again.
    pub(super) async fn room(&self) {
        let _ = self.pieces.reserve().await;
    }

    /// Hands a piece over after there was [`Self::room`]; false when nobody reads any more.
    pub(super) fn write(&mut self, chunk: OutputChunk) -> bool {
        if let Some((pieces, drawing)) = self.waiting.take() {
            self.writing = Some(tokio::spawn(write_all(pieces, drawing)));
        }
        self.pieces.try_send(chunk).is_ok()
    }

    /// Waits until everything is written.
    pub(super) async fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        match self.writing {
            Some(writing) => writing.await.unwrap_or(Ok(())),
            None => Ok(()),
        }
    }
}

async fn write_all(mut pieces: mpsc::Receiver<OutputChunk>, drawing: Drawing) -> io::Result<()> {
    let mut out = Sink::new(&io::stdout(), drawing)?;
    let mut err = Sink::new(&io::stderr(), drawing)?;
    while let Some(chunk) = pieces.recv().await {
        match chunk.stream {
            StreamKind::Stdout => out.write(&chunk.bytes).await?,
            StreamKind::Stderr => err.write(&chunk.bytes).await?,
        }
    }
    out.finish().await?;
    err.finish().await
}

/// Opens one of our streams for writing without waiting.
///
/// A pipe is opened anew, because whoever shares it with us would not expect that it does not wait; it is then written on
/// this thread, and no other has to be woken for every piece. Anything else is written by a thread that may wait.
fn open_writer(stream: &impl AsFd) -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let stream = stream.as_fd();
    let name = format!("/proc/self/fd/{}", stream.as_raw_fd());
    if let Ok(pipe) = pipe::OpenOptions::new().open_sender(name) {
        return Ok(Box::new(pipe));
    }
    let own = std::fs::File::from(stream.try_clone_to_owned()?);
    Ok(Box::new(tokio::fs::File::from_std(own)))
}

/// What may become of our terminal, if output goes to one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Drawing {
    /// Text that is safe in every way.
    Text,
    /// Whatever a program draws on it, because a person asked for a terminal, and what else is allowed.
    Screen(TerminalPermissions),
}

/// How bytes are written.
enum Way {
    /// As they are: into pipes and files.
    Exact,
    Text(Box<SafeStream>, String),
    Screen(TerminalFilter, Vec<u8>),
}

/// One of our streams.
struct Sink {
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    way: Way,
}

impl Sink {
    fn new(stream: &(impl AsFd + IsTerminal), drawing: Drawing) -> io::Result<Self> {
        let way = match drawing {
            _ if !stream.is_terminal() => Way::Exact,
            Drawing::Text => Way::Text(Box::default(), String::new()),
            Drawing::Screen(allowed) => Way::Screen(TerminalFilter::new(allowed), Vec::new()),
        };
        Ok(Self {
            writer: open_writer(stream)?,
            way,
        })
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.way {
            Way::Exact => self.writer.write_all(bytes).await,
            Way::Text(safe, text) => {
                text.clear();
                safe.push(bytes, text);
                self.writer.write_all(text.as_bytes()).await
            }
            Way::Screen(filter, passed) => {
                passed.clear();
                filter.push(bytes, passed);
                self.writer.write_all(passed).await
            }
        }
    }

    async fn finish(&mut self) -> io::Result<()> {
        if let Way::Text(safe, text) = &mut self.way {
            text.clear();
            safe.finish(text);
            self.writer.write_all(text.as_bytes()).await?;
        }
        self.writer.flush().await
    }
}

/// Shapes a piece of output.
pub(super) fn piece(chunk: &OutputChunk) -> Value {
    let mut fields = Map::new();
    fields.insert("stream".into(), json!(chunk.stream));
    views::put_text(&mut fields, "data", &chunk.bytes);
    Value::Object(fields)
}

/// Keeps the first bytes of each stream and counts the rest.
#[derive(Debug)]
pub(super) struct Kept {
    limit: usize,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    cut_stdout: u64,
    cut_stderr: u64,
}

impl Kept {
    pub(super) fn new(limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            limit,
            stdout: Vec::new(),
            stderr: Vec::new(),
            cut_stdout: 0,
            cut_stderr: 0,
        }
    }

    pub(super) fn keep(&mut self, chunk: &OutputChunk) {
        let (kept, cut) = match chunk.stream {
            StreamKind::Stdout => (&mut self.stdout, &mut self.cut_stdout),
            StreamKind::Stderr => (&mut self.stderr, &mut self.cut_stderr),
        };
        let room = self.limit.saturating_sub(kept.len()).min(chunk.bytes.len());
        kept.extend(chunk.bytes.iter().take(room));
        *cut += (chunk.bytes.len() - room) as u64;
    }

    /// Adds what was kept to a JSON object.
    pub(super) fn put(&self, fields: &mut Map<String, Value>) {
        views::put_text(fields, "stdout", &self.stdout);
        views::put_text(fields, "stderr", &self.stderr);
        fields.insert(
            "truncated".into(),
            json!({"stdout": self.cut_stdout, "stderr": self.cut_stderr}),
        );
    }

    /// Returns standard output alone, and how much of it was cut.
    pub(super) fn stdout(&self) -> (&[u8], u64) {
        (&self.stdout, self.cut_stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_limit_is_counted() {
        let mut kept = Kept::new(3);
        for text in ["ab", "cd", "ef"] {
            kept.keep(&OutputChunk {
                stream: StreamKind::Stdout,
                bytes: text.as_bytes().into(),
            });
        }
        let mut fields = Map::new();
        kept.put(&mut fields);
        assert_eq!(
            Value::Object(fields),
            json!({"stdout": "abc", "stderr": "", "truncated": {"stdout": 3, "stderr": 0}})
        );
    }
}
