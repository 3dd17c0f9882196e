//! The manager's loop: takes requests, starts a task for each, and sees every task to its end.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};

use super::context::Context;
use super::streams::{Input, NewStream, StreamTask, Streams};
use super::{Host, Options, host, programs, watch as watching};
use crate::domain::{OwnerKind, RequestId, StreamId};
use crate::protocol::{Event, Failure, FailureKind, Reply, Request, Topic};

/// How long tasks get to clean up when the manager ends.
const CLEAN_UP: Duration = Duration::from_secs(8);

/// What a task tells the loop when it has ended.
#[derive(Clone, Copy)]
pub(super) enum Finished {
    /// Nothing the loop must know.
    Plain,
    /// A stream is over.
    Stream(StreamId),
}

/// The manager's own state; all of it is touched by one task only.
pub(super) struct Manager {
    pub(super) context: Context,
    close: watch::Sender<bool>,
    tasks: JoinSet<Finished>,
    /// What each task owes: a reply, and the end of a stream if it serves one.
    owed: HashMap<Id, (RequestId, Option<StreamId>)>,
    pub(super) streams: Streams,
}

impl Manager {
    pub(super) fn new(hosts: Vec<Host>, options: Options, events: mpsc::Sender<Event>) -> Self {
        let (close, closing) = watch::channel(false);
        Self {
            context: Context::new(hosts, options, events, closing),
            close,
            tasks: JoinSet::new(),
            owed: HashMap::new(),
            streams: Streams::default(),
        }
    }

    /// Serves until `shutdown` is ready or nobody can send requests any more.
    pub(super) async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        shutdown: impl Future<Output = ()> + Send,
    ) {
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(ended) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.on_task_end(ended).await,
                request = requests.recv() => match request {
                    Some(request) => self.take(request),
                    None => break,
                },
            }
        }
        self.wind_down().await;
    }

    /// Tells the tasks to stop and waits for them, but neither for ever nor for an engine that hangs.
    async fn wind_down(&mut self) {
        let _ = self.close.send(true);
        let context = self.context.clone();
        tokio::select! {
            // First, because most often nothing is left to do, and then no engine has to be asked.
            biased;
            () = self.clean_up() => {}
            () = host::all_hang(context.hosts()) => {
                tracing::warn!("the engine hangs; what was under way was dropped");
            }
        }
        self.tasks.shutdown().await;
        self.release().await;
    }

    async fn clean_up(&mut self) {
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(CLEAN_UP, drained).await.is_err() {
            let left = self.tasks.len();
            tracing::warn!(left, "tasks did not end in time and were dropped");
        }
        self.tasks.shutdown().await;
        programs::remove_temporary(&self.context).await;
    }

    /// Records that this process ends in order, so that what it made is no orphan.
    async fn release(&self) {
        let owner = &self.context.options.owner;
        if owner.kind != OwnerKind::Cli
            && let Err(failure) = self.context.options.store.release(owner).await
        {
            tracing::warn!(%failure, "the end of this process was not recorded");
        }
    }

    /// Books the end of a task; one that panicked still owes what it was to say.
    async fn on_task_end(&mut self, ended: Result<(Id, Finished), JoinError>) {
        match ended {
            Ok((id, finished)) => {
                self.owed.remove(&id);
                self.on_finished(finished);
            }
            Err(error) => self.on_task_panic(&error).await,
        }
    }

    fn on_finished(&mut self, finished: Finished) {
        match finished {
            Finished::Plain => {}
            Finished::Stream(id) => drop(self.streams.close(id)),
        }
    }

    async fn on_task_panic(&mut self, error: &JoinError) {
        tracing::error!(%error, "a task of the manager failed");
        let Some((request, stream)) = self.owed.remove(&error.id()) else {
            return;
        };
        let words = "sandtop made a mistake while doing this; the log says more";
        let failure = Failure::new(FailureKind::Internal, words);
        // A front end that had its reply passes over a second one, but it would wait for ever for the end.
        self.context.reply(request, Err(failure.clone())).await;
        if let Some(stream) = stream {
            self.streams.close(stream);
            let ended = Event::Ended {
                stream,
                outcome: Err(failure),
                took: Duration::ZERO,
            };
            self.context.send(ended).await;
        }
    }

    /// Starts a task that ends in the reply.
    pub(super) fn answer(
        &mut self,
        id: RequestId,
        work: impl Future<Output = Result<Reply, Failure>> + Send + 'static,
    ) {
        let context = self.context.clone();
        let task = self.tasks.spawn(async move {
            let outcome = work.await;
            context.reply(id, outcome).await;
            Finished::Plain
        });
        self.owed.insert(task.id(), (id, None));
    }

    /// Opens a stream and starts the task that serves it.
    pub(super) fn open<F>(
        &mut self,
        id: RequestId,
        stream: StreamId,
        new: NewStream,
        serve: impl FnOnce(StreamTask) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let NewStream {
            stream: known,
            inputs,
        } = new;
        if self.streams.open(stream, known.clone()).is_err() {
            let words = "a stream of this number is open already";
            let failure = Failure::new(FailureKind::Conflict, words);
            return self.answer(id, async { Err(failure) });
        }
        let serving = serve(StreamTask {
            context: self.context.clone(),
            request: id,
            id: stream,
            stream: known,
            inputs,
        });
        let task = self.tasks.spawn(async move {
            serving.await;
            Finished::Stream(stream)
        });
        self.owed.insert(task.id(), (id, Some(stream)));
    }

    /// Hands input to the stream's task, which replies when it has been taken.
    pub(super) fn input(&mut self, id: RequestId, stream: StreamId, input: Input) {
        let sent = self
            .streams
            .find(stream)
            .and_then(|known| known.accept(input));
        if let Err(failure) = sent {
            self.answer(id, async { Err(failure) });
        }
    }

    pub(super) fn watch(&mut self, id: RequestId, topic: &Topic) {
        for host in self.context.hosts().to_vec() {
            let (context, topic) = (self.context.clone(), topic.clone());
            self.tasks.spawn(async move {
                watching::watch(&context, &host, &topic).await;
                Finished::Plain
            });
        }
        self.answer(id, async { Ok(Reply::Done) });
    }
}
