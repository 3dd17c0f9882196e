//! `exec` and `shell`: commands in a sandbox, with their own streams, exit code and terminal.

use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use chrono::Utc;
use serde_json::{Map, Value, json};

use super::output::{Drawing, Kept, Writer};
use super::print::{self, Format, Outcome, Stop};
use super::sandbox_args::{Allow, ExecArgs, ShellArgs};
use super::spec::in_flags;
use super::stream::{self, Follower, InputFrom, Output, terminal_size};
use super::{CliContext, exit, identity, reached_limits, views};
use crate::config::key_value;
use crate::domain::{Ended, ExecEnd, ExecSpec, Limits, Sandbox, SandboxPath, StdinMode, TtySize};
use crate::protocol::{Command, Failure, FailureKind};
use crate::text::TerminalPermissions;

/// Prefers bash, but works where there is only sh.
const LOGIN_SHELL: &str = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

/// `exec`.
pub(super) async fn exec(cli: &mut CliContext, args: &ExecArgs) -> Outcome<u8> {
    let ran = try_exec(cli, args).await;
    match ran {
        Err(Stop::Failed(failure)) => {
            print::failure(&failure, cli.format);
            Ok(exit::of_exec_failure(failure.kind))
        }
        other => other,
    }
}

async fn try_exec(cli: &mut CliContext, args: &ExecArgs) -> Outcome<u8> {
    cli.refuse_if_read_only("running a command")?;
    let sandbox = cli.session.find(&args.name).await?;
    let spec = spec(args, &sandbox)?;
    if args.detach {
        return run_detached(cli, &sandbox, spec).await;
    }
    if spec.tty.is_some() {
        return terminal(cli, &sandbox, spec, permissions(&args.allow)).await;
    }
    let input = if spec.stdin == StdinMode::Piped {
        InputFrom::Stdin
    } else {
        InputFrom::Nothing
    };
    let piped_run = Piped {
        sandbox: &sandbox,
        spec,
        input,
        fields: Map::new(),
    };
    run_piped(cli, piped_run).await
}

async fn run_detached(cli: &mut CliContext, sandbox: &Sandbox, spec: ExecSpec) -> Outcome<u8> {
    super::detach::start(cli, sandbox, &spec).await?;
    match cli.format {
        Format::Text => print::line(spec.id.as_str())?,
        Format::Json => {
            let run = super::runs::find(cli, spec.id.as_str()).await?;
            print::json(&super::runs::view(&run))?;
        }
    }
    Ok(exit::OK)
}

fn spec(args: &ExecArgs, sandbox: &Sandbox) -> Result<ExecSpec, Failure> {
    let mut spec = ExecSpec::new(identity::exec_id(), args.command.clone());
    spec.session.clone_from(&args.session);
    spec.user.clone_from(&args.user);
    spec.timeout = timeout(args.timeout, sandbox)?;
    for pair in &args.env {
        spec.env.push(key_value("env", pair).map_err(in_flags)?);
    }
    if let Some(path) = &args.workdir {
        let path = SandboxPath::resolve(path.as_bytes(), &sandbox.work_dir);
        let bad = |error| Failure::new(FailureKind::Invalid, format!("--workdir: {error}"));
        spec.work_dir = Some(path.map_err(bad)?);
    }
    if args.interactive || args.tty {
        spec.stdin = StdinMode::Piped;
    }
    if args.tty {
        add_terminal(&mut spec);
    }
    Ok(spec)
}

/// Gathers what a program may do to our terminal besides drawing on it.
fn permissions(allowed: &[Allow]) -> TerminalPermissions {
    TerminalPermissions {
        clipboard: allowed.contains(&Allow::Clipboard),
        titles: allowed.contains(&Allow::Titles),
        queries: allowed.contains(&Allow::Queries),
    }
}

/// Gives a command a terminal like ours.
fn add_terminal(spec: &mut ExecSpec) {
    spec.tty = Some(terminal_size().unwrap_or(TtySize {
        columns: 80,
        rows: 24,
    }));
    let term = std::env::var("TERM").unwrap_or_else(|_| "xterm-256color".to_owned());
    spec.env.push(("TERM".to_owned(), term));
}

fn timeout(given: Option<f64>, sandbox: &Sandbox) -> Result<Option<Duration>, Failure> {
    match given {
        None => Ok(sandbox.limits.timeout_s.map(Duration::from_secs)),
        Some(given) => seconds(given),
    }
}

/// Reads a limit of time; zero lifts it.
pub(super) fn seconds(given: f64) -> Result<Option<Duration>, Failure> {
    if given == 0.0 {
        return Ok(None);
    }
    Duration::try_from_secs_f64(given).map(Some).map_err(|_| {
        Failure::new(
            FailureKind::Invalid,
            format!("--timeout: {given} is not a number of seconds"),
        )
    })
}

/// A command without a terminal, and what JSON says of it besides.
pub(super) struct Piped<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) spec: ExecSpec,
    pub(super) input: InputFrom,
    pub(super) fields: Map<String, Value>,
}

/// Runs a command with its streams joined to ours, or gathered for JSON.
pub(super) async fn run_piped(cli: &mut CliContext, piped: Piped<'_>) -> Outcome<u8> {
    let Piped {
        sandbox,
        spec,
        input,
        fields: more,
    } = piped;
    let (started, id) = (Utc::now(), spec.id.clone());
    let output = match cli.format {
        Format::Json => Output::Kept(Kept::new(cli.config.json_limit)),
        Format::Text => Output::Through(Writer::new(Drawing::Text)),
    };
    let stream = cli.session.stream_id();
    let command = Command::Exec {
        sandbox: sandbox.reference.clone(),
        stream,
        spec: Box::new(spec),
    };
    cli.session.ask(command).await?;
    let followed = Follower::new(&mut cli.session, stream, output, input)
        .follow(false)
        .await?;
    if let Output::Kept(kept) = &followed.output {
        let mut fields = run_fields(&followed.end, followed.took);
        let reached = reached_limits::of(&followed.end, &sandbox.limits);
        fields.insert("reached_limits".into(), json!(reached));
        fields.insert("run".into(), json!(id));
        fields.insert("sandbox".into(), json!(sandbox.name));
        fields.insert("started_at".into(), json!(views::time(started)));
        kept.put(&mut fields);
        fields.extend(more);
        print::json(&Value::Object(fields))?;
        return Ok(exit::of_end(followed.end.ended));
    }
    let (end, took) = stream::finish(followed).await?;
    explain(&end, took, &sandbox.limits);
    Ok(exit::of_end(end.ended))
}

fn run_fields(end: &ExecEnd, took: Duration) -> Map<String, Value> {
    let signal = match end.ended {
        Ended::Signal(signal) => Some(signal),
        Ended::OutOfMemory => Some(9),
        _ => None,
    };
    let value = json!({
        "status": end.ended.word(),
        "exit_code": end.ended.exit_code(),
        "signal": signal,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "peak_memory_bytes": end.peak_memory_bytes,
        "cpu_time_ms": end.cpu_time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        "source": "cli",
        "by": identity::owner(crate::domain::OwnerKind::Cli).in_full(),
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Says on standard error what an exit code alone does not tell.
fn explain(end: &ExecEnd, took: Duration, limits: &Limits) {
    let seconds = crate::text::human::duration(took);
    match end.ended {
        Ended::TimedOut => print::note(&format!(
            "sandtop: timed out after {seconds}; all its processes were ended"
        )),
        Ended::Lost => print::note("sandtop: the sandbox or its engine went away"),
        Ended::OutOfMemory | Ended::Code(_) | Ended::Signal(_) | Ended::Cancelled => {}
    }
    for reached in reached_limits::of(end, limits) {
        print::note(&format!("sandtop: {reached}"));
    }
}

/// `shell`.
pub(super) async fn shell(cli: &mut CliContext, args: &ShellArgs) -> Outcome<u8> {
    cli.refuse_if_read_only("opening a shell")?;
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(
            Failure::new(FailureKind::Invalid, "a shell needs a terminal")
                .with_hint("use `sandtop exec -i NAME -- sh` in scripts")
                .into(),
        );
    }
    let sandbox = cli.session.find(&args.name).await?;
    let program = if args.command.is_empty() {
        ["sh", "-c", LOGIN_SHELL].map(str::to_owned).to_vec()
    } else {
        args.command.clone()
    };
    let mut spec = ExecSpec::new(identity::exec_id(), program);
    spec.user.clone_from(&args.user);
    spec.stdin = StdinMode::Piped;
    add_terminal(&mut spec);
    terminal(cli, &sandbox, spec, permissions(&args.allow)).await
}

/// Runs a command on a terminal; ours is handed over for that time and given back however it ends.
async fn terminal(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    spec: ExecSpec,
    allowed: TerminalPermissions,
) -> Outcome<u8> {
    let stream = cli.session.stream_id();
    let command = Command::Exec {
        sandbox: sandbox.reference.clone(),
        stream,
        spec: Box::new(spec),
    };
    cli.session.ask(command).await?;
    let raw = RawMode::enter();
    // On a terminal of its own the person sees what the program draws; that is what it was asked for.
    let output = Output::Through(Writer::new(Drawing::Screen(allowed)));
    let followed = Follower::new(&mut cli.session, stream, output, InputFrom::Stdin)
        .follow(true)
        .await;
    let ended = match followed {
        Ok(followed) => stream::finish(followed).await,
        Err(stop) => Err(stop),
    };
    drop(raw);
    let (end, took) = ended?;
    explain(&end, took, &sandbox.limits);
    Ok(exit::of_end(end.ended))
}

/// Our terminal without line editing and signals of its own, until dropped.
struct RawMode(Option<rustix::termios::Termios>);

impl RawMode {
    fn enter() -> Self {
        let Ok(before) = rustix::termios::tcgetattr(rustix::stdio::stdin()) else {
            return Self(None);
        };
        let mut raw = before.clone();
        raw.make_raw();
        let _ = rustix::termios::tcsetattr(
            rustix::stdio::stdin(),
            rustix::termios::OptionalActions::Flush,
            &raw,
        );
        Self(Some(before))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = rustix::termios::tcsetattr(
                rustix::stdio::stdin(),
                rustix::termios::OptionalActions::Flush,
                before,
            );
        }
    }
}
