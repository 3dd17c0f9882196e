//! Flags of the verbs about code.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where code comes from.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The file; `-` or nothing reads standard input
    pub file: Option<PathBuf>,
    /// Its language, such as python, js or bash (default: by the file's ending or first line)
    #[arg(short, long)]
    pub lang: Option<String>,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The code
    #[command(flatten)]
    pub source: SourceArgs,
    /// In this sandbox (default: a fresh one)
    #[arg(short, long, value_name = "NAME")]
    pub sandbox: Option<String>,
    /// Packages: auto (what the code imports), none, or a list with commas to add
    #[arg(long, value_name = "LIST")]
    pub deps: Option<String>,
    /// Seconds it may take; 0 lifts the limit (default: `timeout` of [code])
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Variable for it; KEY alone takes the value that it has here
    #[arg(short, long = "env", value_name = "KEY[=VALUE]", value_parser = super::env::variable)]
    pub env: Vec<String>,
    /// JSON file for it; the variable `SANDTOP_CONTEXT` says where it is in the sandbox
    #[arg(long, value_name = "FILE")]
    pub context_file: Option<PathBuf>,
    /// Pass standard input on also from a terminal
    #[arg(short, long)]
    pub interactive: bool,
    /// Run it also if the policy of the profile would ask about dangers
    #[arg(short, long)]
    pub yes: bool,
    /// Profile of a fresh sandbox
    #[arg(short, long, conflicts_with = "sandbox")]
    pub profile: Option<String>,
    /// Image of a fresh sandbox
    #[arg(long, conflicts_with = "sandbox")]
    pub image: Option<String>,
    /// Memory of a fresh sandbox, such as 512m
    #[arg(short, long, value_name = "SIZE", conflicts_with = "sandbox")]
    pub memory: Option<String>,
    /// Switch the network of a fresh sandbox on
    #[arg(long, conflicts_with = "sandbox")]
    pub network: bool,
    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

/// What `check` takes.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The code
    #[command(flatten)]
    pub source: SourceArgs,
    /// Every finding counts, also what is only good to know; exit with 5 unless there is none
    #[arg(long)]
    pub strict: bool,
}

/// What `deps` takes.
#[derive(Debug, Args)]
pub struct DepsArgs {
    /// The code
    #[command(flatten)]
    pub source: SourceArgs,
    /// Packages to add, with versions that win: auto, none or a list with commas
    #[arg(long, value_name = "LIST")]
    pub deps: Option<String>,
    /// Version of Python, such as 3.12 (default: that of the configured image)
    #[arg(long, value_name = "VERSION")]
    pub python: Option<String>,
}

/// Work on installed packages.
#[derive(Debug, Subcommand)]
pub enum CacheVerb {
    /// List them
    Ls,
    /// Remove them by their keys
    Rm {
        /// The keys, or unique starts of them
        #[arg(required_unless_present = "all", value_name = "KEY")]
        keys: Vec<String>,
        /// All of them
        #[arg(short, long, conflicts_with = "keys")]
        all: bool,
    },
    /// Remove those that are too old, and the least used ones beyond the size limit
    Prune,
}
