//! Follows a guest to its end mark and reads its last words.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::time::Instant;

use super::marks::MarkFilter;
use crate::domain::{Ended, ExecEnd, OutputChunk, StreamKind};
use crate::engine::{EngineError, Result};
use crate::guest::wire::{Cause, ProblemKind, Trailer};
use crate::protocol::FailureKind;

/// How long a process may take to go after its last words.
const GOING: Duration = Duration::from_millis(500);

/// Reads from the guest's last words how its command ended.
pub(super) fn exec_end(trailer: &Trailer) -> ExecEnd {
    let ended = match (trailer.cause, trailer.signal) {
        (Some(Cause::Timeout), _) => Ended::TimedOut,
        (Some(Cause::Cancelled), _) => Ended::Cancelled,
        (Some(Cause::Exit), Some(signal)) => Ended::Signal(signal),
        (Some(Cause::Exit), None) => Ended::Code(trailer.code.unwrap_or(-1)),
        (None, _) => Ended::Lost,
    };
    ExecEnd {
        ended,
        peak_memory_bytes: trailer.peak_bytes.filter(|bytes| *bytes > 0),
        cpu_time: trailer.cpu_micros.map(Duration::from_micros),
        refused_processes: trailer.refused_processes,
    }
}

/// Turns the failure of a verb into an error.
pub(super) fn check(trailer: &Trailer) -> Result<()> {
    let Some((kind, message)) = &trailer.problem else {
        return Ok(());
    };
    let failed = |kind| EngineError::new(kind, message.clone());
    Err(match kind {
        ProblemKind::NotFound => failed(FailureKind::NotFound),
        ProblemKind::Denied => failed(FailureKind::Denied)
            .with_hint("the sandbox's user may only write below its work directory and /tmp"),
        ProblemKind::Conflict => failed(FailureKind::Conflict),
        ProblemKind::NoSpace => failed(FailureKind::NoSpace)
            .with_hint("free some space in the sandbox or on the engine's disk"),
        ProblemKind::Invalid => failed(FailureKind::Invalid),
        ProblemKind::Internal => failed(FailureKind::Internal),
    })
}

/// What following the guest brings.
pub(super) enum GuestItem {
    /// Output of its command, or of its verb.
    Chunk(OutputChunk),
    /// Its last words; nothing follows.
    Trailer(Trailer),
    /// It ended without last words: killed, or the sandbox is gone.
    Cut,
}

/// A running guest.
pub(super) struct GuestRun {
    output: BoxStream<'static, OutputChunk>,
    stdout: MarkFilter,
    stderr: MarkFilter,
    /// How the engine knows it.
    pub(super) name: String,
}

impl GuestRun {
    /// Follows what is printed up to `mark`.
    pub(super) fn new(output: BoxStream<'static, OutputChunk>, name: String, mark: &[u8]) -> Self {
        Self {
            output,
            stdout: MarkFilter::new(mark),
            stderr: MarkFilter::new(mark),
            name,
        }
    }

    /// Waits for the next item.
    pub(super) async fn next(&mut self) -> GuestItem {
        loop {
            if let Some(trailer) = self.trailer() {
                return GuestItem::Trailer(trailer);
            }
            let Some(chunk) = self.output.next().await else {
                return self.cut();
            };
            let filter = match chunk.stream {
                StreamKind::Stdout => &mut self.stdout,
                StreamKind::Stderr => &mut self.stderr,
            };
            let bytes = filter.push(chunk.bytes);
            if !bytes.is_empty() {
                return GuestItem::Chunk(OutputChunk {
                    stream: chunk.stream,
                    bytes,
                });
            }
        }
    }

    /// Waits for the next item, but not beyond a moment.
    pub(super) async fn next_before(&mut self, deadline: Option<Instant>) -> Option<GuestItem> {
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, self.next()).await.ok(),
            None => Some(self.next().await),
        }
    }

    /// Reads to the end; what was printed without last words is the inner error.
    pub(super) async fn output(&mut self) -> Result<std::result::Result<Vec<u8>, Vec<u8>>> {
        let mut printed = Vec::new();
        loop {
            match self.next().await {
                GuestItem::Chunk(chunk) => printed.extend_from_slice(&chunk.bytes),
                GuestItem::Trailer(trailer) => return check(&trailer).map(|()| Ok(printed)),
                GuestItem::Cut => return Ok(Err(printed)),
            }
        }
    }

    /// Waits a moment for the process itself to go, after its last words.
    pub(super) async fn ended(&mut self) {
        let ending = async { while self.output.next().await.is_some() {} };
        let _ = tokio::time::timeout(GOING, ending).await;
    }

    /// Reads the last words, once both marks and the whole line are there.
    fn trailer(&self) -> Option<Trailer> {
        self.stdout.after()?;
        let line = self.stderr.after()?;
        let end = line.iter().position(|b| *b == b'\n')?;
        Some(Trailer::parse(line.get(..end)?))
    }

    fn cut(&mut self) -> GuestItem {
        for (stream, filter) in [
            (StreamKind::Stdout, &mut self.stdout),
            (StreamKind::Stderr, &mut self.stderr),
        ] {
            let bytes = filter.flush();
            if !bytes.is_empty() {
                return GuestItem::Chunk(OutputChunk { stream, bytes });
            }
        }
        GuestItem::Cut
    }
}
