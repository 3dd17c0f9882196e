//! Records a run while it happens: its beginning before it starts, its output as it comes, its end.
//!
//! Recording is beside the point of a run: whatever goes wrong here is said once, and the run goes on.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::alive::{Life, is_alive};
use super::context::Context;
use super::settle::settle;
use super::streams::Stream;
use crate::domain::{
    ExecEnd, ExecId, ExecSpec, OutputChunk, Run, RunEnd, RunResult, SandboxRef, Spooled,
};
use crate::protocol::{Failure, FailureKind};
use crate::store::{Begun, Flushed, LifecycleIntent, Writer};

/// Time between two writes of output.
const PACE: Duration = Duration::from_millis(100);
/// Time between two notes of how much there is, for those who guard against too much.
const NOTES: Duration = Duration::from_millis(500);

/// Runs that end well sooner are taken to have had all the processes that they wanted.
const UNSUSPECTED: Duration = Duration::from_secs(1);
/// Longest wait for the kernel's count of refused processes.
const ASKING: Duration = Duration::from_secs(2);

/// The record of one run.
pub(super) struct RunRecord {
    context: Context,
    sandbox: SandboxRef,
    id: ExecId,
    started_at: DateTime<Utc>,
    started: Instant,
    writer: Option<Writer>,
    writing: Option<JoinHandle<Flushed>>,
    next: Instant,
    next_note: Instant,
}

impl RunRecord {
    /// Records that a run begins.
    ///
    /// # Errors
    /// The sandbox is being reaped, or has as many detached runs as it may.
    pub(super) async fn begin(
        context: &Context,
        stream: &Stream,
        spec: &ExecSpec,
    ) -> Result<Self, Failure> {
        let (store, started_at) = (&context.options.store, Utc::now());
        let run = Run {
            id: spec.id.clone(),
            sandbox: stream.sandbox.clone(),
            name: context.name_of(&stream.sandbox),
            argv: spec.argv.clone(),
            code: spec.code.clone(),
            source: context.options.source,
            session: spec.session.clone(),
            started_at,
            owner: context.options.owner.clone(),
            tie: spec.tie,
            result: None,
            spooled: Spooled::default(),
        };
        if let Ok(place) = context.engine_key(&stream.sandbox) {
            begin(context, place, &run).await?;
        }
        let limit = store.retention().run_bytes;
        Ok(Self {
            context: context.clone(),
            sandbox: stream.sandbox.clone(),
            id: spec.id.clone(),
            started_at,
            started: Instant::now(),
            writer: store.spools().map(|dir| Writer::new(dir, &spec.id, limit)),
            writing: None,
            next: Instant::now(),
            next_note: Instant::now() + NOTES,
        })
    }

    /// Keeps a piece of output.
    pub(super) fn put(&mut self, chunk: &OutputChunk) {
        if let Some(writer) = &mut self.writer {
            writer.put(chunk);
        }
    }

    /// Tells whether output waits to be written, or is being written.
    pub(super) fn is_behind(&self) -> bool {
        self.writing.is_some() || self.writer.as_ref().is_some_and(Writer::is_behind)
    }

    /// Waits until output should be written, and has that done beside everything else.
    pub(super) async fn pace(&mut self) {
        if let Some(writing) = &mut self.writing {
            let flushed = writing.await;
            self.writing = None;
            self.on_flushed(flushed.ok()).await;
        }
        tokio::time::sleep_until(self.next).await;
        self.next = Instant::now() + PACE;
        self.note();
        let flush = self.writer.as_mut().and_then(Writer::begin_flush);
        self.writing = flush.map(|flush| tokio::task::spawn_blocking(|| flush.write()));
    }

    fn note(&mut self) {
        let Some(writer) = self.writer.as_ref().filter(|_| self.next_note <= self.next) else {
            return;
        };
        self.next_note = self.next + NOTES;
        let store = &self.context.options.store;
        store.note_output(&self.id, writer.spooled());
    }

    async fn on_flushed(&mut self, flushed: Option<Flushed>) {
        let ended = match (flushed, &mut self.writer) {
            (Some(flushed), Some(writer)) => writer.end_flush(flushed),
            _ => Ok(()),
        };
        let outcome = ended.map_err(|error| {
            let words = format!("keeping the output of run {} failed: {error}", self.id);
            Failure::new(FailureKind::NoSpace, words)
                .with_hint("the run goes on; what cannot be kept is counted as cut")
        });
        self.context.ok_or_warn(outcome).await;
    }

    /// Records how the run ended.
    pub(super) async fn end(self, end: &ExecEnd) {
        let result = RunResult::of(end, Utc::now(), self.started.elapsed());
        self.close(result).await;
    }

    /// Records that the run could not start.
    pub(super) async fn failed(self, failure: &Failure) {
        let end = match failure.kind {
            FailureKind::Denied | FailureKind::Refused => RunEnd::Denied,
            _ => RunEnd::Failed,
        };
        let result = RunResult::bare(end, self.started_at, Utc::now());
        self.close(result).await;
    }

    /// Asks the kernel whether it refused processes meanwhile; of short runs that ended well nothing is expected.
    async fn note_refusals(&self, result: &RunResult) {
        let is_well = result.end.word() == "ok";
        if is_well && self.started.elapsed() < UNSUSPECTED {
            return;
        }
        let Ok(engine) = self.context.engine(&self.sandbox) else {
            return;
        };
        let asking = engine.refused_processes(&self.sandbox.id);
        if let Ok(Some(counter)) = tokio::time::timeout(ASKING, asking).await {
            self.context.note_refusals(&self.sandbox, counter).await;
        }
    }

    async fn close(mut self, result: RunResult) {
        if let Some(writing) = self.writing.take() {
            let flushed = writing.await.ok();
            self.on_flushed(flushed).await;
        }
        if let Some(flush) = self.writer.as_mut().and_then(Writer::begin_flush) {
            let flushed = tokio::task::spawn_blocking(|| flush.write()).await;
            self.on_flushed(flushed.ok()).await;
        }
        self.note_refusals(&result).await;
        let spooled = self.writer.as_ref().map(Writer::spooled);
        let store = &self.context.options.store;
        let ended = store.end_run(&self.id, &result, spooled);
        let (ended, ()) = tokio::join!(ended, self.context.touch(&self.sandbox));
        self.context.ok_or_warn(ended).await;
    }
}

/// Records the beginning of a run, if nothing that lives is in its way.
async fn begin(context: &Context, place: &str, run: &Run) -> Result<(), Failure> {
    match try_begin(context, place, run).await {
        None | Some(Begun::Recorded) => return Ok(()),
        Some(Begun::Claimed(claim))
            if is_alive(&claim.by, &context.options.owner) == Life::Alive =>
        {
            return Err(claim_failure(run, &claim));
        }
        Some(Begun::Claimed(_)) => {
            // The reaper was killed; what it claimed is free, and the run is not to be lost.
            let withdrawn = context
                .options
                .store
                .withdraw_intent(place, &run.sandbox.id)
                .await;
            context.ok_or_warn(withdrawn).await;
        }
        // Some of them may have ended with whoever held them.
        Some(Begun::Full) => settle(context, context.host(&run.sandbox.host)?).await,
    }
    match try_begin(context, place, run).await {
        Some(Begun::Full) => Err(full_failure(run, context.options.max_detached)),
        _ => Ok(()),
    }
}

async fn try_begin(context: &Context, place: &str, run: &Run) -> Option<Begun> {
    let options = &context.options;
    let begun = options.store.begin_within(place, run, options.max_detached);
    let begun = begun.await;
    context.ok_or_warn(begun).await
}

fn full_failure(run: &Run, most: usize) -> Failure {
    let words = format!(
        "{} has {most} detached runs already, which is the most",
        run.name
    );
    Failure::new(FailureKind::Refused, words).with_hint(
        "wait for one of them, end one with `sandtop cancel`, or raise max_detached in [manager]",
    )
}

fn claim_failure(run: &Run, claim: &LifecycleIntent) -> Failure {
    let words = format!(
        "{} is being removed right now: {}, by {}",
        run.name,
        claim.reason,
        claim.by.in_full()
    );
    Failure::new(FailureKind::Refused, words).with_hint("create another sandbox")
}
