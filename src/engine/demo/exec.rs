//! Running commands: a stream that computes the next output whenever it is read, and does nothing else.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::Utc;
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::files::{FileTree, invalid};
use super::lifecycle::require_running;
use super::programs::{self, Act, Place, fail, print};
use super::script::{self, Step, unsupported};
use super::state::{Control, Exec, State};
use crate::domain::{
    Ended, EngineEventKind, ExecEnd, ExecSpec, OutputChunk, SandboxId, SandboxPath, StdinMode,
    StreamKind,
};
use crate::engine::{ExecItem, Result, RunningExec};

/// The most bytes that are repeated or copied at once.
const PIECE: usize = 16 << 10;
/// Bytes of standard input that wait for the process.
const TYPED_AHEAD: usize = 64 << 10;
/// Endless output must neither starve others nor outrun a clock that tests move.
const PAUSE: Duration = Duration::from_millis(1);

const GREETING: &str = "This shell is a demonstration: nothing runs. Try: help\n";
const INTERRUPT: u8 = 0x03;
const END_OF_INPUT: u8 = 0x04;

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
    let (switch, control) = watch::channel(Control::Run);
    let exec = state.with(id, |sandbox, events| {
        require_running(&sandbox.sandbox, "run a command in")?;
        let cwd = spec.work_dir.as_ref().unwrap_or(&sandbox.spec.work_dir);
        let is_shell = is_login_shell(spec);
        let (steps, acts) = begin(&sandbox.files, cwd, spec)?;
        let command = spec.argv.join(" ");
        let cwd = cwd.clone();
        let pid = sandbox.add_exec(Exec {
            id: spec.id.clone(),
            command: command.clone(),
            started_at: Utc::now(),
            control: switch,
        });
        events.record(&sandbox.sandbox, EngineEventKind::Exec { command });
        Ok(Running {
            process: Process {
                state: Arc::clone(state),
                id: id.clone(),
                cwd,
                input,
                is_tty: spec.tty.is_some(),
                is_shell,
                line: Vec::new(),
                steps: steps.into(),
                acts: acts.into(),
                status: 0,
            },
            pid,
            control,
            deadline: spec.timeout.and_then(|t| Instant::now().checked_add(t)),
            ended: None,
        })
    })?;
    Ok(RunningExec {
        items: stream::unfold(exec, Running::next).boxed(),
        stdin: stdin.map(|stdin| Box::new(stdin) as _),
        terminal: spec.tty.map(|_| format!("demo-{}", spec.id)),
    })
}

/// Finds out what an exec does first.
fn begin(files: &FileTree, cwd: &SandboxPath, spec: &ExecSpec) -> Result<(Vec<Step>, Vec<Act>)> {
    if files.list(cwd).is_err() {
        let message = format!("{cwd}: No such directory");
        return Ok((Vec::new(), fail(&message, 126)));
    }
    if is_login_shell(spec) {
        return Ok((Vec::new(), print(GREETING)));
    }
    Ok((
        programs::steps(&spec.argv, Place { files, cwd })?,
        Vec::new(),
    ))
}

/// Tells whether somebody wants a shell to type at; front ends ask for the best one that there is by a script.
fn is_login_shell(spec: &ExecSpec) -> bool {
    let argv: Vec<&str> = spec.argv.iter().map(String::as_str).collect();
    let is_shell = match argv.as_slice() {
        ["sh" | "bash"] => true,
        ["sh", "-c", script] => script.contains("exec sh"),
        _ => false,
    };
    is_shell && spec.tty.is_some()
}

/// An exec on its way; it is listed in its sandbox until this is dropped.
struct Running {
    process: Process,
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
        let deadline = self.deadline;
        let next = loop {
            let control = *self.control.borrow_and_update();
            if let Control::End(ended) = control {
                break Err(ended);
            }
            tokio::select! {
                biased;
                Ok(()) = self.control.changed() => {}
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    break Err(Ended::TimedOut);
                }
                next = self.process.next(), if control == Control::Run => break next,
            }
        };
        let item = match next {
            Ok((stream, bytes)) => {
                let bytes = bytes.into();
                ExecItem::Chunk(OutputChunk { stream, bytes })
            }
            Err(ended) => {
                self.ended = Some(ended);
                self.leave();
                ExecItem::End(ExecEnd::bare(ended))
            }
        };
        Some((item, self))
    }

    /// Leaves the list of the sandbox; one that is gone has none.
    fn leave(&self) {
        let exit_code = self.ended.and_then(Ended::exit_code).map(i64::from);
        let _ = self
            .process
            .state
            .with(&self.process.id, |sandbox, events| {
                sandbox.execs.remove(&self.pid);
                events.record(&sandbox.sandbox, EngineEventKind::ExecEnded { exit_code });
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

/// What is still to be done, and the streams for it.
struct Process {
    state: Arc<State>,
    id: SandboxId,
    cwd: SandboxPath,
    input: Option<DuplexStream>,
    is_tty: bool,
    is_shell: bool,
    /// What was typed of a line.
    line: Vec<u8>,
    steps: VecDeque<Step>,
    acts: VecDeque<Act>,
    status: i32,
}

impl Process {
    /// Goes on until there is output, or returns how it ended; nothing is lost if it is dropped while it waits.
    async fn next(&mut self) -> std::result::Result<(StreamKind, Vec<u8>), Ended> {
        loop {
            let (stream, bytes) = match self.acts.pop_front() {
                None => {
                    self.advance();
                    continue;
                }
                Some(Act::End(status)) => return Err(Ended::Code(status)),
                Some(Act::Status(status)) => {
                    self.status = status;
                    continue;
                }
                Some(Act::Print(stream, bytes)) => (stream, bytes),
                Some(act) => {
                    self.acts.push_front(act.clone());
                    match self.wait(act).await {
                        Some(bytes) => (StreamKind::Stdout, bytes),
                        None => continue,
                    }
                }
            };
            if !self.is_tty {
                return Ok((stream, bytes));
            }
            // A terminal has one stream and ends lines in its own way.
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            return Ok((StreamKind::Stdout, lines.join(&b"\r\n"[..])));
        }
    }

    /// Finds out what the next command does.
    fn advance(&mut self) {
        let Some(step) = self.steps.pop_front() else {
            if self.is_shell {
                self.acts.extend(print("$ "));
                self.acts.push_back(Act::ReadLine);
            } else {
                self.acts.push_back(Act::End(self.status));
            }
            return;
        };
        let _ = self.state.with(&self.id, |sandbox, _| {
            let (files, cwd) = (&sandbox.files, &self.cwd);
            let acts = programs::plan(&step, Place { files, cwd });
            self.acts.extend(acts);
            Ok(())
        });
    }

    /// Does the first thing in the queue, which takes time; an interrupt from the keyboard ends it.
    async fn wait(&mut self, act: Act) -> Option<Vec<u8>> {
        match act {
            Act::ReadLine => return self.read_key().await,
            Act::CopyInput => {
                let mut buffer = vec![0; PIECE];
                let count = match self.input.as_mut().filter(|_| !self.is_shell) {
                    Some(input) => input.read(&mut buffer).await.unwrap_or(0),
                    None => 0,
                };
                if count == 0 {
                    self.acts.pop_front();
                }
                buffer.truncate(count);
                return (count > 0).then_some(buffer);
            }
            Act::Repeat(line) => {
                tokio::select! {
                    biased;
                    () = sleep(PAUSE) => return Some(line.repeat((PIECE / line.len()).max(1)).into()),
                    () = interrupt(self.input.as_mut(), self.is_shell) => {}
                }
            }
            Act::Sleep(end) => {
                tokio::select! {
                    biased;
                    () = sleep_until(end) => {
                        self.acts.pop_front();
                        return None;
                    }
                    () = interrupt(self.input.as_mut(), self.is_shell) => {}
                }
            }
            Act::Print(..) | Act::Status(_) | Act::End(_) => return None,
        }
        self.acts.clear();
        self.steps.clear();
        Some(b"^C\n".to_vec())
    }

    /// Takes one key, and returns its echo.
    async fn read_key(&mut self) -> Option<Vec<u8>> {
        let key = match &mut self.input {
            Some(input) => input.read_u8().await.unwrap_or(END_OF_INPUT),
            None => END_OF_INPUT,
        };
        let echo = match key {
            b'\r' | b'\n' => {
                self.acts.clear();
                self.enter_line();
                b"\n".to_vec()
            }
            INTERRUPT => {
                self.line.clear();
                self.acts.clear();
                b"^C\n".to_vec()
            }
            END_OF_INPUT if self.line.is_empty() => {
                self.acts = [Act::End(0)].into();
                return None;
            }
            0x08 | 0x7f if self.line.pop().is_some() => b"\x08 \x08".to_vec(),
            0..0x20 | 0x7f => return None,
            key => {
                self.line.push(key);
                vec![key]
            }
        };
        Some(echo)
    }

    /// Reads the commands of a typed line.
    fn enter_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let steps = script::parse(&line).and_then(|typed| {
            self.state.with(&self.id, |sandbox, _| {
                let (files, cwd) = (&sandbox.files, &self.cwd);
                let place = Place { files, cwd };
                let steps = typed.iter().map(|step| programs::steps(&step.words, place));
                steps.collect::<Result<Vec<_>>>()
            })
        });
        match steps {
            Ok(steps) => self.steps = steps.into_iter().flatten().collect(),
            Err(error) => self.acts.extend(print(format!("{}\n", error.message))),
        }
    }
}

/// Waits for the key that interrupts; only a shell has one.
async fn interrupt(input: Option<&mut DuplexStream>, is_shell: bool) {
    if let (Some(input), true) = (input, is_shell) {
        while let Ok(key) = input.read_u8().await {
            if key == INTERRUPT {
                return;
            }
        }
    }
    std::future::pending::<()>().await;
}
