//! What `create`, `exec` and `shell` take.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// What `create` takes; everything else comes from the profile.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// Its name (default: made up)
    pub name: Option<String>,
    /// Profile of the configuration
    #[arg(short, long)]
    pub profile: Option<String>,
    /// Image
    #[arg(short, long)]
    pub image: Option<String>,
    /// Memory, swap included, such as 512m
    #[arg(short, long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Processor time; 1.0 is one core
    #[arg(long, value_name = "CORES")]
    pub cpus: Option<f64>,
    /// Processes and threads; 0 lifts the limit
    #[arg(long, value_name = "COUNT")]
    pub pids: Option<u64>,
    /// Seconds a command may take; 0 lifts the limit
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Switch the network on
    #[arg(long)]
    pub network: bool,
    /// Variable for its processes; KEY alone takes the value that it has here
    #[arg(short, long = "env", value_name = "KEY[=VALUE]", value_parser = super::env::variable)]
    pub env: Vec<String>,
    /// Folder of this machine to show in it
    #[arg(long = "mount", value_name = "HOST:PATH[:ro]")]
    pub mounts: Vec<String>,
    /// Its writable folder
    #[arg(short, long, value_name = "PATH")]
    pub workdir: Option<String>,
    /// User of its processes, uid:gid
    #[arg(short, long)]
    pub user: Option<String>,
    /// Label
    #[arg(short, long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<String>,
}

/// What `exec` takes.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// The sandbox
    pub name: String,
    /// Continue this session: its directory and exported variables carry over
    #[arg(short, long)]
    pub session: Option<String>,
    /// Seconds it may take; 0 lifts the limit
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Variable for it; KEY alone takes the value that it has here
    #[arg(short, long = "env", value_name = "KEY[=VALUE]", value_parser = super::env::variable)]
    pub env: Vec<String>,
    /// Where it starts; a relative path begins at the sandbox's work directory
    #[arg(short, long, value_name = "PATH")]
    pub workdir: Option<OsString>,
    /// As this user
    #[arg(short, long)]
    pub user: Option<String>,
    /// Pass standard input on
    #[arg(short, long)]
    pub interactive: bool,
    /// Give it a terminal
    #[arg(short, long)]
    pub tty: bool,
    /// Do not wait: print the run's id; `output`, `input` and `cancel` work on it from anywhere
    #[arg(short, long, conflicts_with = "tty")]
    pub detach: bool,
    /// What its program may do to our terminal besides drawing on it (with -t)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub allow: Vec<Allow>,
    /// Program and arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub command: Vec<String>,
}

/// What `shell` takes.
#[derive(Debug, Args)]
pub struct ShellArgs {
    /// The sandbox
    pub name: String,
    /// As this user
    #[arg(short, long)]
    pub user: Option<String>,
    /// What its programs may do to our terminal besides drawing on it
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub allow: Vec<Allow>,
    /// The program (default: bash if there, else sh)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// What a program may do to our terminal besides drawing on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// Set the clipboard
    Clipboard,
    /// Set the window's title
    Titles,
    /// Ask the terminal, which answers as if you typed
    Queries,
}
