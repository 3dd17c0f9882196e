//! Recorded runs: listed, read, cancelled and brought to their true end, whatever process holds them.

use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use tokio::time::Instant;

use super::Host;
use super::context::Context;
use super::settle::settle;
use super::streams::StreamTask;
use crate::domain::{
    Ended, ExecEnd, ExecId, HostName, OutputChunk, Run, RunEnd, RunResult, StreamId,
};
use crate::protocol::{Event, Failure, FailureKind, Reply, RunFilter, Upto};
use crate::store::{Found, Piece, Reader};

/// Time between two looks at a run that another process holds, while it prints.
const LOOK: Duration = Duration::from_millis(60);
/// The same while it is silent; many may be followed at once.
const LAZY_LOOK: Duration = Duration::from_millis(400);
/// How long a cancelled run gets to be recorded as ended by the process that holds it.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// Lists runs, the newest first.
pub(super) async fn list(
    context: Context,
    host: HostName,
    filter: RunFilter,
) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    settle(&context, host).await;
    let runs = context
        .options
        .store
        .runs(&host.engine_key, &filter)
        .await?;
    Ok(Reply::Runs(runs))
}

/// Finds a run by a unique start of its id.
pub(super) async fn find(context: Context, host: HostName, id: String) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    settle(&context, host).await;
    let found = context.options.store.run(&host.engine_key, &id).await?;
    single(found, &id).map(|run| Reply::Run(Box::new(run)))
}

fn single(found: Found, id: &str) -> Result<Run, Failure> {
    match found {
        Found::One(run) => Ok(*run),
        Found::Many => Err(Failure::new(
            FailureKind::Invalid,
            format!("several runs start with `{id}`"),
        )
        .with_hint("write more of it")),
        Found::None => Err(
            Failure::new(FailureKind::NotFound, format!("no run is called `{id}`"))
                .with_hint("`sandtop runs` lists them"),
        ),
    }
}

async fn find_known(context: &Context, host: &Host, id: &ExecId) -> Result<Run, Failure> {
    let found = context
        .options
        .store
        .run(&host.engine_key, id.as_str())
        .await?;
    single(found, id.as_str())
}

/// Ends a run and waits until that is on record.
pub(super) async fn cancel(context: Context, host: HostName, id: ExecId) -> Result<Reply, Failure> {
    let host = context.host(&host)?;
    let run = find_known(&context, host, &id).await?;
    if let Some(result) = &run.result {
        let words = format!("run {id} has ended already: {}", result.end.word());
        return Err(Failure::new(FailureKind::Conflict, words));
    }
    context.options.store.ask_cancel(&id).await?;
    let killing = host.engine.cancel(&run.sandbox.id, &id);
    match tokio::time::timeout(LAST_WORDS, killing).await {
        Ok(outcome) => outcome?,
        Err(_) => {
            return Err(Failure::new(
                FailureKind::Timeout,
                "cancelling: the engine did not answer in time",
            ));
        }
    }
    let end = Instant::now() + LAST_WORDS;
    loop {
        let run = find_known(&context, host, &id).await?;
        if run.result.is_some() {
            return Ok(Reply::Run(Box::new(run)));
        }
        if Instant::now() > end {
            // Its processes are gone; whoever held it does not say so.
            let result =
                RunResult::bare(RunEnd::Ended(Ended::Cancelled), run.started_at, Utc::now());
            context.options.store.end_run(&id, &result, None).await?;
        }
        settle(&context, host).await;
        tokio::time::sleep(LOOK).await;
    }
}

/// Shows what a run printed: opened, its output, then its end.
pub(super) async fn read(task: StreamTask, run: ExecId, upto: Upto) {
    let context = &task.context;
    let found = match context.host(&task.stream.sandbox.host) {
        Ok(host) => find_known(context, host, &run).await.map(|run| (host, run)),
        Err(failure) => Err(failure),
    };
    let (host, run) = match found {
        Ok(found) => found,
        Err(failure) => return task.refuse(failure).await,
    };
    task.opened().await;
    let outcome = tokio::select! {
        outcome = deliver(context, task.id, host, run, upto) => outcome,
        () = task.stopped() => Ok((ExecEnd::bare(Ended::Cancelled), Duration::ZERO)),
    };
    let (outcome, took) = match outcome {
        Ok((end, took)) => (Ok(end), took),
        Err(failure) => (Err(failure), Duration::ZERO),
    };
    task.ended(outcome, took).await;
}

/// Sends what is kept, and what comes, until the run has ended or all is sent.
async fn deliver(
    context: &Context,
    id: StreamId,
    host: &Host,
    mut run: Run,
    upto: Upto,
) -> Result<(ExecEnd, Duration), Failure> {
    let spools = context
        .options
        .store
        .spools()
        .map(|dir| Reader::new(dir, &run.id));
    let mut reader = spools;
    let mut pause = LOOK;
    loop {
        // A run that has ended before this look has written all it will write.
        let is_last = run.result.is_some() || upto == Upto::Now;
        let pieces;
        (reader, pieces) = read_pieces(reader).await?;
        pause = if pieces.is_empty() {
            (pause * 2).min(LAZY_LOOK)
        } else {
            LOOK
        };
        for piece in pieces {
            send(context, id, piece).await;
        }
        if is_last {
            return Ok(end_of(&run));
        }
        tokio::time::sleep(pause).await;
        settle(context, host).await;
        run = find_known(context, host, &run.id).await?;
    }
}

async fn read_pieces(reader: Option<Reader>) -> Result<(Option<Reader>, Vec<Piece>), Failure> {
    let Some(mut reader) = reader else {
        return Ok((None, Vec::new()));
    };
    let reading = tokio::task::spawn_blocking(move || {
        let pieces = reader.read();
        (reader, pieces)
    });
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(
            FailureKind::Internal,
            format!("reading the kept output failed: {error}"),
        )
    };
    let (reader, pieces) = reading.await.map_err(|error| failed(&error))?;
    Ok((Some(reader), pieces.map_err(|error| failed(&error))?))
}

async fn send(context: &Context, stream: StreamId, piece: Piece) {
    if piece.gap.0 > 0 {
        let bytes = piece.gap.0;
        context.send(Event::Missing { stream, bytes }).await;
    }
    let chunk = OutputChunk {
        stream: piece.stream,
        bytes: Bytes::from(piece.bytes),
    };
    context.send(Event::Output { stream, chunk }).await;
}

fn end_of(run: &Run) -> (ExecEnd, Duration) {
    let Some(result) = &run.result else {
        return (ExecEnd::bare(Ended::Code(0)), Duration::ZERO);
    };
    let ended = match &result.end {
        RunEnd::Ended(ended) => *ended,
        RunEnd::Denied | RunEnd::Failed => Ended::Lost,
    };
    let end = ExecEnd {
        ended,
        peak_memory_bytes: result.peak_memory_bytes,
        cpu_time: result.cpu_time,
        ..ExecEnd::bare(ended)
    };
    (end, result.took)
}
