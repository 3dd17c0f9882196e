//! More than one process at once: pipelines and background jobs.

use std::ops::ControlFlow::Continue;

use futures_util::future::{BoxFuture, join_all};
use tokio::sync::{oneshot, watch};

use super::io::{Input, Io, pipe};
use super::shell::{Job, Shell};
use super::syntax::{Item, Simple};
use super::words::expand_whole;
use super::{Flow, processes, status_of};

impl Shell {
    /// Runs commands that feed each other; the last one's status counts.
    pub(super) async fn run_pipeline(&mut self, stages: &[Simple], io: &Io) -> Flow {
        let [first, rest @ ..] = stages else {
            return Continue(0);
        };
        if rest.is_empty() {
            return self.run_simple(first, io).await;
        }
        let mut running = Vec::new();
        let mut input = io.input.clone();
        for (place, stage) in stages.iter().enumerate() {
            let is_last = place + 1 == stages.len();
            let (out, next) = if is_last {
                (io.out.clone(), Input::Empty)
            } else {
                pipe()
            };
            let err = io.err.clone();
            let Some(stage) = self.stage(stage, Io { input, out, err }) else {
                return processes::cannot_fork(io).await;
            };
            running.push(stage);
            input = next;
        }
        let statuses = join_all(running).await;
        Continue(statuses.last().copied().unwrap_or(0))
    }

    /// Prepares one process of a pipeline; its streams close when it ends.
    fn stage(&self, simple: &Simple, io: Io) -> Option<BoxFuture<'static, i32>> {
        let (process, mut signal) = processes::enter(&self.site, &listed_name(simple))?;
        let mut shell = self.fork(process.pid);
        let simple = simple.clone();
        Some(Box::pin(async move {
            let _process = process;
            tokio::select! {
                flow = shell.run_simple(&simple, &io) => status_of(flow),
                _ = signal.changed() => 128 + *signal.borrow(),
            }
        }))
    }

    /// Starts a job that runs beside the shell, for as long as the exec runs.
    pub(super) async fn start_job(&mut self, item: &Item, io: &Io) -> Flow {
        let name = item.chain.first().and_then(|(_, stages)| stages.first());
        let name = name.map(listed_name).unwrap_or_default();
        let Some((process, signal)) = processes::enter(&self.site, &name) else {
            return processes::cannot_fork(io).await;
        };
        self.last_child = Some(process.pid);
        let (ended, end) = oneshot::channel();
        self.children.push(end);
        let job = self.job(item, io, signal, process.pid);
        // The driver is gone only when the exec is being dropped.
        let _ = self.site.jobs.send(Box::pin(async move {
            let _process = process;
            job.await;
            let _ = ended.send(());
        }));
        Continue(0)
    }

    fn job(&self, item: &Item, io: &Io, mut signal: watch::Receiver<i32>, pid: u32) -> Job {
        let mut shell = self.fork(pid);
        let chain = item.chain.clone();
        let io = Io {
            input: Input::Empty,
            ..io.clone()
        };
        Box::pin(async move {
            tokio::select! {
                _ = shell.run_chain(&chain, &io) => {}
                _ = signal.changed() => {}
            }
        })
    }
}

/// Names a command as process lists show it.
fn listed_name(simple: &Simple) -> String {
    let words = simple.words.iter();
    let words = words.map(|word| expand_whole(word, |name| format!("${name}")));
    words.collect::<Vec<_>>().join(" ")
}
