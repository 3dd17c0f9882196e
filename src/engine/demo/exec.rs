//! Running commands: a future that is driven by reading its output, and by nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;

use super::fate::Fate;
use super::life::require_running;
use super::running::{Entry, Running, drive};
use super::script::{Input, Io, Listed, Shell, Sink, Site, end_of, enter, interact};
use super::world::{Simulated, World};
use crate::domain::{
    Ended, EngineEventKind, ExecId, ExecSpec, OutputChunk, SandboxId, SandboxPath, StdinMode,
    StreamKind,
};
use crate::engine::{EngineError, ExecStdin, Result, RunningExec};
use crate::protocol::FailureKind;

/// Pieces of output that wait for a reader.
const WAITING: usize = 16;

/// Bytes of standard input that wait for the process.
const TYPED_AHEAD: usize = 64 << 10;

/// Starts a command.
pub(super) fn start(world: &Arc<World>, id: &SandboxId, spec: &ExecSpec) -> Result<RunningExec> {
    if spec.argv.is_empty() {
        return Err(EngineError::new(
            FailureKind::Invalid,
            "there is no command to run",
        ));
    }
    let (fate, start) = world.with(id, |sandbox, journal| {
        require_running(&sandbox.sandbox, "run a command in")?;
        let admitted = admit(sandbox, spec, world.reach())?;
        let command = spec.argv.join(" ");
        journal.record(&sandbox.sandbox, EngineEventKind::Exec { command });
        Ok(admitted)
    })?;
    let entry = Entry {
        world: Arc::clone(world),
        id: id.clone(),
        exec: spec.id.clone(),
        ended: None,
    };
    let (output, received) = mpsc::channel(WAITING);
    let (stdin, input) = stdin_of(spec);
    let program = program(&entry, spec, start, streams(spec, input, output))?;
    let running = Running {
        program: Some(program),
        output: received,
        fate,
        entry: Some(entry),
        ended: None,
    };
    Ok(RunningExec {
        items: stream::unfold(running, Running::next).boxed(),
        stdin,
        terminal: spec.tty.map(|_| format!("demo-{}", spec.id)),
    })
}

/// Calls an exec off; one that has ended already needs nothing.
pub(super) fn cancel(sandbox: &mut Simulated, exec: &ExecId) {
    sandbox.processes.retain(|_, process| process.exec != *exec);
    if let Some(switch) = sandbox.execs.get(exec.as_str()) {
        switch.send_replace(true);
    }
}

/// Where a command starts.
struct Start {
    cwd: SandboxPath,
    env: Vec<(String, String)>,
    user: String,
    exported: BTreeMap<String, String>,
}

/// Enters an exec in the books of its sandbox.
fn admit(
    sandbox: &mut Simulated,
    spec: &ExecSpec,
    reach: watch::Receiver<bool>,
) -> Result<(Fate, Start)> {
    if sandbox.execs.contains_key(spec.id.as_str()) {
        let message = format!("the exec id {} is in use", spec.id);
        return Err(EngineError::new(FailureKind::Conflict, message));
    }
    let (switch, cancel) = watch::channel(false);
    sandbox.execs.insert(spec.id.as_str().to_owned(), switch);
    let life = sandbox.life.subscribe();
    let starts = life.borrow().starts;
    let fate = Fate {
        starts,
        life,
        reach,
        cancel,
        deadline: spec
            .timeout
            .and_then(|limit| Instant::now().checked_add(limit)),
    };
    Ok((fate, start_of(sandbox, spec)))
}

fn start_of(sandbox: &Simulated, spec: &ExecSpec) -> Start {
    let session = spec.session.as_ref();
    let session = session.and_then(|name| sandbox.sessions.get(name)).cloned();
    let exported = session
        .as_ref()
        .map(|s| s.exported.clone())
        .unwrap_or_default();
    let is_there = |path: &SandboxPath| sandbox.files.list(path).is_ok();
    let kept = session.map(|session| session.cwd).filter(is_there);
    let cwd = spec.work_dir.clone().or(kept);
    let cwd = cwd.unwrap_or_else(|| sandbox.spec.work_dir.clone());
    let own = [("PATH", "/usr/bin:/bin"), ("HOME", "/workspace")];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut env = own.to_vec();
    env.extend(sandbox.spec.env.iter().cloned());
    env.extend(exported.clone());
    env.extend(spec.env.iter().cloned());
    env.push(("PWD".into(), cwd.to_string()));
    let user = spec.user.clone();
    Start {
        cwd,
        env,
        user: user.unwrap_or_else(|| sandbox.spec.user.clone()),
        exported,
    }
}

fn stdin_of(spec: &ExecSpec) -> (Option<ExecStdin>, Input) {
    if spec.stdin == StdinMode::Closed && spec.tty.is_none() {
        return (None, Input::Empty);
    }
    let (ours, theirs) = tokio::io::duplex(TYPED_AHEAD);
    let stdin: ExecStdin = Box::new(ours);
    (Some(stdin), Input::Pipe(Arc::new(Mutex::new(theirs))))
}

fn streams(spec: &ExecSpec, input: Input, sender: mpsc::Sender<OutputChunk>) -> Io {
    if spec.tty.is_some() {
        let out = Sink::Terminal(sender);
        let err = out.clone();
        return Io { input, out, err };
    }
    let sink = |stream| Sink::Exec {
        sender: sender.clone(),
        stream,
    };
    Io {
        input,
        out: sink(StreamKind::Stdout),
        err: sink(StreamKind::Stderr),
    }
}

/// Prepares everything that the exec will do.
fn program(
    entry: &Entry,
    spec: &ExecSpec,
    start: Start,
    io: Io,
) -> Result<BoxFuture<'static, Ended>> {
    let (jobs, started) = mpsc::unbounded_channel();
    let site = Site {
        world: Arc::clone(&entry.world),
        id: entry.id.clone(),
        exec: entry.exec.clone(),
        user: start.user,
        jobs,
    };
    let Some((process, signal)) = enter(&site, &spec.argv.join(" ")) else {
        let message = "the sandbox has as many processes as it may have";
        return Err(EngineError::new(FailureKind::Busy, message)
            .with_hint("end some of its processes first"));
    };
    let mut shell = Shell::new(site, process.pid, start.cwd, &start.env);
    if let Some(name) = &spec.session {
        shell.join(name, start.exported);
    }
    let main = main(shell, spec.clone(), io, process);
    Ok(Box::pin(drive(main, signal, started)))
}

/// Runs the command itself.
fn main(mut shell: Shell, spec: ExecSpec, io: Io, process: Listed) -> BoxFuture<'static, Ended> {
    Box::pin(async move {
        let _process = process;
        if let Some(refused) = shell.check_cwd(&io).await {
            return refused;
        }
        let flow = match spec.argv.as_slice() {
            [name] if spec.tty.is_some() && is_shell(name) => interact(&mut shell, &io).await,
            [line] if spec.session.is_some() => shell.run_text(line, &io).await,
            [name, flag, script, ..]
                if spec.session.is_some() && is_shell(name) && flag == "-c" =>
            {
                shell.run_text(script, &io).await
            }
            argv => shell.run_argv(argv, &io).await,
        };
        end_of(flow)
    })
}

fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "/bin/sh" | "/bin/bash" | "/usr/bin/bash"
    )
}
