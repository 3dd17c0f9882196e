//! The log: a file that rolls by day, never the terminal.

use std::path::{Path, PathBuf};

use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Days that are kept.
const KEPT: usize = 5;
/// Lines that may wait to be written; room for all of them is made at every start, so it costs each command time.
const WAITING: usize = 1024;

/// Starts logging; the guard writes the last lines when it is dropped. Without a writable directory nothing is logged.
#[must_use]
pub fn start(state_dir: &Path, level: &str, verbose: u8) -> Option<(WorkerGuard, PathBuf)> {
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
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(WAITING)
        .finish(file);
    // The client library logs whole bodies at debug; they may hold what people keep in sandboxes.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("sandtop", level.parse::<LevelFilter>().ok()?);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
    subscriber.try_init().ok()?;
    Some((guard, state_dir.to_path_buf()))
}
