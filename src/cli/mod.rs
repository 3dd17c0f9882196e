//! The headless front end: verbs in, text or JSON out, exit codes that mean something.

mod args;
mod cache;
mod candidates;
mod care_args;
mod code;
mod code_args;
mod completions;
mod cp;
mod detach;
mod doctor;
mod env;
mod exec;
mod exit;
mod file_args;
mod files;
mod identity;
mod inspect;
mod introspect;
mod manual;
mod output;
mod print;
mod reached_limits;
mod reap;
mod run;
mod run_supervisor;
mod runs;
mod sandbox_args;
mod sandboxes;
mod selftest;
mod session;
mod settings;
mod spec;
mod stream;
mod views;
mod watching;

use std::io::IsTerminal;

use clap::Parser;
use clap::error::ErrorKind;

pub use args::{Cli, Global, Verb};
pub use completions::answer as answer_completion;
pub use doctor::doctor_without_engine;

use crate::config::{Config, LoadOptions};
use crate::domain::{HostName, Owner, OwnerKind};
use crate::manager::ManagerHandle;
use crate::protocol::{Event, Failure, FailureKind, LifecycleOp};
use crate::store::Store;
use print::{Format, Outcome, Stop};
use session::Session;

/// The name of the host that is always there.
pub const HOST: &str = "local";

/// What a verb works with.
pub struct CliContext {
    session: Session,
    config: Config,
    format: Format,
    host: Option<HostName>,
    read_only: bool,
    store: Store,
    /// The global flags, as a supervisor must be given them.
    flags: Vec<String>,
}

impl CliContext {
    /// Prepares to speak with a manager.
    #[must_use]
    pub fn new(
        handle: ManagerHandle,
        events: tokio::sync::mpsc::Receiver<Event>,
        config: Config,
        global: &Global,
        store: &Store,
    ) -> Self {
        let format = format_of(global);
        let host = global.host.clone().map(HostName::new);
        let session = Session::new(handle, events, format, host.clone());
        Self {
            session,
            config,
            format,
            host,
            read_only: global.read_only,
            store: store.clone(),
            flags: flags(global),
        }
    }

    /// Returns the host that is meant if no sandbox says which.
    fn host(&self) -> HostName {
        self.host.clone().unwrap_or_else(|| HostName::new(HOST))
    }

    fn supervisor_arguments(&self) -> Vec<String> {
        self.flags.clone()
    }

    fn refuse_if_read_only(&self, what: &str) -> Result<(), Failure> {
        if !self.read_only {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Refused,
            format!("{what} is refused in read-only mode"),
        )
        .with_hint("leave out --read-only"))
    }
}

/// Writes the flags that choose settings and engine again.
fn flags(global: &Global) -> Vec<String> {
    let config = global
        .config
        .as_ref()
        .map(|path| path.display().to_string());
    let pairs = [
        ("--engine", &global.engine),
        ("--host", &global.host),
        ("--config", &config),
    ];
    let given = pairs
        .into_iter()
        .filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]));
    given.flatten().collect()
}

fn format_of(global: &Global) -> Format {
    if global.json {
        Format::Json
    } else {
        Format::Text
    }
}

/// Reads the command line; help, versions and mistakes are answered here, with their exit code.
///
/// # Errors
/// The exit code, when there is nothing more to do.
pub fn parse() -> Result<Cli, u8> {
    let asked_for_json = std::env::args_os()
        .take_while(|arg| arg != "--")
        .any(|arg| arg == "--json");
    Cli::try_parse().map_err(|error| {
        let is_mistake = !matches!(
            error.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
        );
        if is_mistake && asked_for_json {
            let text = error.render().to_string();
            // What is wrong is the first paragraph; the usage follows it.
            let paragraph = text
                .lines()
                .map(str::trim)
                .take_while(|line| !line.is_empty());
            let message = paragraph.collect::<Vec<_>>().join(" ");
            let message = message.trim_start_matches("error: ").to_owned();
            print::failure(
                &Failure::new(FailureKind::Invalid, message).with_hint("see `sandtop --help`"),
                Format::Json,
            );
        } else if is_mistake {
            // The parser repeats what it was given; that is foreign text.
            print::mistake(&error.render().to_string());
        } else {
            // A closed pipe is nobody's mistake.
            let _ = error.print();
        }
        if is_mistake { exit::USAGE } else { exit::OK }
    })
}

/// Runs the verbs that need no engine; `None` if this one does.
#[must_use]
pub fn run_offline(cli: &Cli, options: &LoadOptions) -> Option<u8> {
    let format = format_of(&cli.global);
    let outcome = match &cli.verb {
        Some(Verb::Config(verb)) => settings::config(*verb, options, format),
        Some(Verb::Completions { shell }) => completions::completions(*shell, format),
        Some(Verb::Man(args)) => manual::manual(args, format),
        Some(Verb::Check(args)) => code::check(args, options, format),
        Some(Verb::Deps(args)) => code::deps(args, options, format),
        None if !has_terminal() => no_verb(),
        Some(_) | None => return None,
    };
    Some(code_of(outcome, format))
}

/// Checks that the host that is asked for is there.
///
/// # Errors
/// It is not; the error names those that are.
pub fn check_host(global: &Global) -> Result<(), Failure> {
    match global.host.as_deref() {
        None | Some(HOST) => Ok(()),
        Some(other) => {
            let message = format!("no host is called `{}`", other.escape_default());
            Err(Failure::new(FailureKind::NotFound, message)
                .with_hint(format!("hosts there are: {HOST}")))
        }
    }
}

/// Tells whether a person sits before us.
fn has_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// `sandtop` alone needs a terminal for its dashboard.
fn no_verb() -> Outcome<u8> {
    let failure = Failure::new(FailureKind::Invalid, "the dashboard needs a terminal");
    Err(failure
        .with_hint("`sandtop --help` lists the verbs for scripts")
        .into())
}

/// Describes this process as the owner of what it creates.
#[must_use]
pub fn owner(kind: OwnerKind) -> Owner {
    identity::owner(kind)
}

/// Tells a failure that came before any verb could run.
#[must_use]
pub fn refuse(failure: &Failure, global: &Global) -> u8 {
    print::failure(failure, format_of(global));
    exit::of_failure(failure.kind)
}

/// Says something to the person, beside the result.
pub fn tell(text: &str) {
    print::note(text);
}

/// Tells the person of trouble that stops nothing.
pub fn warn(failure: &Failure) {
    print::notice(failure);
}

/// Runs a verb and gives its exit code.
pub async fn run(cli: &mut CliContext, verb: &Verb, options: &LoadOptions) -> u8 {
    let outcome = dispatch(cli, verb, options).await;
    code_of(outcome, cli.format)
}

fn code_of(outcome: Outcome<u8>, format: Format) -> u8 {
    match outcome {
        Ok(code) => code,
        Err(Stop::ClosedPipe) => exit::OK,
        Err(Stop::Failed(failure)) => {
            print::failure(&failure, format);
            exit::of_failure(failure.kind)
        }
    }
}

async fn dispatch(cli: &mut CliContext, verb: &Verb, options: &LoadOptions) -> Outcome<u8> {
    match verb {
        Verb::Ls { all } => sandboxes::list(cli, *all).await,
        Verb::Create(args) => {
            cli.refuse_if_read_only("creating a sandbox")?;
            sandboxes::create(cli, args).await
        }
        Verb::Start(names) => act(cli, &names.names, LifecycleOp::Start).await,
        Verb::Stop(names) => act(cli, &names.names, LifecycleOp::Stop).await,
        Verb::Restart(names) => act(cli, &names.names, LifecycleOp::Restart).await,
        Verb::Kill(names) => act(cli, &names.names, LifecycleOp::Kill).await,
        Verb::Pause(names) => act(cli, &names.names, LifecycleOp::Pause).await,
        Verb::Resume(names) => act(cli, &names.names, LifecycleOp::Resume).await,
        Verb::Rm { force, names } => {
            act(cli, &names.names, LifecycleOp::Remove { force: *force }).await
        }
        Verb::Exec(args) => exec::exec(cli, args).await,
        Verb::Run(args) => run::run(cli, args).await,
        Verb::Sessions { name, drop } => sandboxes::sessions(cli, name, drop.as_deref()).await,
        Verb::Runs {
            name,
            running,
            limit,
        } => runs::list(cli, name.as_deref(), *running, *limit).await,
        Verb::Output { run, follow } => runs::output(cli, run, *follow).await,
        Verb::Input { run, end } => run_supervisor::input(cli, run, *end).await,
        Verb::Cancel { run } => runs::cancel(cli, run).await,
        Verb::Keep => run_supervisor::supervise(cli).await,
        Verb::Reap(args) => reap::reap(cli, args).await,
        Verb::Pin(names) => reap::pin(cli, &names.names, true).await,
        Verb::Unpin(names) => reap::pin(cli, &names.names, false).await,
        Verb::Shell(args) => exec::shell(cli, args).await,
        Verb::Files(verb) => files::run(cli, verb).await,
        Verb::Cp { from, to, max_size } => cp::copy(cli, from, to, max_size.as_deref()).await,
        Verb::Stats { names, watch } => watching::stats(cli, names, *watch).await,
        Verb::Inspect { name } => inspect::inspect(cli, name).await,
        Verb::Top { name } => introspect::top(cli, name).await,
        Verb::Changes { name } => introspect::changes(cli, name).await,
        Verb::Images => introspect::images(cli).await,
        Verb::Events { follow, since } => watching::events(cli, *follow, *since).await,
        Verb::Cache(verb) => cache::run(cli, verb).await,
        Verb::Doctor => doctor::doctor(cli, options).await,
        Verb::Selftest(args) => selftest::selftest(cli, args).await,
        Verb::Config(_)
        | Verb::Completions { .. }
        | Verb::Man(_)
        | Verb::Check(_)
        | Verb::Deps(_) => Ok(exit::OK),
    }
}

async fn act(cli: &mut CliContext, names: &[String], action: LifecycleOp) -> Outcome<u8> {
    cli.refuse_if_read_only(&format!("to {} a sandbox", action.verb()))?;
    sandboxes::act(cli, names, action).await
}
