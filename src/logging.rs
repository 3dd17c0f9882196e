//! The log: a file that rolls by day, never the terminal.

use std::path::{Path, PathBuf};

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Days that are kept.
const KEPT: usize = 5;

/// Starts logging and says where; without a writable directory nothing is logged.
///
/// Lines are few and are written by whoever has them: a thread that waits for them would cost every command its start.
#[must_use]
pub fn start(state_dir: &Path, level: &str, verbose: u8) -> Option<PathBuf> {
    let level = match verbose {
        0 => level,
        1 => "debug",
        _ => "trace",
    };
    let builder = Builder::new()
        .rotation(Rotation::DAILY)
        .filename_prefix("sandtop")
        .filename_suffix("log")
        .max_log_files(KEPT);
    let file = builder.build(state_dir).ok()?;
    // The client library logs whole bodies at debug; they may hold what people keep in sandboxes.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("sandtop", level.parse::<LevelFilter>().ok()?);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(file)
        .with_ansi(false);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
    subscriber.try_init().ok()?;
    Some(state_dir.to_path_buf())
}
