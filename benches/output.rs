//! Measures how fast output is taken in, from bytes to stored lines: `cargo bench --bench output`.
//!
//! A word chooses some of the cases, and a number the MB of each: `-- coloured 300`.

// A benchmark exists to print.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use sandtop::app::panes::output::{OutputState, RunInfo};
use sandtop::domain::{HostName, OutputChunk, SandboxId, SandboxRef, StreamId, StreamKind};

/// The most that the manager sends at once.
const CHUNK: usize = 32 * 1024;
const MB: usize = 1_000_000;
const STREAM: StreamId = StreamId(1);

const PLAIN: &[u8] =
    b"2026-03-01T12:00:00.123Z INFO  app::server: request served path=/api/v1/items status=200 took=12ms\n";
const COLOURED: &[u8] =
    b"\x1b[2m2026-03-01T12:00:00Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mapp::server\x1b[0m: served \
    \x1b[3mpath\x1b[0m=\x1b[38;5;39m/api/v1/items\x1b[0m \x1b[3mstatus\x1b[0m=\x1b[33m200\x1b[0m\n";
const HOSTILE: &[u8] =
    b"\x1b]52;c;cGF5\x07\x1b[2J\x1b[?1049h\xff\xfe\xe2\x80\xae\x1bP1$r\x1b\\\x1b[38:2::1:2:3mx\rab\
    \x08\x08\t\xe6\xbc\xa2\x1b[K\x1b[9999;9999H\xc2\x9b31m\x1b]0;no end\n";
const PROGRESS: &[u8] = b"\r\x1b[K 42% [==========>             ] 12.3 MB/s eta 0:00:12";
const WIDE: &[u8] = "日本語のログ行です。処理が完了しました — größer, naïve, ok ✓\n".as_bytes();

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let size = words.iter().find_map(|word| word.parse().ok());
    let total = size.unwrap_or(100) * MB;
    let cases = [
        ("plain", PLAIN),
        ("coloured", COLOURED),
        ("wide", WIDE),
        ("hostile", HOSTILE),
        ("progress", PROGRESS),
        ("one line", b"x".as_slice()),
    ];
    for (name, pattern) in cases {
        let is_chosen = words.iter().any(|word| word == name);
        if is_chosen
            || words
                .iter()
                .all(|word| word.starts_with('-') || word.parse::<usize>().is_ok())
        {
            measure(name, &repeat(pattern, total));
        }
    }
}

fn repeat(pattern: &[u8], total: usize) -> Vec<u8> {
    pattern.repeat(total / pattern.len())
}

fn measure(name: &str, bytes: &[u8]) {
    let chunks: Vec<OutputChunk> = bytes.chunks(CHUNK).map(chunk).collect();
    let mut state = state();
    let start = Instant::now();
    for chunk in &chunks {
        state.push(STREAM, chunk, DateTime::<Utc>::default());
    }
    let seconds = start.elapsed().as_secs_f64();
    let mib = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX)) / 1_048_576.0;
    println!(
        "{name:>10}: {:7.1} MB/s ({:.1} MiB/s)",
        mib * 1.048_576 / seconds,
        mib / seconds
    );
}

fn chunk(bytes: &[u8]) -> OutputChunk {
    OutputChunk {
        stream: StreamKind::Stdout,
        bytes: Bytes::copy_from_slice(bytes),
    }
}

fn state() -> OutputState {
    let mut state = OutputState::new();
    state.open(RunInfo {
        stream: STREAM,
        exec: sandtop::domain::ExecId::new("x1"),
        hold: sandtop::app::panes::output::Hold::Own,
        sandbox: SandboxRef::new(HostName::new("local"), SandboxId::new("a")),
        sandbox_name: "py".to_owned(),
        title: "main.py".to_owned(),
        started: DateTime::default(),
    });
    state
}
