//! Files being read and written as streams.

use futures_util::stream::{self, StreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::context::Context;
use super::pump::{Pump, Pumped};
use super::streams::{Input, Inputs, Stream};
use crate::domain::{Ended, ExecEnd, OutputChunk, RequestId, SandboxPath, StreamId, StreamKind};
use crate::engine::{EngineError, ExecItem};
use crate::protocol::{Event, Failure, FailureKind, Reply};

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
    context.touch(&stream.sandbox).await;
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
            () = stream.stopped() => return Ok(ExecEnd::bare(Ended::Cancelled)),
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
    context.touch(&stream.sandbox).await;
    let bytes = content(context.clone(), inputs);
    tokio::select! {
        written = engine.write(&stream.sandbox.id, path, mode, bytes) => written.map(|()| ExecEnd::bare(Ended::Code(0))).map_err(Failure::from),
        () = stream.stopped() => Ok(ExecEnd::bare(Ended::Cancelled)),
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
