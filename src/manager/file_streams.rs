//! Files being read and written as streams.

use futures_util::stream::StreamExt;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::context::Context;
use super::pump::{Pump, Pumped};
use super::streams::{Input, Inputs, StreamTask};
use crate::domain::{Ended, ExecEnd, OutputChunk, SandboxPath, StreamKind};
use crate::engine::{ByteStream, EngineError, ExecItem, unfold};
use crate::protocol::{Failure, FailureKind, Reply};

/// Reads a file: opened, its bytes as standard output, then its end.
pub(super) async fn read(task: StreamTask, path: SandboxPath, limit: Option<u64>) {
    let started = Instant::now();
    let sandbox = &task.stream.sandbox;
    let opened = match task.context.engine(sandbox) {
        Ok(engine) => engine
            .read(&sandbox.id, &path, limit)
            .await
            .map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let bytes = match opened {
        Ok(bytes) => bytes,
        Err(failure) => return task.refuse(failure).await,
    };
    task.opened().await;
    let outcome = deliver(&task, bytes).await;
    task.ended(outcome, started.elapsed()).await;
}

async fn deliver(task: &StreamTask, bytes: ByteStream) -> Result<ExecEnd, Failure> {
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
                Pumped::Output(chunk) => task.output(chunk).await,
                Pumped::End(_) => return failed.try_recv().map_or(Ok(ExecEnd::bare(Ended::Code(0))), Err),
            },
            () = task.stopped() => return Ok(ExecEnd::bare(Ended::Cancelled)),
        }
    }
}

/// Writes a file: opened, then its end once all input has arrived.
pub(super) async fn write(mut task: StreamTask, path: SandboxPath, mode: Option<u32>) {
    let started = Instant::now();
    task.opened().await;
    let content = content(task.context.clone(), task.take_inputs());
    let outcome = replace(&task, &path, mode, content).await;
    task.ended(outcome, started.elapsed()).await;
}

async fn replace(
    task: &StreamTask,
    path: &SandboxPath,
    mode: Option<u32>,
    content: ByteStream,
) -> Result<ExecEnd, Failure> {
    let sandbox = &task.stream.sandbox;
    let engine = task.context.engine(sandbox)?;
    task.context.touch(sandbox).await;
    tokio::select! {
        written = engine.write(&sandbox.id, path, mode, content) => written.map(|()| ExecEnd::bare(Ended::Code(0))).map_err(Failure::from),
        () = task.stopped() => Ok(ExecEnd::bare(Ended::Cancelled)),
    }
}

/// `SandboxLocks` input into file content; input that stops without its end is an error, so that no half file is kept.
fn content(context: Context, inputs: Inputs) -> ByteStream {
    unfold(Some((context, inputs)), |state| async move {
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
