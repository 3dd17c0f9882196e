//! Where a command's output goes: through to our own streams, or into memory for JSON.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::mem::replace;
use std::os::fd::AsFd;

use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::views;
use crate::domain::{OutputChunk, StreamKind};
use crate::text::SafeStream;

/// Pieces that may wait for a slow reader of ours.
const WAITING: usize = 4;

/// Writes output on a thread of its own, so that a blocked pipe does not keep us from hearing signals.
pub(super) struct Writer {
    pieces: mpsc::Sender<OutputChunk>,
    state: State,
}

enum State {
    /// Many commands print nothing; a thread is started for the first piece.
    Waiting(mpsc::Receiver<OutputChunk>, bool),
    /// The thread says how it went.
    Writing(oneshot::Receiver<io::Result<()>>),
}

impl Writer {
    /// Prepares to write; what goes to a terminal is made safe, unless it is `raw` because a person asked for a terminal.
    pub(super) fn new(raw: bool) -> Self {
        let (pieces, waiting) = mpsc::channel(WAITING);
        Self {
            pieces,
            state: State::Waiting(waiting, raw),
        }
    }

    /// Waits until a piece can be handed over, or never again.
    pub(super) async fn room(&self) {
        let _ = self.pieces.reserve().await;
    }

    /// Hands a piece over after there was [`Self::room`]; false when nobody reads any more.
    pub(super) fn write(&mut self, chunk: OutputChunk) -> bool {
        if let State::Waiting(..) = self.state {
            self.start();
        }
        self.pieces.try_send(chunk).is_ok()
    }

    fn start(&mut self) {
        let (tell, told) = oneshot::channel();
        if let State::Waiting(pieces, raw) = replace(&mut self.state, State::Writing(told)) {
            std::thread::spawn(move || tell.send(write_all(pieces, raw)));
        }
    }

    /// Waits until everything is written.
    pub(super) async fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        match self.state {
            State::Waiting(..) => Ok(()),
            State::Writing(told) => told.await.unwrap_or(Ok(())),
        }
    }
}

fn write_all(mut pieces: mpsc::Receiver<OutputChunk>, raw: bool) -> io::Result<()> {
    let mut out = Sink::new(unbuffered(&io::stdout())?, raw);
    let mut err = Sink::new(unbuffered(&io::stderr())?, raw);
    while let Some(chunk) = pieces.blocking_recv() {
        match chunk.stream {
            StreamKind::Stdout => out.write(&chunk.bytes)?,
            StreamKind::Stderr => err.write(&chunk.bytes)?,
        }
    }
    out.finish()?;
    err.finish()
}

/// Opens one of our streams without the standard library's line buffer, which writes every piece in two.
fn unbuffered(stream: &impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// One of our streams: exact bytes into pipes and files, safe text onto terminals.
struct Sink<W: Write> {
    writer: W,
    safe: Option<SafeStream>,
    text: String,
}

impl<W: Write + IsTerminal> Sink<W> {
    fn new(writer: W, raw: bool) -> Self {
        let safe = (writer.is_terminal() && !raw).then(SafeStream::new);
        Self {
            writer,
            safe,
            text: String::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(safe) = &mut self.safe else {
            self.writer.write_all(bytes)?;
            return self.writer.flush();
        };
        safe.push(bytes, &mut self.text);
        self.flush_text()
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(safe) = &mut self.safe {
            safe.finish(&mut self.text);
        }
        self.flush_text()
    }

    fn flush_text(&mut self) -> io::Result<()> {
        self.writer.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.writer.flush()
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
