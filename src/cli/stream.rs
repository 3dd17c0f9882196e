//! Follows one stream of the manager: output out, input in, signals heard.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

use super::output::{Kept, Writer};
use super::print::{Outcome, Stop};
use super::session::Session;
use crate::domain::{Ended, ExecEnd, OutputChunk, RequestId, StreamId, TtySize};
use crate::protocol::{Command, Event, Failure, FailureKind};

/// Bytes of our standard input sent at a time.
const INPUT_PIECE: usize = 64 * 1024;
/// How long the output of a cancelled command may wait for a reader that does not read.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where output goes.
pub(super) enum Output {
    /// To our own streams.
    Through(Writer),
    /// Into memory.
    Kept(Kept),
    /// As JSON, a line for each piece.
    Lines,
}

/// Where input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputFrom {
    /// Nowhere.
    Nothing,
    /// Our standard input.
    Stdin,
}

/// Whoever reads our output, as far as we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Output waits for it as long as it takes.
    Reads,
    /// We were interrupted: output waits for it until then, and is dropped afterwards.
    Until(Instant),
    /// It hung up.
    Gone,
}

/// How a stream went.
pub(super) struct Followed {
    pub(super) end: ExecEnd,
    pub(super) took: Duration,
    pub(super) output: Output,
    /// Did our own reader hang up?
    pub(super) closed: bool,
}

/// Follows an open stream to its end.
pub(super) struct Follower<'a> {
    session: &'a mut Session,
    stream: StreamId,
    output: Output,
    waiting_for: Option<RequestId>,
    input: InputFrom,
    reader: Reader,
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        stream: StreamId,
        output: Output,
        input: InputFrom,
    ) -> Self {
        Self {
            session,
            stream,
            output,
            waiting_for: None,
            input,
            reader: Reader::Reads,
        }
    }

    /// Moves bytes until the end. Ctrl-C cancels; a second one does not wait.
    pub(super) async fn follow(mut self, resizes: bool) -> Outcome<Followed> {
        let mut stdin = tokio::io::stdin();
        let mut buffer = vec![0; INPUT_PIECE];
        let (mut interrupt, mut resize) = (
            listen(SignalKind::interrupt())?,
            listen(SignalKind::window_change())?,
        );
        loop {
            let reading = self.input == InputFrom::Stdin && self.waiting_for.is_none();
            tokio::select! {
                event = self.event() => if let Some((outcome, took)) = self.take(event?)? {
                    let end = outcome?;
                    let closed = self.reader == Reader::Gone;
                    return Ok(Followed { end, took, output: self.output, closed });
                },
                read = stdin.read(&mut buffer), if reading => self.send(read.unwrap_or(0), &buffer)?,
                _ = interrupt.recv() => self.on_interrupt()?,
                _ = resize.recv(), if resizes => self.on_resize()?,
            }
        }
    }

    /// Waits for the next event, but only when there is room for the output it may bring: a blocked reader of ours must
    /// not keep us from hearing signals.
    async fn event(&mut self) -> Result<Event, Failure> {
        if let Output::Through(writer) = &self.output {
            match self.reader {
                Reader::Reads => writer.room().await,
                Reader::Until(then) => {
                    let _ = tokio::time::timeout_at(then, writer.room()).await;
                }
                Reader::Gone => {}
            }
        }
        self.session.event().await
    }

    fn take(&mut self, event: Event) -> Outcome<Option<(Result<ExecEnd, Failure>, Duration)>> {
        match event {
            Event::Output { stream, chunk } if stream == self.stream => self.put(chunk)?,
            Event::Ended {
                stream,
                outcome,
                took,
            } if stream == self.stream => return Ok(Some((outcome, took))),
            Event::Missing { stream, bytes } if stream == self.stream => self.missing(bytes),
            Event::Replied { request, outcome } if self.waiting_for == Some(request) => {
                self.waiting_for = None;
                if outcome.is_err() {
                    // It reads no more; the rest of our input has nowhere to go.
                    self.input = InputFrom::Nothing;
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// Says that some output is missing here; JSON has the count of all that is.
    fn missing(&self, bytes: u64) {
        if matches!(self.output, Output::Through(_)) {
            let bytes = crate::text::human::bytes(bytes);
            super::print::note(&format!(
                "sandtop: {bytes} of the output were not kept here"
            ));
        }
    }

    fn put(&mut self, chunk: OutputChunk) -> Outcome {
        match &mut self.output {
            Output::Kept(kept) => kept.keep(&chunk),
            Output::Lines => super::print::json(&super::output::piece(&chunk))?,
            Output::Through(writer) => {
                if !writer.write(chunk) && self.reader == Reader::Reads {
                    self.reader = Reader::Gone;
                    self.session.submit(Command::Cancel(self.stream))?;
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, got: usize, buffer: &[u8]) -> Outcome {
        let command = if got == 0 {
            self.input = InputFrom::Nothing;
            Command::EndInput(self.stream)
        } else {
            let bytes = Bytes::copy_from_slice(buffer.get(..got).unwrap_or_default());
            Command::Input {
                stream: self.stream,
                bytes,
            }
        };
        self.waiting_for = Some(self.session.submit(command)?);
        Ok(())
    }

    fn on_interrupt(&mut self) -> Outcome {
        if self.reader != Reader::Reads {
            return Err(Stop::Failed(Failure::new(
                FailureKind::Interrupted,
                "interrupted",
            )));
        }
        self.reader = Reader::Until(Instant::now() + PATIENCE);
        self.session.submit(Command::Cancel(self.stream))?;
        Ok(())
    }

    fn on_resize(&mut self) -> Outcome {
        if let Some(size) = terminal_size() {
            self.session.submit(Command::Resize {
                stream: self.stream,
                size,
            })?;
        }
        Ok(())
    }
}

fn listen(kind: SignalKind) -> Outcome<Signal> {
    signal(kind).map_err(|error| {
        Failure::new(
            FailureKind::Internal,
            format!("listening for signals failed: {error}"),
        )
        .into()
    })
}

/// Waits until everything is written; whoever interrupted does not wait for a blocked reader.
async fn write_out(writer: Writer, ended: Ended) -> std::io::Result<()> {
    if ended != Ended::Cancelled {
        return writer.finish().await;
    }
    let finished = tokio::time::timeout(PATIENCE, writer.finish()).await;
    finished.unwrap_or(Ok(()))
}

/// Asks our terminal for its size.
pub(super) fn terminal_size() -> Option<TtySize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some(TtySize {
        columns: size.ws_col,
        rows: size.ws_row,
    })
}

/// Waits until everything is written, and turns a closed pipe into the quiet end it is.
pub(super) async fn finish(followed: Followed) -> Outcome<(ExecEnd, Duration)> {
    let closed = followed.closed && followed.end.ended == Ended::Cancelled;
    if let Output::Through(writer) = followed.output {
        match write_out(writer, followed.end.ended).await {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                return Err(Stop::ClosedPipe);
            }
            Err(error) => {
                let message = format!("writing the output failed: {error}");
                return Err(Failure::new(FailureKind::Internal, message).into());
            }
            Ok(()) if closed => return Err(Stop::ClosedPipe),
            Ok(()) => {}
        }
    }
    Ok((followed.end, followed.took))
}
