//! sandtop: watch, use and reap code sandboxes from a terminal.
//!
//! # The house
//!
//! ```text
//!   main → run (this file: puts everything together)
//!    │
//!   tui ──→ ui ──→ app ──→ keymap, config, text
//!    │
//!    ├──→ manager (handle) ──→ engine ──→ docker, demo
//!    │          │                 │
//!   cli ────────┴─── protocol ────┴──→ domain
//! ```
//!
//! * [`domain`]: the nouns; no I/O.
//! * [`protocol`]: what crosses the channels: `Command` down, `Event` up, `Failure` as data.
//! * [`engine`]: the only door to sandboxes; one trait, one contract, several engines.
//! * [`guest`]: the program that sandtop puts into each sandbox.
//! * [`manager`]: the task that owns the engines.
//! * [`app`]: the dashboard's state and its one pure `update`; [`ui`] draws it; [`tui`] is its loop and terminal.
//! * [`keymap`]: keys to actions, as data.
//! * [`code`]: reads programs before they run: languages, packages, checks; pure and bounded.
//! * [`cli`]: the headless front end.
//! * [`config`], [`text`]: settings; strings made safe and pretty.
//!
//! # The life of `sandtop exec a -- make`
//!
//! `cli::exec` builds an `ExecSpec` and submits `Command::Exec`. The manager opens a stream, asks the engine to start the
//! command and replies `Opened`. `docker::exec` runs the guest in the sandbox; the guest runs `make` and watches over all
//! of its processes. Output comes over an attached connection, is told apart, freed of the guest's end mark, gathered by the
//! pump and sent as `Event::Output`, waiting whenever the reader is slow. The guest's last words say how it ended; the
//! manager sends `Event::Ended`, and the command line exits with the command's own code.

pub mod app;
pub mod cli;
pub mod code;
pub mod config;
pub mod domain;
pub mod engine;
pub mod guest;
pub mod keymap;
pub mod logging;
pub mod manager;
pub mod protocol;
pub mod signals;
pub mod text;
pub mod tui;
pub mod ui;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use app::Settings;
use cli::{Cli, Front, Global, Verb};
use config::{Config, Environment, LoadOptions, Paths, create_private};
use domain::{EngineKind, HostName};
use engine::SharedEngine;
use engine::demo::DemoEngine;
use engine::docker::{DockerEngine, Endpoint};
use manager::{Host, Options};
use protocol::{Failure, FailureKind};
use ui::theme::Theme;

/// Separates the sandboxes of groups that share one engine; tests use scopes of their own.
const SCOPE_VARIABLE: &str = "SANDTOP_SCOPE";

/// Runs the program and returns its exit code.
#[must_use]
pub fn run() -> u8 {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match prepare(&cli) {
        Ok(code) => code,
        Err(failure) => cli::refuse(&failure, &cli.global),
    }
}

fn prepare(cli: &Cli) -> Result<u8, Failure> {
    let engine = cli.global.engine.as_deref().map(str::parse).transpose();
    let engine = engine.map_err(|message: String| {
        Failure::new(FailureKind::Invalid, format!("--engine: {message}"))
    })?;
    let options = LoadOptions {
        config: cli.global.config.clone(),
        engine,
        environment: Environment::of_process(),
    };
    if let Some(code) = cli::run_offline(cli, &options) {
        return Ok(code);
    }
    let config = Config::load(&options)?;
    let state = Paths::new(&options.environment).state_dir;
    // A state directory that cannot be made costs the log and shared slots; `doctor` says so.
    let state = create_private(&state, options.environment.uid())
        .is_ok()
        .then_some(state);
    let log = state
        .as_deref()
        .and_then(|dir| logging::start(dir, &config.log_level, cli.global.verbose));
    if let (Some((_, dir)), true) = (&log, cli.global.verbose > 0) {
        cli::tell(&format!("log: {}", dir.display()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build();
    let runtime = runtime.map_err(|error| {
        Failure::new(FailureKind::Internal, format!("starting failed: {error}"))
    })?;
    let host = host(&config, state.as_deref())?;
    let code = match &cli.verb {
        Some(verb) => runtime.block_on(serve(vec![host], config, verb, &cli.global, &options)),
        None => runtime.block_on(dashboard(host, config, &cli.global, state.as_deref()))?,
    };
    // Reading standard input cannot be called off; it must not keep a finished program waiting.
    runtime.shutdown_background();
    Ok(code)
}

/// Starts the manager, runs the verb, and sees the manager out.
async fn serve(
    hosts: Vec<Host>,
    config: Config,
    verb: &Verb,
    global: &Global,
    options: &LoadOptions,
) -> u8 {
    let handles_interrupt = matches!(verb, Verb::Exec(_) | Verb::Shell { .. } | Verb::Files(_));
    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async {
        let _ = closed.await;
    };
    let manager_options = Options {
        max_sandboxes: config.manager.max_sandboxes,
    };
    let (handle, events, manager) = manager::spawn(hosts, manager_options, shutdown);
    let mut front = Front::new(handle, events, config, global);
    let code = tokio::select! {
        code = cli::run(&mut front, verb, options) => code,
        asked = signals::asked_to_end(!handles_interrupt) => asked.exit_code(),
    };
    let _ = close.send(());
    drop(front);
    let _ = manager.await;
    code
}

/// Starts the manager, runs the dashboard, and sees the manager out.
async fn dashboard(
    host: Host,
    config: Config,
    global: &Global,
    state_dir: Option<&Path>,
) -> Result<u8, Failure> {
    let settings = Settings {
        keymap: keymap::Keymap::load(None)?,
        owner: cli::owner(),
        host: host.name.clone(),
        read_only: global.read_only,
        demo: host.engine.kind() == EngineKind::Demo,
        config: config.clone(),
    };
    let theme = if std::env::var_os("NO_COLOR").is_some() {
        Theme::mono()
    } else {
        Theme::dark()
    };
    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let options = Options {
        max_sandboxes: config.manager.max_sandboxes,
    };
    let (handle, events, manager) = manager::spawn(vec![host], options, async {
        let _ = closed.await;
    });
    let code = tui::run(handle, events, settings, theme, state_dir).await;
    let _ = close.send(());
    let _ = manager.await;
    code
}

/// Chooses the engine: the one asked for, else Docker.
fn host(config: &Config, state: Option<&Path>) -> Result<Host, Failure> {
    let name = HostName::new(cli::HOST);
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let scope = environment
        .get(SCOPE_VARIABLE)
        .filter(|scope| !scope.is_empty())
        .map_or("default", String::as_str);
    match config.engine.unwrap_or(EngineKind::Docker) {
        EngineKind::Demo => Ok(Host {
            engine: Arc::new(DemoEngine::with_samples(name.clone())),
            name,
            slots: None,
        }),
        EngineKind::Docker => {
            let endpoint = Endpoint::find(config.docker_host.as_deref(), &environment)?;
            let place =
                guest::wire::escape(format!("{endpoint}#{scope}").as_bytes()).replace('/', "+");
            let slots = state.map(|state| state.join("slots").join(place));
            let engine: SharedEngine = Arc::new(DockerEngine::new(name.clone(), endpoint, scope));
            Ok(Host {
                name,
                engine,
                slots,
            })
        }
    }
}
