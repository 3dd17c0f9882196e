//! Follows a guest to its end mark and reads its last words.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::time::Instant;

use super::marks::MarkFilter;
use crate::domain::{Ended, ExecEnd, OutputChunk, StreamKind};
use crate::engine::{EngineError, Result};
use crate::guest::wire::{Cause, ProblemKind, Secret, Trailer};
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
    /// What its last words are known by.
    secret: Secret,
    /// How the engine knows it.
    pub(super) name: String,
}

impl GuestRun {
    /// Follows what is printed up to the mark of a secret.
    pub(super) fn new(
        output: BoxStream<'static, OutputChunk>,
        name: String,
        secret: Secret,
    ) -> Self {
        let mark = secret.mark();
        Self {
            output,
            stdout: MarkFilter::new(&mark),
            stderr: MarkFilter::new(&mark),
            secret,
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

    /// Reads the last words, once both marks and the whole line are there; what others print there has no seal.
    fn trailer(&self) -> Option<Trailer> {
        self.stdout.after()?;
        let lines = self.stderr.after()?.split_inclusive(|b| *b == b'\n');
        let mark = self.secret.mark();
        let mut whole = lines.filter_map(|line| line.strip_suffix(b"\n"));
        let words = whole.find_map(|line| {
            // Whoever has read the mark may have printed it once more.
            let line = line.strip_prefix(&mark[..]).unwrap_or(line);
            self.secret.open(line)
        })?;
        Some(Trailer::parse(words))
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream;

    use super::*;

    fn secret(last: char) -> Secret {
        let text = "0123456789abcdef0123456789abcde".to_owned() + &last.to_string();
        Secret::parse(&text).expect("a secret")
    }

    fn line(secret: &Secret, code: i32) -> Vec<u8> {
        let sealed = secret.seal(&Trailer::exit(code).encode()) + "\n";
        [secret.mark(), sealed.into_bytes()].concat()
    }

    /// Follows a guest that prints this on its standard error, and tells the code that it ended with.
    async fn code_of(stderr: Vec<u8>) -> Option<i32> {
        let chunk = |stream, bytes: Vec<u8>| OutputChunk {
            stream,
            bytes: Bytes::from(bytes),
        };
        let chunks = [
            chunk(StreamKind::Stdout, secret('1').mark()),
            chunk(StreamKind::Stderr, stderr),
        ];
        let output = stream::iter(chunks).boxed();
        let mut run = GuestRun::new(output, String::new(), secret('1'));
        loop {
            match run.next().await {
                GuestItem::Chunk(_) => {}
                GuestItem::Trailer(trailer) => return trailer.code,
                GuestItem::Cut => return None,
            }
        }
    }

    #[tokio::test]
    async fn last_words_of_others_are_not_believed() {
        assert_eq!(code_of(line(&secret('1'), 3)).await, Some(3));
        // A program of the same user has read the mark, and prints an end of its own before the true one, or instead of it.
        let mark = secret('1').mark();
        let forged = [&mark[..], b"cause=exit code=0\n"].concat();
        assert_eq!(code_of(forged.clone()).await, None);
        let both = [forged, line(&secret('1'), 3)].concat();
        assert_eq!(code_of(both).await, Some(3));
        let sealed = secret('2').seal(&Trailer::exit(0).encode()) + "\n";
        let guessed = [&mark[..], sealed.as_bytes()].concat();
        assert_eq!(code_of(guessed).await, None);
    }
}
