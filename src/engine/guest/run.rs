//! Follows a guest to its end mark and reads its last words.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::time::Instant;

use super::marks::MarkFilter;
use crate::domain::{Ended, ExecEnd, OutputChunk, StreamKind};
use crate::engine::{EngineError, Result};
use crate::guest::wire;
use crate::protocol::FailureKind;

/// How long a process may take to go after its last words.
const GOING: Duration = Duration::from_millis(500);

/// The guest's last words.
#[derive(Debug, Clone, Default)]
pub(super) struct Trailer(BTreeMap<String, String>);

impl Trailer {
    /// Takes words that were read elsewhere.
    pub(super) fn new(fields: BTreeMap<String, String>) -> Self {
        Self(fields)
    }

    fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.parse().ok()
    }

    /// Tells whether the kernel killed processes for memory meanwhile, if the sandbox can know.
    pub(super) fn saw_oom(&self) -> Option<bool> {
        self.number::<u8>("oom").map(|seen| seen == 1)
    }

    /// Reads how the command ended.
    pub(super) fn end(&self) -> ExecEnd {
        let code = self.number("code").unwrap_or(-1);
        let ended = match (
            self.0.get("cause").map(String::as_str),
            self.number("signal"),
        ) {
            (Some("timeout"), _) => Ended::TimedOut,
            (Some("cancelled"), _) => Ended::Cancelled,
            (Some("exit"), Some(signal)) => Ended::Signal(signal),
            (Some("exit"), None) => Ended::Code(code),
            _ => Ended::Lost,
        };
        ExecEnd {
            ended,
            peak_memory_bytes: self.number("peak").filter(|bytes| *bytes > 0),
            cpu_time: self.number("cpu_us").map(Duration::from_micros),
        }
    }

    /// Turns the failure of a file verb into an error.
    pub(super) fn check(&self) -> Result<()> {
        let Some(word) = self.0.get("error") else {
            return Ok(());
        };
        let kind = match word.as_str() {
            "not_found" => FailureKind::NotFound,
            "denied" => FailureKind::Denied,
            "conflict" => FailureKind::Conflict,
            "no_space" => FailureKind::NoSpace,
            "invalid" => FailureKind::Invalid,
            _ => FailureKind::Internal,
        };
        let message = self.0.get("message").cloned().unwrap_or_default();
        let failed = EngineError::new(kind, message);
        Err(match kind {
            FailureKind::Denied => failed
                .with_hint("the sandbox's user may only write below its work directory and /tmp"),
            FailureKind::NoSpace => {
                failed.with_hint("free some space in the sandbox or on the engine's disk")
            }
            _ => failed,
        })
    }
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
                GuestItem::Trailer(trailer) => return trailer.check().map(|()| Ok(printed)),
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
        Some(Trailer(wire::trailer_fields(line.get(..end)?)))
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
