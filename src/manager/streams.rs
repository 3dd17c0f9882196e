//! Byte streams of a session: running commands, files being read and files being written.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::context::Context;
use super::pump::{Pump, Pumped};
use crate::domain::{
    Ended, ExecEnd, ExecId, ExecSpec, OutputChunk, RequestId, SandboxPath, SandboxRef, StreamId,
    StreamKind, TtySize,
};
use crate::engine::{EngineError, ExecItem, ExecStdin, RunningExec};
use crate::protocol::{Event, Failure, FailureKind, Reply};

/// Pieces of input that may wait for a slow reader.
const INPUTS: usize = 8;
/// How long a cancelled command gets to report its end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A piece of input, with the request that brought it.
#[derive(Debug)]
pub(super) enum Input {
    Bytes(RequestId, Bytes),
    End(RequestId),
}

/// Where a stream's task gets its input.
pub(super) type Inputs = mpsc::Receiver<Input>;

/// What the manager knows of an open stream.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) sandbox: SandboxRef,
    exec: Option<ExecId>,
    inputs: mpsc::Sender<Input>,
    terminal: Arc<OnceLock<String>>,
    cancelled: Arc<AtomicBool>,
    stop: Arc<Notify>,
}

impl Stream {
    pub(super) fn exec(sandbox: SandboxRef, exec: ExecId) -> (Self, Inputs) {
        let (mut stream, inputs) = Self::file(sandbox);
        stream.exec = Some(exec);
        (stream, inputs)
    }

    pub(super) fn file(sandbox: SandboxRef) -> (Self, Inputs) {
        let (sender, inputs) = mpsc::channel(INPUTS);
        let stream = Self {
            sandbox,
            exec: None,
            inputs: sender,
            terminal: Arc::default(),
            cancelled: Arc::default(),
            stop: Arc::default(),
        };
        (stream, inputs)
    }

    /// Passes input to the stream's task, which replies once it has been written.
    pub(super) fn accept(&self, input: Input) -> Result<(), Failure> {
        self.inputs.try_send(input).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                Failure::new(FailureKind::Busy, "the command is not reading its input")
            }
            mpsc::error::TrySendError::Closed(_) => {
                Failure::new(FailureKind::Conflict, "the command takes no more input")
            }
        })
    }
}

/// The open streams.
#[derive(Debug, Default)]
pub(super) struct Streams(HashMap<StreamId, Stream>);

impl Streams {
    pub(super) fn open(&mut self, id: StreamId, stream: Stream) -> Result<(), ()> {
        match self.0.entry(id) {
            std::collections::hash_map::Entry::Occupied(_) => Err(()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(stream);
                Ok(())
            }
        }
    }

    pub(super) fn find(&self, id: StreamId) -> Result<Stream, Failure> {
        self.0
            .get(&id)
            .cloned()
            .ok_or_else(|| Failure::new(FailureKind::NotFound, "this command has ended already"))
    }

    pub(super) fn close(&mut self, id: StreamId) -> Option<Stream> {
        self.0.remove(&id)
    }
}

/// Runs a command: opened, its output, then its end.
pub(super) async fn exec(
    context: Context,
    request: RequestId,
    id: StreamId,
    (stream, inputs): (Stream, Inputs),
    spec: ExecSpec,
) {
    let started = Instant::now();
    let running = match context.engine(&stream.sandbox) {
        Ok(engine) => engine
            .exec(&stream.sandbox.id, &spec)
            .await
            .map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let running = match running {
        Ok(running) => running,
        Err(failure) => return context.reply(request, Err(failure)).await,
    };
    if let Some(terminal) = &running.terminal {
        let _ = stream.terminal.set(terminal.clone());
    }
    context.reply(request, Ok(Reply::Opened)).await;
    let end = follow(&context, id, &stream, inputs, running).await;
    context
        .send(Event::Ended {
            stream: id,
            outcome: Ok(end),
            took: started.elapsed(),
        })
        .await;
}

/// Moves output and input at the same time; neither waits for the other.
async fn follow(
    context: &Context,
    id: StreamId,
    stream: &Stream,
    inputs: Inputs,
    running: RunningExec,
) -> ExecEnd {
    let mut pump = Pump::new(running.items);
    let feeding = feed(context, inputs, running.stdin);
    let closing = close(context, stream);
    tokio::pin!(feeding, closing);
    let (mut fed, mut told) = (false, false);
    loop {
        tokio::select! {
            piece = pump.next() => match piece {
                Pumped::Output(chunk) => context.send(Event::Output { stream: id, chunk }).await,
                Pumped::End(end) => return truth(stream, end),
            },
            () = &mut feeding, if !fed => fed = true,
            () = &mut closing, if !told => told = true,
            () = stream.stop.notified() => return ExecEnd::bare(Ended::Cancelled),
        }
    }
}

/// A command that was cancelled and then lost was cancelled.
fn truth(stream: &Stream, end: Option<ExecEnd>) -> ExecEnd {
    let mut end = end.unwrap_or_else(|| ExecEnd::bare(Ended::Lost));
    if end.ended == Ended::Lost && stream.cancelled.load(Ordering::Relaxed) {
        end.ended = Ended::Cancelled;
    }
    end
}

/// Cancels the command when the manager ends, so that nothing runs on unseen.
async fn close(context: &Context, stream: &Stream) {
    context.closing().await;
    let _ = cancel(context, stream.clone()).await;
}

/// Writes input as it comes and replies to each piece; a process that reads no more takes the rest without a word.
async fn feed(context: &Context, mut inputs: Inputs, mut stdin: Option<ExecStdin>) {
    while let Some(input) = inputs.recv().await {
        let (request, written) = match (input, &mut stdin) {
            (Input::Bytes(request, _) | Input::End(request), None) => (request, Err(())),
            (Input::Bytes(request, bytes), Some(stdin)) => {
                (request, write_input(stdin, &bytes).await)
            }
            (Input::End(request), Some(stdin)) => (request, stdin.shutdown().await.map_err(drop)),
        };
        if written.is_err() {
            stdin = None;
        }
        let outcome = written.map(|()| Reply::Done);
        context
            .reply(
                request,
                outcome.map_err(|()| {
                    Failure::new(FailureKind::Conflict, "the command takes no more input")
                }),
            )
            .await;
    }
}

async fn write_input(stdin: &mut ExecStdin, bytes: &[u8]) -> Result<(), ()> {
    stdin.write_all(bytes).await.map_err(drop)?;
    stdin.flush().await.map_err(drop)
}

/// Ends a stream.
pub(super) async fn cancel(context: &Context, stream: Stream) -> Result<Reply, Failure> {
    stream.cancelled.store(true, Ordering::Relaxed);
    let Some(exec) = &stream.exec else {
        stream.stop.notify_one();
        return Ok(Reply::Done);
    };
    let engine = context.engine(&stream.sandbox)?;
    let killed =
        tokio::time::timeout(LAST_WORDS * 2, engine.cancel(&stream.sandbox.id, exec)).await;
    // Whatever the engine says, the front end gets its end.
    let stop = stream.stop.clone();
    if !matches!(killed, Ok(Ok(()))) {
        stop.notify_one();
    }
    match killed {
        Ok(outcome) => outcome.map(|()| Reply::Done).map_err(Failure::from),
        Err(_) => Err(Failure::new(
            FailureKind::Timeout,
            "cancelling: the engine did not answer in time",
        )),
    }
}

/// Tells a terminal its size.
pub(super) async fn resize(
    context: &Context,
    stream: Stream,
    size: TtySize,
) -> Result<Reply, Failure> {
    let Some(terminal) = stream.terminal.get() else {
        return Err(Failure::new(
            FailureKind::Conflict,
            "this command has no terminal",
        ));
    };
    context
        .engine(&stream.sandbox)?
        .resize(terminal, size)
        .await?;
    Ok(Reply::Done)
}

/// Reads a file: opened, its bytes as standard output, then its end.
pub(super) async fn read(
    context: Context,
    request: RequestId,
    id: StreamId,
    (stream, _inputs): (Stream, Inputs),
    path: SandboxPath,
    limit: Option<u64>,
) {
    let started = Instant::now();
    let opened = match context.engine(&stream.sandbox) {
        Ok(engine) => engine
            .read(&stream.sandbox.id, &path, limit)
            .await
            .map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let bytes = match opened {
        Ok(bytes) => bytes,
        Err(failure) => return context.reply(request, Err(failure)).await,
    };
    context.reply(request, Ok(Reply::Opened)).await;
    let outcome = deliver(&context, id, &stream, bytes).await;
    context
        .send(Event::Ended {
            stream: id,
            outcome,
            took: started.elapsed(),
        })
        .await;
}

async fn deliver(
    context: &Context,
    id: StreamId,
    stream: &Stream,
    bytes: crate::engine::ByteStream,
) -> Result<ExecEnd, Failure> {
    let (failures, mut failed) = mpsc::channel(1);
    let items = bytes.filter_map(move |piece| {
        let item = match piece {
            Ok(bytes) => Some(ExecItem::Chunk(OutputChunk {
                stream: StreamKind::Stdout,
                bytes,
            })),
            Err(error) => {
                let _ = failures.try_send(Failure::from(error));
                None
            }
        };
        std::future::ready(item)
    });
    let mut pump = Pump::new(items.boxed());
    loop {
        tokio::select! {
            piece = pump.next() => match piece {
                Pumped::Output(chunk) => context.send(Event::Output { stream: id, chunk }).await,
                Pumped::End(_) => return failed.try_recv().map_or(Ok(ExecEnd::bare(Ended::Code(0))), Err),
            },
            () = stream.stop.notified() => return Ok(ExecEnd::bare(Ended::Cancelled)),
            () = context.closing() => return Ok(ExecEnd::bare(Ended::Cancelled)),
        }
    }
}

/// Writes a file: opened, then its end once all input has arrived.
pub(super) async fn write_file(
    context: &Context,
    stream: &Stream,
    inputs: Inputs,
    path: &SandboxPath,
    mode: Option<u32>,
) -> Result<ExecEnd, Failure> {
    let engine = context.engine(&stream.sandbox)?;
    let bytes = content(context.clone(), inputs);
    tokio::select! {
        written = engine.write(&stream.sandbox.id, path, mode, bytes) => written.map(|()| ExecEnd::bare(Ended::Code(0))).map_err(Failure::from),
        () = stream.stop.notified() => Ok(ExecEnd::bare(Ended::Cancelled)),
        () = context.closing() => Ok(ExecEnd::bare(Ended::Cancelled)),
    }
}

/// Serves a file write.
pub(super) async fn write(
    context: Context,
    request: RequestId,
    id: StreamId,
    (stream, inputs): (Stream, Inputs),
    path: SandboxPath,
    mode: Option<u32>,
) {
    let started = Instant::now();
    context.reply(request, Ok(Reply::Opened)).await;
    let outcome = write_file(&context, &stream, inputs, &path, mode).await;
    context
        .send(Event::Ended {
            stream: id,
            outcome,
            took: started.elapsed(),
        })
        .await;
}

/// Turns input into file content; input that stops without its end is an error, so that no half file is kept.
fn content(context: Context, inputs: Inputs) -> crate::engine::ByteStream {
    stream::unfold(Some((context, inputs)), |state| async move {
        let (context, mut inputs) = state?;
        match inputs.recv().await {
            Some(Input::Bytes(request, bytes)) => {
                context.reply(request, Ok(Reply::Done)).await;
                Some((Ok(bytes), Some((context, inputs))))
            }
            Some(Input::End(request)) => {
                context.reply(request, Ok(Reply::Done)).await;
                None
            }
            None => Some((
                Err(EngineError::new(
                    FailureKind::Interrupted,
                    "the content was cut off",
                )),
                None,
            )),
        }
    })
    .boxed()
}
