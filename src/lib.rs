//! sandtop: watch, use and reap code sandboxes from a terminal.
//!
//! # The house
//!
//! ```text
//!   main → run (this file: puts everything together)
//!    │
//!   tui ──→ ui ──→ app ──→ keymap, config, code, describe, text
//!    │
//!    ├──→ manager (handle) ──┬──→ engine ──→ docker, local, demo
//!    │          │            └──→ store
//!   cli ────────┴─── protocol ───────→ domain
//! ```
//!
//! * [`domain`]: the nouns; no I/O.
//! * [`protocol`]: what crosses the channels: `Command` down, `Event` up, `Failure` as data.
//! * [`engine`]: the only door to sandboxes; one trait, one contract, several engines.
//! * [`guest`]: the program that sandtop puts into each sandbox; for the local engine it also makes and keeps them.
//! * [`manager`]: the task that owns the engines.
//! * [`store`]: what outlives a process and is shared by all: runs, last use, pins, causes of death.
//! * [`app`]: the dashboard's state and its one pure `update`; [`ui`] draws it; [`tui`] is its loop and terminal. Inside, each
//!   uses only what stands after it: `input` (routers), `flows` (change all of the state), `state`, `overlays` and `panes` (own
//!   their state, return intents), `intent` and `msg` (data), `geometry`.
//! * [`keymap`]: keys to actions, as data.
//! * [`code`]: reads programs before they run: languages, packages, checks; pure and bounded.
//! * [`cli`]: the headless front end.
//! * [`config`], [`text`], [`describe`]: settings; strings made safe and pretty; sandboxes in words.
//!
//! # The life of `sandtop exec a -- make`
//!
//! `cli::exec` builds an `ExecSpec` and submits `Command::Exec`. The manager opens a stream, asks the engine to start the
//! command and replies `Opened`. `engine::guest::exec` has `docker::transport` start the guest in the sandbox; the guest runs
//! `make` and watches over all of its processes. Output comes by `docker::attach`, is told apart, freed of the guest's end mark, gathered by the
//! pump and sent as `Event::Output`, waiting whenever the reader is slow. The guest's last words say how it ended; the
//! manager sends `Event::Ended`, and the command line exits with the command's own code.
//!
//! # The life of F9
//!
//! `tui::input` makes a `Msg::Key`; `app::update` gives it to `input::on_key`, the keymap says `Action::Run`, and
//! `input::on_action` gives that to the editor, which returns `Intent::Run`. `update` has `flows::apply_intents` do it:
//! `flows::run_program` makes a `Program` of the buffer and submits `Command::Prepare` with the address `ReplyTo::Prepared`.
//! `manager::programs` checks the code, finds or installs its packages and replies how to run it, or what stands against it;
//! `input::on_reply` brings the reply home to `run_program::start`, which opens a tab of
//! the output pane and submits `Command::Exec`. From there on it is the life of an exec, and `input::on_event` gives each
//! `Event::Output` to the tab.
//!
//! # The life of a local sandbox
//!
//! `local::engine` takes the call and `local::lifecycle` does it, off the main threads. `lifecycle::create` resolves the image
//! (`image`, and for packed ones `oci`, `layers` and `unpacked`), takes the lock of the scope, writes the record by `state_dir`,
//! sets limits by `cgroups` and has `plan` write down everything that the sandbox is to be. `local::keeper` starts the guest
//! program as `guest keeper`, in a scope of systemd where limits need one (`systemd_scope`), and sends it that plan. `guest::keeper` forks the `zygote`, which enters cgroups and namespaces and
//! starts `init`, the sandbox's first process; `root` builds its files. When the keeper says `Ready`, the sandbox runs, and no
//! process of sandtop is needed any more.
//!
//! An exec comes by `engine::guest`, as for Docker. Its `local::transport` connects to the keeper's socket and sends
//! `KeeperRequest::Run` with three pipes, or gets one end of a terminal back; `keeper::requests` has the zygote start a guest inside, which becomes the sandbox's user
//! and runs the command (`guest::exec`). Output comes by the pipes straight to `local::streams`; the keeper only tells the end.
//!
//! To pause, `lifecycle` sends `KeeperRequest::Pause`: the keeper writes to the cgroup's freezer, or stops all processes by a
//! signal. Whoever wants to read meanwhile is served by a `paused_zygote`, since a freezer holds the usual one, too. To stop, it sends `KeeperRequest::Stop`: a polite signal,
//! a moment of grace, then the end of init, with which the kernel ends all others; `keeper::end` removes the cgroups and notes it
//! in the journal. The files stay, so that the sandbox can start again.
//!
//! To remove, `lifecycle` kills what still runs, renames the folder out of the list and deletes it. The reaper (`manager::reaper`)
//! ends here, too: it removes each sandbox whose time has come, or pauses it. What a crash leaves, of sandtop or of a keeper, is cleaned up by
//! `lifecycle::clean_up` with the next list, create or start.

#![forbid(unsafe_code)]

pub mod app;
pub mod cli;
pub mod code;
pub mod config;
pub mod describe;
mod descriptors;
pub mod domain;
pub mod engine;
mod engine_select;
#[cfg(test)]
mod fuzz;
pub mod guest;
pub mod keymap;
pub mod logging;
pub mod manager;
pub mod protocol;
pub mod signals;
pub mod store;
pub mod text;
pub mod tui;
pub mod ui;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use app::Settings;
use cli::{Cli, CliContext, Global, Verb};
use config::{Config, Environment, LoadOptions, Paths, create_private};
use domain::{EngineKind, HostName, OwnerKind, Source};
use manager::{Host, Options};
use protocol::{Failure, FailureKind};
use store::Store;

/// Runs the program and returns its exit code.
#[must_use]
pub fn run() -> u8 {
    if let Some(code) = cli::answer_completion() {
        return code;
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    start(&cli).unwrap_or_else(|error| cli::refuse(&as_failure(&error), &cli.global))
}

/// Returns the failure that ended the program; any other error is a fault of its own, told with all its causes.
fn as_failure(error: &anyhow::Error) -> Failure {
    let known = error.downcast_ref::<Failure>().cloned();
    known.unwrap_or_else(|| Failure::new(FailureKind::Internal, format!("{error:#}")))
}

/// What both front ends start from.
struct Start<'a> {
    global: &'a Global,
    options: LoadOptions,
    /// The state directory; one that cannot be made costs the log and shared slots, and `doctor` says so.
    state: Option<PathBuf>,
    config: Config,
    store: Store,
}

fn start(cli: &Cli) -> anyhow::Result<u8> {
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
    cli::check_host(&cli.global)?;
    descriptors::make_room()?;
    // Opened before anything else: the record's thread works meanwhile.
    let (state, store) = open_state(&options);
    if let (true, Some(why)) = (cli.verb.is_some(), store.why_unusable()) {
        // Said now, also by verbs that do not ask the record.
        cli::warn(why);
        let _ = store.is_news();
    }
    let config = Config::load(&options)?;
    let store = with_retention(store, &config);
    let log = state
        .as_deref()
        .and_then(|dir| logging::start(dir, &config.log_level, cli.global.verbose));
    if let (Some(dir), true) = (&log, cli.global.verbose > 0) {
        cli::tell(&format!("log: {}", dir.display()));
    }
    let start = Start {
        global: &cli.global,
        options,
        state,
        config,
        store,
    };
    let runtime = runtime(cli.verb.is_some()).context("starting failed")?;
    let code = match &cli.verb {
        Some(verb) => runtime.block_on(serve(start, verb))?,
        None => runtime.block_on(dashboard(start))?,
    };
    // Reading standard input cannot be called off; it must not keep a finished program waiting.
    runtime.shutdown_background();
    Ok(code)
}

/// Opens the state directory and the record in it. Without one work goes on and nothing is kept; one that is not ours alone is
/// not used, and the record says so.
fn open_state(options: &LoadOptions) -> (Option<PathBuf>, Store) {
    let state = Paths::new(&options.environment).state_dir;
    match create_private(&state, options.environment.uid()) {
        Ok(()) => {
            // What is simulated leaves no trace.
            let lasting = Some(&*state).filter(|_| options.engine != Some(EngineKind::Demo));
            let store = Store::open(lasting);
            (Some(state), store)
        }
        Err(failure) if failure.kind == FailureKind::Refused => (None, Store::unusable(failure)),
        Err(_) => (None, Store::open(None)),
    }
}

/// A verb has one thing to do, and passing it between threads costs more than it saves; the dashboard must draw while the
/// manager works.
fn runtime(one_thread: bool) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = if one_thread {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    builder.enable_all().worker_threads(2).build()
}

/// Starts the manager, runs the verb, and sees the manager out.
async fn serve(start: Start<'_>, verb: &Verb) -> Result<u8, Failure> {
    let chosen = choose_engine(start.config.clone(), start.state.as_deref()).await;
    let (host, config) = match (chosen, verb) {
        (Err(failure), Verb::Doctor) => {
            let (config, options, global) = (&start.config, &start.options, start.global);
            return Ok(cli::doctor_without_engine(config, options, failure, global));
        }
        (chosen, _) => chosen?,
    };
    let handles_interrupt = matches!(
        verb,
        Verb::Exec(_) | Verb::Run(_) | Verb::Shell(_) | Verb::Files(_) | Verb::Output { .. }
    );
    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async {
        let _ = closed.await;
    };
    let manager_options = manager_options(&config, Source::Cli, start.store.clone());
    let (handle, events, manager) = manager::spawn(vec![host], manager_options, shutdown);
    let mut context = CliContext::new(handle, events, config, start.global, &start.store);
    let code = tokio::select! {
        code = cli::run(&mut context, verb, &start.options) => code,
        asked = signals::asked_to_end(!handles_interrupt) => asked.exit_code(),
    };
    let _ = close.send(());
    drop(context);
    let _ = manager.await;
    Ok(code)
}

/// Chooses the engine, and the settings that go with it.
async fn choose_engine(config: Config, state: Option<&Path>) -> Result<(Host, Config), Failure> {
    let host = engine_select::host(&config, state).await?;
    let config = config.for_engine(host.engine.kind());
    Ok((host, config))
}

/// Shows the dashboard, starts the manager behind it, and sees the manager out.
async fn dashboard(start: Start<'_>) -> Result<u8, Failure> {
    let Start {
        global,
        options,
        state,
        config,
        store,
    } = start;
    let theme = tui::theme(&config.ui, &options.environment);
    let demo = config.engine == Some(EngineKind::Demo);
    let first = settings(config.clone(), global, demo)?;
    let mut behind = None;
    let connect = async {
        let (host, config) = choose_engine(config, state.as_deref()).await?;
        let settings = settings(config, global, demo)?;
        let options = manager_options(&settings.config, Source::Tui, store);
        let (close, closed) = tokio::sync::oneshot::channel::<()>();
        let (handle, events, manager) = manager::spawn(vec![host], options, async {
            let _ = closed.await;
        });
        behind = Some((close, manager));
        Ok(tui::Connected {
            handle,
            events,
            settings,
        })
    };
    let code = Box::pin(tui::run(first, theme, state.as_deref(), connect)).await;
    if let Some((close, manager)) = behind {
        let _ = close.send(());
        let _ = manager.await;
    }
    code
}

fn settings(config: Config, global: &Global, demo: bool) -> Result<Settings, Failure> {
    let keymap = keymap::Keymap::with(&config.ui.keys)?;
    Ok(Settings {
        keymap: if global.read_only {
            keymap.without_mutations()
        } else {
            keymap
        },
        owner: cli::owner(OwnerKind::Tui),
        host: HostName::new(cli::HOST),
        read_only: global.read_only,
        demo,
        config,
    })
}

fn manager_options(config: &Config, source: Source, store: Store) -> Options {
    Options {
        max_sandboxes: config.manager.max_sandboxes,
        copy_limit: config.manager.copy_limit,
        max_detached: config.manager.max_detached,
        reap_foreign: config.adopt.reap,
        measures_disk: config.guards.on(domain::Guarded::Disk).is_some(),
        deps: config.deps.clone(),
        source,
        owner: cli::owner(match source {
            Source::Cli => OwnerKind::Cli,
            Source::Tui => OwnerKind::Tui,
            Source::Mcp => OwnerKind::Mcp,
        }),
        store,
    }
}

/// Gives the record its limits; simulated sandboxes end with the process, and so does what is known of them.
fn with_retention(store: Store, config: &Config) -> Store {
    let store = match config.engine {
        Some(EngineKind::Demo) => Store::open(None),
        _ => store,
    };
    store.keeping(config.retention)
}
