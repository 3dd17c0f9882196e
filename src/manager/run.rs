//! The manager's loop: takes requests, starts a task for each, and sees every task to its end.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};

use super::context::Context;
use super::streams::{Input, Inputs, Stream, Streams};
use super::{
    Host, Options, deaths, file_streams, lifecycle, package_cache, programs, reaper, runs, streams,
    transfer, watch as watching,
};
use crate::domain::{OwnerKind, RequestId, SandboxRef, StreamId};
use crate::protocol::{Action, Command, Event, Failure, FailureKind, Reply, Request, Topic};

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
    context: Context,
    close: watch::Sender<bool>,
    tasks: JoinSet<Finished>,
    /// What each task owes: a reply, and the end of a stream if it serves one.
    owed: HashMap<Id, (RequestId, Option<StreamId>)>,
    streams: Streams,
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
                Some(ended) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.ended(ended).await,
                request = requests.recv() => match request {
                    Some(request) => self.take(request),
                    None => break,
                },
            }
        }
        self.wind_down().await;
    }

    /// Tells the tasks to stop and waits for them, but not for ever.
    async fn wind_down(&mut self) {
        let _ = self.close.send(true);
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(CLEAN_UP, drained).await.is_err() {
            tracing::warn!(
                left = self.tasks.len(),
                "tasks did not end in time and were dropped"
            );
        }
        self.tasks.shutdown().await;
        programs::remove_temporary(&self.context).await;
        self.release().await;
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
    async fn ended(&mut self, ended: Result<(Id, Finished), JoinError>) {
        match ended {
            Ok((id, finished)) => {
                self.owed.remove(&id);
                self.book(finished);
            }
            Err(error) => self.failed(&error).await,
        }
    }

    fn book(&mut self, finished: Finished) {
        match finished {
            Finished::Plain => {}
            Finished::Stream(id) => drop(self.streams.close(id)),
        }
    }

    async fn failed(&mut self, error: &JoinError) {
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

    /// Starts what a request asks for.
    fn take(&mut self, Request { id, command }: Request) {
        tracing::debug!(id = id.0, command = name_of(&command), "request");
        match command {
            Command::Act { sandbox, action } => self.act(id, sandbox, action),
            Command::Watch(topic) => self.watch(id, &topic),
            Command::Exec { .. }
            | Command::ReadFile { .. }
            | Command::WriteFile { .. }
            | Command::ReadRun { .. } => self.open_stream(id, command),
            Command::Input { stream, bytes } => self.input(id, stream, Input::Bytes(id, bytes)),
            Command::EndInput(stream) => self.input(id, stream, Input::End(id)),
            Command::Resize { stream, size } => {
                let known = self.streams.find(stream);
                self.answer(id, move |c| async move {
                    streams::resize(&c, known?, size).await
                });
            }
            Command::Cancel(stream) => {
                let known = self.streams.find(stream);
                self.answer(
                    id,
                    move |c| async move { streams::cancel(&c, known?).await },
                );
            }
            other => self.take_plain(id, other),
        }
    }

    /// Starts what is answered by one task without further ado.
    fn take_plain(&mut self, id: RequestId, command: Command) {
        self.answer(id, move |context| async move {
            perform(&context, id, command).await
        });
    }

    fn open_stream(&mut self, id: RequestId, command: Command) {
        match command {
            Command::Exec {
                sandbox,
                stream,
                spec,
            } => {
                let opened = Stream::exec(sandbox, spec.id.clone());
                self.open(id, stream, opened, |c, s| {
                    streams::exec(c, id, stream, s, *spec)
                });
            }
            Command::ReadFile {
                sandbox,
                stream,
                path,
                limit,
            } => {
                let opened = Stream::file(sandbox);
                self.open(id, stream, opened, |c, s| {
                    file_streams::read(c, id, stream, s, path, limit)
                });
            }
            Command::WriteFile {
                sandbox,
                stream,
                path,
                mode,
            } => {
                let opened = Stream::file(sandbox);
                self.open(id, stream, opened, |c, s| {
                    file_streams::write(c, id, stream, s, path, mode)
                });
            }
            Command::ReadRun {
                host,
                run,
                stream,
                upto,
            } => {
                let opened = Stream::spool(host);
                self.open(id, stream, opened, |c, s| {
                    runs::read(c, (id, stream), s, run, upto)
                });
            }
            other => self.take_plain(id, other),
        }
    }

    /// Starts a task that ends in the reply.
    fn answer<F>(&mut self, id: RequestId, work: impl FnOnce(Context) -> F)
    where
        F: Future<Output = Result<Reply, Failure>> + Send + 'static,
    {
        let context = self.context.clone();
        let work = work(context.clone());
        self.start(id, async move {
            let outcome = work.await;
            context.reply(id, outcome).await;
            Finished::Plain
        });
    }

    fn start(&mut self, id: RequestId, task: impl Future<Output = Finished> + Send + 'static) {
        let handle = self.tasks.spawn(task);
        self.owed.insert(handle.id(), (id, None));
    }

    fn act(&mut self, id: RequestId, sandbox: SandboxRef, action: Action) {
        let context = self.context.clone();
        self.start(id, async move {
            let outcome = lifecycle::act(&context, &sandbox, action).await;
            context.reply(id, outcome).await;
            Finished::Plain
        });
    }

    /// Opens a stream and starts the task that serves it.
    fn open<F>(
        &mut self,
        id: RequestId,
        stream: StreamId,
        opened: (Stream, Inputs),
        serve: impl FnOnce(Context, (Stream, Inputs)) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let (known, inputs) = opened;
        if self.streams.open(stream, known.clone()).is_err() {
            let failure = Failure::new(
                FailureKind::Conflict,
                "a stream of this number is open already",
            );
            return self.answer(id, |_| async move { Err(failure) });
        }
        let serving = serve(self.context.clone(), (known, inputs));
        let handle = self.tasks.spawn(async move {
            serving.await;
            Finished::Stream(stream)
        });
        self.owed.insert(handle.id(), (id, Some(stream)));
    }

    /// Hands input to the stream's task, which replies when it has been taken.
    fn input(&mut self, id: RequestId, stream: StreamId, input: Input) {
        let sent = self
            .streams
            .find(stream)
            .and_then(|known| known.accept(input));
        if let Err(failure) = sent {
            self.answer(id, |_| async move { Err(failure) });
        }
    }

    fn watch(&mut self, id: RequestId, topic: &Topic) {
        for host in self.context.hosts().to_vec() {
            let (context, topic) = (self.context.clone(), topic.clone());
            self.tasks.spawn(async move {
                watching::watch(&context, &host, &topic).await;
                Finished::Plain
            });
        }
        self.answer(id, |_| async { Ok(Reply::Done) });
    }
}

/// Does what needs nothing of the manager's own state.
async fn perform(context: &Context, id: RequestId, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::Refresh => lifecycle::refresh(context).await,
        Command::Create { host, spec } => {
            let sandbox = lifecycle::create(context, id, &host, &spec).await?;
            Ok(Reply::Created(Box::new(sandbox)))
        }
        Command::Prepare { place, program } => {
            programs::prepare(context, id, place, *program).await
        }
        Command::Outlook { sandbox, program } => {
            programs::outlook(context, id, sandbox, *program).await
        }
        Command::Stock(host) => package_cache::list(context, &host).await,
        Command::ClearStock { host, keys } => package_cache::remove(context, &host, &keys).await,
        Command::PruneStock(host) => package_cache::prune(context, &host).await,
        Command::Inspect(sandbox) => lifecycle::inspect(context, &sandbox).await,
        Command::Processes(sandbox) => lifecycle::processes(context, &sandbox).await,
        Command::Changes(sandbox) => lifecycle::changes(context, &sandbox).await,
        Command::Images(host) => lifecycle::images(context, &host).await,
        Command::File { sandbox, op } => transfer::file(context, &sandbox, &op).await,
        Command::CopyIn { sandbox, from, to } => {
            transfer::copy_in(context, id, &sandbox, from, &to).await
        }
        Command::CopyOut { sandbox, from, to } => {
            transfer::copy_out(context, id, &sandbox, &from, to).await
        }
        Command::CallOff(request) => context.calls.off(request),
        Command::Sessions(sandbox) => lifecycle::sessions(context, &sandbox).await,
        Command::DropSession { sandbox, name } => {
            lifecycle::drop_session(context, &sandbox, &name).await
        }
        Command::History { since } => lifecycle::history(context, since).await,
        Command::Runs { host, filter } => runs::list(context, &host, &filter).await,
        Command::FindRun { host, id } => runs::find(context, &host, &id).await,
        Command::CancelRun { host, run } => runs::cancel(context, &host, &run).await,
        Command::Standings { host, rules } => reaper::standings(context, &host, &rules).await,
        Command::Survey { host, rules } => reaper::survey(context, &host, &rules).await,
        Command::Reap { host, rules, only } => {
            reaper::reap(context, &host, &rules, only.as_deref()).await
        }
        Command::Pin { sandbox, pinned } => reaper::pin(context, &sandbox, pinned).await,
        Command::Remember { host, name } => deaths::remember(context, &host, &name).await,
        Command::Diagnose(host) => lifecycle::diagnose(context, &host).await,
        other => {
            let message = format!("{} was sent to the wrong place", name_of(&other));
            Err(Failure::new(FailureKind::Internal, message))
        }
    }
}

fn name_of(command: &Command) -> String {
    let text = format!("{command:?}");
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}
