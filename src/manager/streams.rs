//! Byte streams of a session, and the running commands among them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::context::Context;
use super::pump::{Pump, Pumped};
use super::record::RunRecord;
use crate::domain::{
    Ended, ExecEnd, ExecId, ExecSpec, HostName, OutputChunk, RequestId, SandboxId, SandboxRef,
    StreamId, TtySize,
};
use crate::engine::{ExecStdin, RunningExec};
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

/// A stream that is about to be opened, with the receiving end of its input.
pub(super) struct NewStream {
    pub(super) stream: Stream,
    pub(super) inputs: Inputs,
}

impl NewStream {
    /// Describes the stream of a command.
    pub(super) fn exec(sandbox: SandboxRef, exec: ExecId) -> Self {
        let mut new = Self::file(sandbox);
        new.stream.exec = Some(exec);
        new
    }

    /// Describes a stream that reads or writes a file.
    pub(super) fn file(sandbox: SandboxRef) -> Self {
        let (sender, inputs) = mpsc::channel(INPUTS);
        let stream = Stream {
            sandbox,
            exec: None,
            inputs: sender,
            terminal: Arc::default(),
            cancelled: Arc::default(),
            stop: Arc::default(),
        };
        Self { stream, inputs }
    }

    /// Describes a stream that reads what is kept on this machine, and so belongs to no sandbox.
    pub(super) fn spool(host: HostName) -> Self {
        Self::file(SandboxRef::new(host, SandboxId::new("")))
    }
}

impl Stream {
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

/// An open stream, with all that the task needs that serves it.
pub(super) struct StreamTask {
    pub(super) context: Context,
    /// The request that opened it.
    pub(super) request: RequestId,
    pub(super) id: StreamId,
    pub(super) stream: Stream,
    pub(super) inputs: Inputs,
}

impl StreamTask {
    /// Replies that the stream is open.
    pub(super) async fn opened(&self) {
        self.context.reply(self.request, Ok(Reply::Opened)).await;
    }

    /// Replies that nothing came of it.
    pub(super) async fn refuse(self, failure: Failure) {
        self.context.reply(self.request, Err(failure)).await;
    }

    /// Sends output.
    pub(super) async fn output(&self, chunk: OutputChunk) {
        let stream = self.id;
        self.context.send(Event::Output { stream, chunk }).await;
    }

    /// Sends the last word.
    pub(super) async fn ended(&self, outcome: Result<ExecEnd, Failure>, took: Duration) {
        let ended = Event::Ended {
            stream: self.id,
            outcome,
            took,
        };
        self.context.send(ended).await;
    }

    /// Waits until someone wants the stream to end, or the manager ends.
    pub(super) async fn stopped(&self) {
        tokio::select! {
            () = self.stream.stop.notified() => {}
            () = self.context.closing() => {}
        }
    }

    /// Hands the input over to whoever reads it.
    pub(super) fn take_inputs(&mut self) -> Inputs {
        let (_, none) = mpsc::channel(1);
        std::mem::replace(&mut self.inputs, none)
    }
}

/// Runs a command: opened, its output, then its end.
pub(super) async fn exec(mut task: StreamTask, spec: ExecSpec) {
    let started = Instant::now();
    let sandbox = task.stream.sandbox.clone();
    let mut record = match RunRecord::begin(&task.context, &task.stream, &spec).await {
        Ok(record) => record,
        Err(failure) => return task.refuse(failure).await,
    };
    let (running, ()) = tokio::join!(
        start(&task.context, &sandbox, &spec),
        task.context.touch(&sandbox)
    );
    let running = match running {
        Ok(running) => running,
        Err(failure) => {
            record.failed(&failure).await;
            return task.refuse(failure).await;
        }
    };
    if let Some(terminal) = &running.terminal {
        let _ = task.stream.terminal.set(terminal.clone());
    }
    task.opened().await;
    let end = follow(&mut task, running, &mut record).await;
    let took = started.elapsed();
    record.end(&end).await;
    task.ended(Ok(end), took).await;
}

async fn start(
    context: &Context,
    sandbox: &SandboxRef,
    spec: &ExecSpec,
) -> Result<RunningExec, Failure> {
    let engine = context.engine(sandbox)?;
    engine.exec(&sandbox.id, spec).await.map_err(Failure::from)
}

/// Moves output and input at the same time; neither waits for the other.
async fn follow(task: &mut StreamTask, running: RunningExec, record: &mut RunRecord) -> ExecEnd {
    let mut pump = Pump::new(running.items);
    let inputs = task.take_inputs();
    let (task, stream) = (&*task, &task.stream);
    let feeding = feed(&task.context, inputs, running.stdin);
    let closing = close(&task.context, stream);
    tokio::pin!(feeding, closing);
    let (mut fed, mut told) = (false, false);
    loop {
        tokio::select! {
            piece = pump.next() => match piece {
                Pumped::Output(chunk) => {
                    record.put(&chunk);
                    task.output(chunk).await;
                }
                Pumped::End(end) => return truth(stream, end),
            },
            () = record.pace(), if record.is_behind() => {}
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
