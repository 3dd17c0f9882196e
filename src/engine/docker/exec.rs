//! Commands in a container: through the guest, to their true end.

use std::time::Duration;

use bollard::query_parameters::EventsOptionsBuilder;
use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::Instant;

use super::Client;
use super::followed::Ticket;
use super::guest::{self, GuestCall, GuestItem, GuestRun, Trailer};
use super::{lifecycle, terminal};
use crate::domain::{Ended, ExecEnd, ExecId, ExecSpec, OutputChunk, Phase, SandboxId, StdinMode};
use crate::engine::{ExecItem, Result, RunningExec};
use crate::guest::wire;

/// How long a sandbox may take to end after its processes did.
const FALLING: Duration = Duration::from_secs(1);

/// How much longer than the timeout we wait for the guest to enforce it, before we do.
const BACKSTOP: Duration = Duration::from_secs(4);

/// Starts a command.
pub(super) async fn start(client: Client, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    match spec.tty {
        Some(size) => terminal::start(client, id, spec, size).await,
        None => start_piped(client, id, spec).await,
    }
}

async fn start_piped(client: Client, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    let piped = spec.stdin == StdinMode::Piped;
    let call = GuestCall {
        words: words(spec),
        env: env(spec),
        user: spec.user.clone(),
        stdin: piped,
    };
    let started = Utc::now();
    let (run, stdin) = guest::start(&client, id, call).await?;
    let deadline = spec.timeout.map(|limit| Instant::now() + limit + BACKSTOP);
    let following = Following {
        ticket: client.followed.enter(&spec.id),
        client,
        id: id.clone(),
        exec: spec.id.clone(),
        run,
        started,
        deadline,
        printed: Vec::new(),
        over: false,
    };
    Ok(RunningExec {
        items: following.into_stream(),
        stdin: piped.then(|| Box::new(stdin) as crate::engine::ExecStdin),
        terminal: None,
    })
}

/// Writes the guest's command line; values of variables stay out of it, because command lines are public.
pub(super) fn words(spec: &ExecSpec) -> Vec<String> {
    let mut words = vec!["exec".to_owned(), "--id".to_owned(), spec.id.to_string()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value]);
        }
    };
    option(
        "--timeout-ms",
        spec.timeout.map(|limit| limit.as_millis().to_string()),
    );
    option(
        "--cwd",
        spec.work_dir
            .as_ref()
            .map(|dir| wire::escape(dir.as_bytes())),
    );
    option("--session", spec.session.clone());
    let given: Vec<&str> = spec.env.iter().map(|(key, _)| key.as_str()).collect();
    option("--given", (!given.is_empty()).then(|| given.join(",")));
    words.push("--".to_owned());
    words.extend(spec.argv.iter().cloned());
    words
}

pub(super) fn env(spec: &ExecSpec) -> Vec<String> {
    spec.env
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

/// A piped command being followed.
struct Following {
    client: Client,
    id: SandboxId,
    exec: ExecId,
    run: GuestRun,
    started: DateTime<Utc>,
    deadline: Option<Instant>,
    ticket: Ticket,
    /// The first bytes printed, to recognise the engine's own message if the guest never ran.
    printed: Vec<u8>,
    over: bool,
}

impl Following {
    fn into_stream(self) -> BoxStream<'static, ExecItem> {
        stream::unfold(self, |mut following| async move {
            if following.over {
                return None;
            }
            let item = following.step().await;
            following.over = matches!(item, ExecItem::End(_));
            Some((item, following))
        })
        .boxed()
    }

    async fn step(&mut self) -> ExecItem {
        match self.run.next_before(self.deadline).await {
            Some(GuestItem::Chunk(chunk)) => self.chunk(chunk),
            Some(GuestItem::Trailer(trailer)) => ExecItem::End(self.ended(&trailer).await),
            Some(GuestItem::Cut) => ExecItem::End(ExecEnd::bare(self.cut().await)),
            None => ExecItem::End(ExecEnd::bare(self.overdue().await)),
        }
    }

    fn chunk(&mut self, chunk: OutputChunk) -> ExecItem {
        if self.printed.len() < 64 {
            self.printed.extend(chunk.bytes.iter().take(64));
        }
        ExecItem::Chunk(chunk)
    }

    /// Reads the end from the last words; a kill for memory is told apart from any other.
    async fn ended(&self, trailer: &Trailer) -> ExecEnd {
        let mut end = trailer.end();
        let killed = matches!(end.ended, Ended::Signal(9) | Ended::Code(137));
        let oom = match trailer.saw_oom() {
            Some(oom) => oom,
            // The engine's log is late and would blame this exec for the one before; it is the second choice.
            None => killed && self.engine_saw_oom().await,
        };
        if killed && oom {
            end.ended = Ended::OutOfMemory;
        }
        end
    }

    /// Asks the engine's event log; needed where the sandbox cannot read its own memory counters.
    async fn engine_saw_oom(&self) -> bool {
        let filters = std::collections::HashMap::from([
            ("container", vec![self.id.as_str()]),
            ("event", vec!["oom"]),
        ]);
        // Whole seconds would blame this exec for what happened to the one before.
        let (since, until) = (
            self.started.format("%s.%9f").to_string(),
            (Utc::now().timestamp() + 1).to_string(),
        );
        let options = EventsOptionsBuilder::new()
            .since(&since)
            .until(&until)
            .filters(&filters)
            .build();
        let mut events = std::pin::pin!(self.client.docker.events(Some(options)));
        let first = tokio::time::timeout(Duration::from_secs(2), events.next()).await;
        matches!(first, Ok(Some(Ok(_))))
    }

    /// Finds out what became of a command whose guest ended without last words.
    async fn cut(&self) -> Ended {
        let Ok(exec) = self.client.docker.inspect_exec(&self.run.exec).await else {
            return Ended::Lost;
        };
        if !stays(&self.client, &self.id).await {
            return Ended::Lost;
        }
        // Something in the sandbox killed the guest; what it watched over must not stay.
        let _ = cancel(&self.client, &self.id, &self.exec).await;
        if self.ticket.is_called_off() {
            return Ended::Cancelled;
        }
        match exec.exit_code.and_then(|code| i32::try_from(code).ok()) {
            Some(code @ 129..=192) => Ended::Signal(code - 128),
            Some(code) => Ended::Code(code),
            None => Ended::Lost,
        }
    }

    /// Ends a command whose guest did not, because it was frozen or killed from inside.
    async fn overdue(&self) -> Ended {
        let _ = cancel(&self.client, &self.id, &self.exec).await;
        Ended::TimedOut
    }
}

/// Tells whether a sandbox in which something was killed goes on running. The end of its processes is seen before its own,
/// so it is watched for a moment.
pub(super) async fn stays(client: &Client, id: &SandboxId) -> bool {
    let end = Instant::now() + FALLING;
    loop {
        let runs = lifecycle::phase(client, id).await.is_ok_and(Phase::is_live);
        if !runs || Instant::now() >= end {
            return runs;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills every process of an exec.
pub(super) async fn cancel(client: &Client, id: &SandboxId, exec: &ExecId) -> Result<()> {
    guest::output(client, id, vec!["kill".to_owned(), exec.to_string()])
        .await
        .map(drop)
}
