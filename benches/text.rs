//! How fast foreign bytes become safe text: `cargo bench --bench text`.

#![allow(clippy::print_stdout)] // A bench is there to print.

use std::time::Instant;

use sandtop::text::{SafeStream, Table};

/// Bytes of a piece, as the manager sends them.
const PIECE: usize = 64 * 1024;
/// Bytes of each text.
const SIZE: usize = 16 << 20;

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("text: not measured; run `cargo bench --bench text`");
        return;
    }
    let rounds = if std::env::args().any(|word| word == "--quick") {
        2
    } else {
        9
    };
    let mut table = Table::new(&["TEXT", "BEST MB/S", "MEDIAN MB/S"])
        .align_right(1)
        .align_right(2);
    for (name, bytes) in texts() {
        let mut speeds: Vec<f64> = (0..rounds).map(|_| speed(&bytes)).collect();
        speeds.sort_by(|a, b| b.total_cmp(a));
        let shown = |at: usize| {
            speeds
                .get(at)
                .map(|speed| format!("{speed:.0}"))
                .unwrap_or_default()
        };
        table.row(vec![name.to_owned(), shown(0), shown(rounds / 2)]);
    }
    println!("{table}");
}

fn texts() -> [(&'static str, Vec<u8>); 5] {
    [
        (
            "plain: lines of ASCII",
            repeated(b"   Compiling serde v1.0.228 (/workspace/vendor/serde)\n"),
        ),
        (
            "words beyond ASCII",
            repeated("Die Größe übertrifft — 速度 — всё остальное.\n".as_bytes()),
        ),
        (
            "coloured: a build's output",
            repeated(b"\x1b[1m\x1b[32m   Compiling\x1b[0m serde v1.0.228\r\n"),
        ),
        (
            "hostile: escapes and broken bytes",
            repeated(b"\x1b]52;c;AAAA\x07\xff\xc3(\x9b31m\x1bP\xe2\x80\xae\x1b\\\0\x07"),
        ),
        ("hostile: random bytes", random()),
    ]
}

fn repeated(line: &[u8]) -> Vec<u8> {
    line.iter().copied().cycle().take(SIZE).collect()
}

fn random() -> Vec<u8> {
    let mut seed = 1_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.to_le_bytes()
    };
    (0..SIZE / 8).flat_map(|_| next()).collect()
}

/// Makes all of it safe, piece by piece, and returns millions of bytes a second.
#[allow(clippy::cast_precision_loss)] // Sizes are far below what a float holds exactly.
fn speed(bytes: &[u8]) -> f64 {
    let (mut stream, mut out) = (SafeStream::new(), String::new());
    let started = Instant::now();
    for piece in bytes.chunks(PIECE) {
        stream.push(piece, &mut out);
        out.clear();
    }
    stream.finish(&mut out);
    bytes.len() as f64 / 1e6 / started.elapsed().as_secs_f64()
}
