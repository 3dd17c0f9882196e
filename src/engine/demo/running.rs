//! A command on its way: its processes, its output and its one end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};

use super::fate::Fate;
use super::script::Job;
use super::world::World;
use crate::domain::{Ended, EngineEventKind, ExecEnd, ExecId, OutputChunk, SandboxId};
use crate::engine::ExecItem;

/// Memory that simulated processes are said to take.
pub(super) const PEAK_MEMORY: u64 = 3 << 20;

/// An exec in the books of its sandbox until this is dropped.
pub(super) struct Entry {
    pub(super) world: Arc<World>,
    pub(super) id: SandboxId,
    pub(super) exec: ExecId,
    pub(super) ended: Option<Ended>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let exit_code = self.ended.and_then(Ended::exit_code).map(i64::from);
        // A sandbox that is gone has no books.
        let _ = self.world.with(&self.id, |sandbox, journal| {
            sandbox.execs.remove(self.exec.as_str());
            journal.record(&sandbox.sandbox, EngineEventKind::ExecEnded { exit_code });
            Ok(())
        });
    }
}

/// A command on its way.
pub(super) struct Running {
    pub(super) program: Option<BoxFuture<'static, Ended>>,
    pub(super) output: mpsc::Receiver<OutputChunk>,
    pub(super) fate: Fate,
    pub(super) entry: Option<Entry>,
    pub(super) ended: Option<Ended>,
}

impl Running {
    /// Goes on until there is output or an end to tell.
    pub(super) async fn next(mut self) -> Option<(ExecItem, Self)> {
        while self.ended.is_none() {
            let is_frozen = self.fate.is_frozen();
            tokio::select! {
                biased;
                ended = self.fate.turn() => self.ended = ended,
                Some(chunk) = self.output.recv() => return Some((ExecItem::Chunk(chunk), self)),
                ended = poll(&mut self.program), if !is_frozen => self.ended = Some(ended),
            }
        }
        let mut entry = self.entry.take()?;
        // Ends every process; what they wrote before is still told.
        self.program = None;
        if let Some(chunk) = self.output.recv().await {
            self.entry = Some(entry);
            return Some((ExecItem::Chunk(chunk), self));
        }
        entry.ended = self.ended;
        let end = end(&entry);
        drop(entry);
        Some((ExecItem::End(end), self))
    }
}

async fn poll(program: &mut Option<BoxFuture<'static, Ended>>) -> Ended {
    match program {
        Some(program) => program.await,
        None => std::future::pending().await,
    }
}

/// Makes up the last word on an exec.
fn end(entry: &Entry) -> ExecEnd {
    let ended = entry.ended.unwrap_or(Ended::Lost);
    let limit = entry.world.with(&entry.id, |sandbox, _| {
        Ok(sandbox.spec.limits.memory_bytes.unwrap_or(PEAK_MEMORY))
    });
    let peak_memory_bytes = match ended {
        Ended::Lost => return ExecEnd::bare(ended),
        Ended::OutOfMemory => limit.ok(),
        Ended::Code(_) | Ended::Signal(_) | Ended::TimedOut | Ended::Cancelled => Some(PEAK_MEMORY),
    };
    ExecEnd {
        ended,
        peak_memory_bytes,
        cpu_time: Some(Duration::from_millis(1)),
    }
}

/// Runs the command and, beside it, the background jobs it starts; they end with it.
pub(super) async fn drive(
    mut main: BoxFuture<'static, Ended>,
    mut signal: watch::Receiver<i32>,
    mut started: mpsc::UnboundedReceiver<Job>,
) -> Ended {
    let mut jobs = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            Ok(()) = signal.changed() => return Ended::Signal(*signal.borrow()),
            ended = &mut main => return ended,
            Some(job) = started.recv() => jobs.push(job),
            Some(()) = jobs.next() => {}
        }
    }
}
