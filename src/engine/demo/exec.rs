//! Running commands: a stream that lets the program go on whenever it is read, and does nothing else.

use std::sync::Arc;

use chrono::Utc;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::files::{FileTree, invalid};
use super::lifecycle::require_running;
use super::programs::{self, Streams, WorkDir};
use super::script::{self, Command, unsupported};
use super::state::{Control, Exec, State};
use crate::domain::{Ended, EngineEventKind, ExecEnd, ExecSpec, OutputChunk, SandboxId, StdinMode};
use crate::engine::{ExecItem, Result, RunningExec, unfold};

/// Bytes of standard input that wait for the process.
const TYPED_AHEAD: usize = 64 << 10;

/// Starts a command.
pub(super) fn start(state: &Arc<State>, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    if spec.argv.is_empty() {
        return Err(invalid("there is no command to run"));
    }
    if spec.session.is_some() {
        return Err(unsupported("named sessions"));
    }
    let reads = spec.stdin == StdinMode::Piped || spec.tty.is_some();
    let (stdin, input) = reads.then(|| tokio::io::duplex(TYPED_AHEAD)).unzip();
    let (output, chunks) = mpsc::channel(1);
    let streams = Streams {
        input,
        output,
        is_tty: spec.tty.is_some(),
        to_stderr: false,
    };
    let place = find_place(state, id, spec)?;
    let program = program(place.clone(), spec, streams)?;
    let (pid, control) = register(&place, spec)?;
    let exec = Running {
        place,
        program,
        status: None,
        chunks,
        pid,
        control,
        deadline: spec.timeout.and_then(|t| Instant::now().checked_add(t)),
        ended: None,
    };
    Ok(RunningExec {
        items: unfold(exec, Running::next).boxed(),
        stdin: stdin.map(|stdin| Box::new(stdin) as _),
        terminal: spec.tty.map(|_| format!("demo-{}", spec.id)),
    })
}

fn find_place(state: &Arc<State>, id: &SandboxId, spec: &ExecSpec) -> Result<WorkDir> {
    let default = state.with(id, |sandbox, _| Ok(sandbox.spec.work_dir.clone()))?;
    Ok(WorkDir {
        state: Arc::clone(state),
        id: id.clone(),
        cwd: spec.work_dir.clone().unwrap_or(default),
    })
}

/// Lists a new exec in its sandbox.
fn register(place: &WorkDir, spec: &ExecSpec) -> Result<(u32, watch::Receiver<Control>)> {
    let (switch, control) = watch::channel(Control::Run);
    let command = spec.argv.join(" ");
    let exec = Exec {
        id: spec.id.clone(),
        command: command.clone(),
        started_at: Utc::now(),
        control: switch,
    };
    let pid = place.state.with(&place.id, |sandbox, events| {
        require_running(&sandbox.sandbox, "run a command in")?;
        events.record(
            &sandbox.sandbox,
            EngineEventKind::exec(command, Some(spec.id.to_string())),
        );
        Ok(sandbox.add_exec(exec))
    })?;
    Ok((pid, control))
}

/// Finds out what an exec does, or that it cannot be done here.
fn program(
    place: WorkDir,
    spec: &ExecSpec,
    mut streams: Streams,
) -> Result<BoxFuture<'static, i32>> {
    if place.look_up(".", FileTree::list).is_err() {
        let message = format!("{}: No such directory", place.cwd);
        return Ok(async move { streams.fail(message, 126).await }.boxed());
    }
    let commands = match spec.argv.as_slice() {
        [name, args @ ..] if matches!(programs::program_name(name), "sh" | "bash") => {
            script::parse(&place.code(args)?)?
        }
        words => vec![Command {
            words: words.to_vec(),
            to_stderr: false,
        }],
    };
    Ok(async move { programs::run_all(&commands, &place, &mut streams).await }.boxed())
}

/// An exec on its way; it is listed in its sandbox until this is dropped.
struct Running {
    place: WorkDir,
    program: BoxFuture<'static, i32>,
    /// How the program ended; what it wrote may still wait.
    status: Option<i32>,
    chunks: mpsc::Receiver<OutputChunk>,
    pid: u32,
    control: watch::Receiver<Control>,
    deadline: Option<Instant>,
    ended: Option<Ended>,
}

impl Running {
    /// Goes on until there is output or an end to tell.
    async fn next(mut self) -> Option<(ExecItem, Self)> {
        if self.ended.is_some() {
            return None;
        }
        let item = match self.advance().await {
            Ok(chunk) => ExecItem::Chunk(chunk),
            Err(ended) => {
                self.ended = Some(ended);
                self.leave();
                ExecItem::End(ExecEnd::bare(ended))
            }
        };
        Some((item, self))
    }

    /// Lets the program go on, unless it is paused or told to end.
    async fn advance(&mut self) -> std::result::Result<OutputChunk, Ended> {
        let deadline = self.deadline;
        loop {
            let control = *self.control.borrow_and_update();
            if let Control::End(ended) = control {
                return Err(ended);
            }
            let runs = control == Control::Run;
            tokio::select! {
                biased;
                Ok(()) = self.control.changed() => {}
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    return Err(Ended::TimedOut);
                }
                chunk = self.chunks.recv(), if runs => {
                    return chunk.ok_or(Ended::Code(self.status.unwrap_or_default()));
                }
                status = &mut self.program, if runs && self.status.is_none() => {
                    self.status = Some(status);
                }
            }
        }
    }

    /// Leaves the list of the sandbox; one that is gone has none.
    fn leave(&self) {
        let exit_code = self.ended.and_then(Ended::exit_code).map(i64::from);
        let _ = self.place.state.with(&self.place.id, |sandbox, events| {
            let exec = sandbox.execs.remove(&self.pid);
            let exec = exec.map(|exec| exec.id.to_string());
            let ended = EngineEventKind::ExecEnded { exec, exit_code };
            events.record(&sandbox.sandbox, ended);
            Ok(())
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.leave();
        }
    }
}
