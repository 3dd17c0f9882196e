//! Commands in a container: through the guest, with pipes or a terminal, to their true end.

use std::time::Duration;

use bollard::models::ExecConfig;
use bollard::query_parameters::{EventsOptionsBuilder, ResizeExecOptionsBuilder};
use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::Instant;

use super::Client;
use super::attach::{self, Attached, Packing};
use super::convert;
use super::followed::Ticket;
use super::guest::{self, GuestCall, GuestItem, GuestRun, Trailer};
use crate::domain::{
    Ended, ExecEnd, ExecId, ExecSpec, OutputChunk, Phase, SandboxId, StdinMode, TtySize,
};
use crate::engine::{ExecItem, Result, RunningExec};
use crate::guest::wire;

/// How much longer than the timeout we wait for the guest to enforce it, before we do.
const BACKSTOP: Duration = Duration::from_secs(4);

/// Starts a command.
pub(super) async fn start(client: Client, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    match spec.tty {
        Some(size) => start_terminal(client, id, spec, size).await,
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
fn words(spec: &ExecSpec) -> Vec<String> {
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

fn env(spec: &ExecSpec) -> Vec<String> {
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
        if !self.is_sandbox_alive().await {
            return Ended::Lost;
        }
        // Something in the sandbox killed the guest; what it watched over must not stay.
        let cleared = cancel(&self.client, &self.id, &self.exec).await;
        // A sandbox that is just being killed still counts as running for a moment.
        if cleared.is_err() && !self.is_sandbox_alive().await {
            return Ended::Lost;
        }
        if self.ticket.is_called_off() {
            return Ended::Cancelled;
        }
        match exec.exit_code.and_then(|code| i32::try_from(code).ok()) {
            Some(code @ 129..=192) => Ended::Signal(code - 128),
            Some(code) => Ended::Code(code),
            None => Ended::Lost,
        }
    }

    async fn is_sandbox_alive(&self) -> bool {
        let phase = super::lifecycle::phase(&self.client, &self.id).await;
        phase.is_ok_and(Phase::is_live)
    }

    /// Ends a command whose guest did not, because it was frozen or killed from inside.
    async fn overdue(&self) -> Ended {
        let _ = cancel(&self.client, &self.id, &self.exec).await;
        Ended::TimedOut
    }
}

/// Kills every process of an exec.
pub(super) async fn cancel(client: &Client, id: &SandboxId, exec: &ExecId) -> Result<()> {
    guest::output(client, id, vec!["kill".to_owned(), exec.to_string()])
        .await
        .map(drop)
}

async fn start_terminal(
    client: Client,
    id: &SandboxId,
    spec: &ExecSpec,
    size: TtySize,
) -> Result<RunningExec> {
    let config = ExecConfig {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(true),
        env: Some(env(spec)),
        cmd: Some(guest::command_line(words(spec))),
        user: spec.user.clone(),
        ..ExecConfig::default()
    };
    let exec = guest::create(&client, id, config).await?;
    let deadline = spec.timeout.map(|limit| Instant::now() + limit);
    let (attached, stdin) = attach::start(&client.endpoint, &exec, Packing::Raw).await?;
    // A program that asks for its size too early sees the engine's default; it hears of the change.
    let _ = resize(&client, &exec, size).await;
    let watch = TerminalWatch {
        ticket: client.followed.enter(&spec.id),
        deadline,
    };
    Ok(RunningExec {
        items: terminal_items(client, exec.clone(), attached, watch),
        stdin: Some(Box::new(stdin)),
        terminal: Some(exec),
    })
}

/// What tells the ends of a terminal apart, since there is no room for last words in its output.
struct TerminalWatch {
    ticket: Ticket,
    deadline: Option<Instant>,
}

impl TerminalWatch {
    /// Reads the guest's codes for a cancel and a timeout, which the command itself could give as well.
    fn ended(&self, code: i32) -> Ended {
        match code {
            130 | 137 | 143 if self.ticket.is_called_off() => Ended::Cancelled,
            124 if self.deadline.is_some_and(|end| end <= Instant::now()) => Ended::TimedOut,
            code => Ended::Code(code),
        }
    }
}

fn terminal_items(
    client: Client,
    exec: String,
    attached: Attached,
    watch: TerminalWatch,
) -> BoxStream<'static, ExecItem> {
    let start = Some((client, exec, attached, watch));
    stream::unfold(start, |state| async move {
        let (client, exec, mut attached, watch) = state?;
        if let Some(chunk) = attached.next().await {
            let going_on = Some((client, exec, attached, watch));
            return Some((ExecItem::Chunk(chunk), going_on));
        }
        let end = terminal_end(&client, &exec, &watch).await;
        Some((ExecItem::End(end), None))
    })
    .boxed()
}

/// Asks for the exit code; right after the stream's end the engine may not know it yet.
async fn terminal_end(client: &Client, exec: &str, watch: &TerminalWatch) -> ExecEnd {
    for _ in 0..20 {
        match client.docker.inspect_exec(exec).await {
            Ok(known) if known.running == Some(false) => {
                let code = known.exit_code.and_then(|code| i32::try_from(code).ok());
                return ExecEnd::bare(code.map_or(Ended::Lost, |code| watch.ended(code)));
            }
            Ok(_) => tokio::time::sleep(Duration::from_millis(25)).await,
            Err(_) => break,
        }
    }
    ExecEnd::bare(Ended::Lost)
}

/// Tells a terminal its size.
pub(super) async fn resize(client: &Client, exec: &str, size: TtySize) -> Result<()> {
    let options = ResizeExecOptionsBuilder::new()
        .h(i32::from(size.rows))
        .w(i32::from(size.columns))
        .build();
    client
        .docker
        .resize_exec(exec, options)
        .await
        .map_err(|e| convert::error("resizing a terminal", e))
}
