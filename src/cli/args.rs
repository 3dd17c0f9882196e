//! The command line as data: every verb and flag, with the words of `--help`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::care_args::{ReapArgs, SelftestArgs};
use super::code_args::{CacheVerb, CheckArgs, DepsArgs, RunArgs};
use super::file_args::FilesVerb;
use super::manual::ManArgs;
use super::sandbox_args::{CreateArgs, ExecArgs, ShellArgs};

/// Watch, use and reap code sandboxes.
#[derive(Debug, Parser)]
#[command(
    name = "sandtop",
    version,
    about,
    max_term_width = 110,
    propagate_version = true
)]
#[command(
    after_help = "A sandbox is given by its name, by a unique start of its id, or as HOST/NAME.\n\
                        Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 engine unreachable, 4 not found, 5 refused, 130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// What all verbs understand.
    #[command(flatten)]
    pub global: Global,
}

/// Flags of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Engine to use: docker, local or demo (default: the first that answers)
    #[arg(long, global = true, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// Only this host
    #[arg(long, global = true, value_name = "NAME")]
    pub host: Option<String>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Write more to the log file, and say where it is (-vv: everything)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Refuse everything that changes something
    #[arg(long, global = true)]
    pub read_only: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List sandboxes
    Ls {
        /// Also stopped ones, and those of other tools
        #[arg(short, long)]
        all: bool,
    },
    /// Create and start a sandbox; prints its name
    Create(Box<CreateArgs>),
    /// Start stopped sandboxes
    Start(Names),
    /// Stop sandboxes; their files are kept
    Stop(Names),
    /// Stop and start sandboxes
    Restart(Names),
    /// End all processes of sandboxes at once
    Kill(Names),
    /// Pause sandboxes
    Pause(Names),
    /// Resume paused sandboxes
    Resume(Names),
    /// Remove sandboxes with all they own
    Rm {
        /// Also while they run
        #[arg(short, long)]
        force: bool,
        /// Which
        #[command(flatten)]
        names: Names,
    },
    /// Run a command in a sandbox
    Exec(Box<ExecArgs>),
    /// Run code: checked, written into a sandbox, executed; a fresh sandbox is removed afterwards
    Run(Box<RunArgs>),
    /// List named sessions of a sandbox
    Sessions {
        /// The sandbox
        name: String,
        /// Forget this session
        #[arg(long, value_name = "SESSION")]
        drop: Option<String>,
    },
    /// List runs, the newest first
    Runs {
        /// Only of this sandbox
        name: Option<String>,
        /// Only those under way
        #[arg(short, long)]
        running: bool,
        /// At most so many
        #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
        limit: u32,
    },
    /// Print what a run printed
    Output {
        /// The run, or a unique start of its id
        run: String,
        /// Keep going until it ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Send standard input to a run started with `exec --detach -i`
    Input {
        /// The run, or a unique start of its id
        run: String,
        /// This is all; the run's input ends
        #[arg(short, long)]
        end: bool,
    },
    /// End a run with all its processes, whatever process started it
    Cancel {
        /// The run, or a unique start of its id
        run: String,
    },
    /// Remove sandboxes that nobody uses or whose owner died, each with its reason
    Reap(ReapArgs),
    /// Exempt sandboxes from reaping
    Pin(Names),
    /// Let sandboxes be reaped again
    Unpin(Names),
    /// Hold a detached run
    #[command(hide = true)]
    Keep,
    /// Open an interactive shell in a sandbox
    Shell(ShellArgs),
    /// Work on files of a sandbox
    #[command(subcommand)]
    Files(FilesVerb),
    /// Copy files and folders: NAME:PATH on one side, a path of this machine on the other; missing folders are made
    Cp {
        /// From
        from: OsString,
        /// To
        to: OsString,
        /// The most that it may move, such as 500m; 0 lifts the limit (default: `copy_limit` of the configuration)
        #[arg(long, value_name = "SIZE")]
        max_size: Option<String>,
    },
    /// Show live stats
    Stats {
        /// Only these sandboxes
        names: Vec<String>,
        /// Keep going
        #[arg(short, long)]
        watch: bool,
    },
    /// Show details of a sandbox, with the isolation in force and its gaps
    Inspect {
        /// The sandbox
        name: String,
    },
    /// List the processes of a sandbox
    Top {
        /// The sandbox
        name: String,
    },
    /// List files of a sandbox that were added, changed or deleted since it was made
    Changes {
        /// The sandbox
        name: String,
    },
    /// List the images that need no pull
    Images,
    /// Tell what happened to sandboxes
    Events {
        /// Keep going
        #[arg(short, long)]
        follow: bool,
        /// Look back this many seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 86400)]
        since: u64,
    },
    /// Check code for risky things before it runs: a seat-belt, the boundary is the sandbox
    Check(CheckArgs),
    /// List the packages that code needs
    Deps(DepsArgs),
    /// Work on installed packages, which are kept for the next run
    #[command(subcommand)]
    Cache(CacheVerb),
    /// Check this machine, the configuration and the engine
    Doctor,
    /// Try to get out of a new sandbox of a profile: what was declared against what holds
    Selftest(SelftestArgs),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a page of the manual, or write all of them
    Man(ManArgs),
}

/// One or more sandboxes.
#[derive(Debug, Args)]
pub struct Names {
    /// The sandboxes
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

/// Views of the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigVerb {
    /// Print the path of the file that is read
    Path,
    /// Print the settings in force
    Show,
    /// Check the file
    Check,
    /// Print the built-in settings with their explanations
    Default,
    /// Print all keys of the dashboard as `[keys]` takes them
    Keys,
}
