//! `exec --detach`: hands a run to a supervisor, a sandtop without a terminal that holds it to its end.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command as Program, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::CliContext;
use super::print::{Outcome, Stop};
use crate::domain::{ExecId, ExecSpec, Sandbox, SandboxPath, SandboxRef, StdinMode, Tie};
use crate::guest::wire;
use crate::protocol::{Failure, FailureKind};

/// Longest wait for the supervisor's word; an engine may be slow to start a process.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a supervisor is told on its standard input; command lines are public, variables need not be.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) sandbox: SandboxRef,
    id: String,
    argv: Vec<String>,
    work_dir: Option<String>,
    env: Vec<(String, String)>,
    user: Option<String>,
    input: bool,
    timeout: Option<Duration>,
    session: Option<String>,
}

impl Job {
    fn new(sandbox: &Sandbox, spec: &ExecSpec) -> Self {
        let dir = spec.work_dir.as_ref();
        Self {
            sandbox: sandbox.reference.clone(),
            id: spec.id.to_string(),
            argv: spec.argv.clone(),
            work_dir: dir.map(|dir| wire::escape(dir.as_bytes())),
            env: spec.env.clone(),
            user: spec.user.clone(),
            input: spec.stdin == StdinMode::Piped,
            timeout: spec.timeout,
            session: spec.session.clone(),
        }
    }

    /// Describes the command that was asked for.
    pub(super) fn spec(&self) -> ExecSpec {
        let mut spec = ExecSpec::new(ExecId::new(self.id.clone()), self.argv.clone());
        let dir = self.work_dir.as_deref().map(wire::unescape);
        spec.work_dir = dir.and_then(|dir| SandboxPath::parse(&dir).ok());
        spec.env.clone_from(&self.env);
        spec.user.clone_from(&self.user);
        if self.input {
            spec.stdin = StdinMode::Piped;
        }
        spec.timeout = self.timeout;
        spec.session.clone_from(&self.session);
        spec.tie = Tie::Detached;
        spec
    }
}

/// A supervisor's first word.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// The run has started.
    Started,
    /// It could not be started.
    Failed {
        /// The kind, in the words of JSON.
        kind: String,
        /// What went wrong.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
}

/// Starts a supervisor and waits until the run has started.
pub(super) async fn start(cli: &CliContext, sandbox: &Sandbox, spec: &ExecSpec) -> Outcome {
    let job = serde_json::to_vec(&Job::new(sandbox, spec)).unwrap_or_default();
    let arguments = cli.supervisor_arguments();
    let starting = tokio::task::spawn_blocking(move || launch(&arguments, &job));
    let failed = |why: &dyn std::fmt::Display| {
        let message = format!("starting a process that holds the run failed: {why}");
        Stop::Failed(Failure::new(FailureKind::Internal, message))
    };
    let word = match tokio::time::timeout(PATIENCE, starting).await {
        Ok(Ok(Ok(word))) => word,
        Ok(Ok(Err(error))) => return Err(failed(&error)),
        Ok(Err(error)) => return Err(failed(&error)),
        Err(_) => return Err(failed(&"it did not answer in time")),
    };
    match word {
        Word::Started => Ok(()),
        Word::Failed {
            kind,
            message,
            hint,
        } => Err(Stop::Failed(Failure {
            kind: FailureKind::parse(&kind).unwrap_or(FailureKind::Internal),
            message,
            hint,
        })),
    }
}

fn launch(arguments: &[String], job: &[u8]) -> std::io::Result<Word> {
    let mut supervisor: Child = Program::new(std::env::current_exe()?)
        .args(arguments)
        .arg("keep")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Keys of our terminal must not reach it before it has left our session.
        .process_group(0)
        .spawn()?;
    if let Some(mut stdin) = supervisor.stdin.take() {
        stdin.write_all(job)?;
    }
    let mut line = String::new();
    if let Some(stdout) = supervisor.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    serde_json::from_str(&line).map_err(|_| {
        let why = "it ended without a word; the log says more";
        std::io::Error::other(why)
    })
}
