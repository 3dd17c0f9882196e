//! Commands in a sandbox: through the guest, to their true end.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::Instant;

use super::followed::Ticket;
use super::run::{GuestItem, GuestRun, exec_end};
use super::{GuestCall, Guests, Stdio};
use crate::domain::{
    Ended, ExecEnd, ExecId, ExecSpec, OutputChunk, SandboxId, StdinMode, StreamKind,
};
use crate::engine::{ExecItem, ExecStdin, Result, RunningExec, unfold};
use crate::guest::wire::{self, Call, ExecCall, Trailer};
use crate::protocol::FailureKind;

/// How long a sandbox may take to end after its processes did.
const FALLING: Duration = Duration::from_secs(1);

/// How much longer than the timeout we wait for the guest to enforce it, before we do.
pub(super) const BACKSTOP: Duration = Duration::from_secs(4);

/// Starts a command with its streams apart.
pub(super) async fn start(guests: Guests, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    let call = call(spec, Stdio::Pipes(spec.stdin));
    let started = Utc::now();
    let (run, stdin) = match guests.start(id, call).await {
        Err(error) if error.kind == FailureKind::Busy => return Ok(no_room(spec)),
        started => started?,
    };
    let deadline = spec.timeout.map(|limit| Instant::now() + limit + BACKSTOP);
    let following = Following {
        ticket: guests.followed.enter(&spec.id),
        guests,
        id: id.clone(),
        exec: spec.id.clone(),
        run,
        started,
        deadline,
        program: spec.argv.first().cloned().unwrap_or_default(),
        said: Said::Nothing,
        over: false,
    };
    Ok(RunningExec {
        items: following.into_stream(),
        stdin: (spec.stdin == StdinMode::Piped).then_some(stdin),
        terminal: None,
    })
}

/// Ends a command as a guest does that finds no room for it; some engines have room for the guest, and others not even that.
fn no_room(spec: &ExecSpec) -> RunningExec {
    let program = spec.argv.first().map_or("", String::as_str);
    let text = format!("{}{}\n", wire::COMPLAINT, wire::no_room_text(program));
    let said = OutputChunk {
        stream: StreamKind::Stderr,
        bytes: text.into(),
    };
    let end = ExecEnd::bare(Ended::Code(126));
    let items = [ExecItem::Chunk(said), ExecItem::End(end)];
    let stdin = (spec.stdin == StdinMode::Piped).then(|| Box::new(tokio::io::sink()) as ExecStdin);
    RunningExec {
        items: stream::iter(items).boxed(),
        stdin,
        terminal: None,
    }
}

/// Describes the guest's run for a command.
pub(super) fn call(spec: &ExecSpec, stdio: Stdio) -> GuestCall {
    let env = spec.env.iter().map(|(key, value)| format!("{key}={value}"));
    GuestCall {
        words: exec_call(spec).encode(),
        env: env.collect(),
        user: spec.user.clone(),
        stdio,
    }
}

/// Says what the guest is to run; values of variables stay out of it, because command lines are public.
fn exec_call(spec: &ExecSpec) -> Call {
    Call::Exec(ExecCall {
        id: spec.id.to_string(),
        timeout: spec.timeout,
        work_dir: spec.work_dir.as_ref().map(|dir| dir.as_bytes().to_vec()),
        session: spec.session.clone(),
        given: spec.env.iter().map(|(key, _)| key.clone()).collect(),
        argv: spec.argv.clone(),
    })
}

/// A piped command being followed. Its methods borrow it mutably, because its output may move between threads but not be
/// shared.
struct Following {
    guests: Guests,
    id: SandboxId,
    exec: ExecId,
    run: GuestRun,
    started: DateTime<Utc>,
    deadline: Option<Instant>,
    ticket: Ticket,
    program: String,
    said: Said,
    over: bool,
}

/// What came of the guest so far.
enum Said {
    Nothing,
    Something,
    /// More after its first words, which was read to understand them.
    Next(Option<GuestItem>),
}

impl Following {
    fn into_stream(self) -> BoxStream<'static, ExecItem> {
        unfold(self, |mut following| async move {
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
        let item = match std::mem::replace(&mut self.said, Said::Something) {
            Said::Next(item) => item,
            Said::Something => self.run.next_before(self.deadline).await,
            Said::Nothing => {
                let first = self.run.next_before(self.deadline).await;
                self.understand(first).await
            }
        };
        match item {
            Some(GuestItem::Chunk(chunk)) => ExecItem::Chunk(chunk),
            Some(GuestItem::Trailer(trailer)) => ExecItem::End(self.ended(&trailer).await),
            Some(GuestItem::Cut) => ExecItem::End(ExecEnd::bare(self.cut().await)),
            None => ExecItem::End(ExecEnd::bare(self.overdue().await)),
        }
    }

    /// Tells an engine's own words on a guest that it could not start from those of a command: nothing follows them.
    async fn understand(&mut self, first: Option<GuestItem>) -> Option<GuestItem> {
        let Some(GuestItem::Chunk(chunk)) = first else {
            return first;
        };
        let text = String::from_utf8_lossy(&chunk.bytes);
        let Some(failure) = self.guests.transport.explain(text.trim()) else {
            return Some(GuestItem::Chunk(chunk));
        };
        let soon = Instant::now() + FALLING;
        let next = match self.run.next_before(Some(soon)).await {
            // What follows comes in its own time.
            None => return Some(GuestItem::Chunk(chunk)),
            next => next,
        };
        let was_started = !matches!(next, Some(GuestItem::Cut));
        self.said = Said::Next(next);
        if was_started {
            return Some(GuestItem::Chunk(chunk));
        }
        let hint = failure.hint.unwrap_or_default();
        let words = format!(
            "{}{}: {}; {hint}\n",
            wire::COMPLAINT,
            self.program,
            failure.message
        );
        Some(GuestItem::Chunk(OutputChunk {
            stream: StreamKind::Stderr,
            bytes: words.into(),
        }))
    }

    /// Reads the end from the last words; a kill for memory is told apart from any other.
    async fn ended(&mut self, trailer: &Trailer) -> ExecEnd {
        let mut end = exec_end(trailer);
        let killed = matches!(end.ended, Ended::Signal(9) | Ended::Code(137));
        let oom = match trailer.saw_oom {
            Some(oom) => oom,
            // The engine's log is late and would blame this exec for the one before; it is the second choice.
            None => killed && self.guests.transport.saw_oom(&self.id, self.started).await,
        };
        if killed && oom {
            end.ended = Ended::OutOfMemory;
        }
        end
    }

    /// Finds out what became of a command whose guest ended without last words.
    async fn cut(&mut self) -> Ended {
        let code = self.guests.transport.exit_code(&self.run.name).await;
        let Some(code) = code else {
            return Ended::Lost;
        };
        if !stays(&self.guests, &self.id).await {
            return Ended::Lost;
        }
        // Something in the sandbox killed the guest; what it watched over must not stay.
        let _ = kill(&self.guests, &self.id, &self.exec).await;
        match code {
            _ if self.ticket.is_cancelled() => Ended::Cancelled,
            code @ 129..=192 => Ended::Signal(code - 128),
            code => Ended::Code(code),
        }
    }

    /// Ends a command whose guest did not, because it was frozen or killed from inside.
    async fn overdue(&mut self) -> Ended {
        let _ = kill(&self.guests, &self.id, &self.exec).await;
        Ended::TimedOut
    }
}

/// Tells whether a sandbox in which something was killed goes on running. The end of its processes is seen before its own,
/// so it is watched for a moment.
pub(super) async fn stays(guests: &Guests, id: &SandboxId) -> bool {
    let end = Instant::now() + FALLING;
    loop {
        let runs = guests.transport.is_live(id).await;
        if !runs || Instant::now() >= end {
            return runs;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills every process of an exec; when this returns, the killer is gone, too.
pub(super) async fn kill(guests: &Guests, id: &SandboxId, exec: &ExecId) -> Result<()> {
    let call = GuestCall::new(&Call::Kill(exec.to_string()));
    let (mut run, _stdin) = guests.start(id, call).await?;
    let printed = run.output().await?;
    run.ended().await;
    printed
        .map(drop)
        .map_err(|printed| guests.cut_off(&printed))
}
