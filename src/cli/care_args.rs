//! The flags of verbs that look after sandboxes.

use clap::Args;

/// What `reap` takes.
#[derive(Debug, Args)]
pub struct ReapArgs {
    /// Only tell what would be done
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Unused for so long (default: the `idle_timeout` of the configuration)
    #[arg(long, value_name = "SECONDS")]
    pub idle: Option<u64>,
    /// Keep going, with a look every `cleanup_interval`
    #[arg(short, long)]
    pub watch: bool,
}

/// What `selftest` takes; everything else comes from the profile.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// Profile of the configuration
    #[arg(short, long)]
    pub profile: Option<String>,
    /// Image
    #[arg(short, long)]
    pub image: Option<String>,
    /// Switch the network on
    #[arg(long)]
    pub network: bool,
}
