//! Follows one stream of the manager: output out, input in, signals heard.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::output::{Kept, Writer};
use super::print::{Outcome, Stop};
use super::session::Session;
use crate::domain::{Ended, ExecEnd, OutputChunk, RequestId, StreamId, TtySize};
use crate::protocol::{Command, Event, Failure, FailureKind};

/// Bytes of our standard input sent at a time.
const INPUT_PIECE: usize = 64 * 1024;

/// Where output goes.
pub(super) enum Output {
    /// To our own streams.
    Through(Writer),
    /// Into memory.
    Kept(Kept),
}

/// Where input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputFrom {
    /// Nowhere.
    Nothing,
    /// Our standard input.
    Stdin,
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
    interrupts: u8,
    closed: bool,
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
            interrupts: 0,
            closed: false,
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
                event = self.session.event() => if let Some((outcome, took)) = self.take(event?).await? {
                    let end = outcome?;
                    return Ok(Followed { end, took, output: self.output, closed: self.closed });
                },
                read = stdin.read(&mut buffer), if reading => self.send(read.unwrap_or(0), &buffer)?,
                _ = interrupt.recv() => self.interrupted()?,
                _ = resize.recv(), if resizes => self.resized()?,
            }
        }
    }

    async fn take(
        &mut self,
        event: Event,
    ) -> Outcome<Option<(Result<ExecEnd, Failure>, Duration)>> {
        match event {
            Event::Output { stream, chunk } if stream == self.stream => self.put(chunk).await?,
            Event::Ended {
                stream,
                outcome,
                took,
            } if stream == self.stream => return Ok(Some((outcome, took))),
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

    async fn put(&mut self, chunk: OutputChunk) -> Outcome {
        match &mut self.output {
            Output::Kept(kept) => kept.keep(&chunk),
            Output::Through(writer) => {
                if !self.closed && !writer.write(chunk).await {
                    self.closed = true;
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

    fn interrupted(&mut self) -> Outcome {
        self.interrupts += 1;
        if self.interrupts > 1 {
            return Err(Stop::Failed(Failure::new(
                FailureKind::Interrupted,
                "interrupted",
            )));
        }
        self.session.submit(Command::Cancel(self.stream))?;
        Ok(())
    }

    fn resized(&mut self) -> Outcome {
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
        match writer.finish().await {
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
