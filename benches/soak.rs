//! Hundreds of processes killed at random moments, on a real engine: store, runs and sandboxes add up afterwards.
//!
//! `cargo bench --bench soak`, or with `-- --kills 50` another count than 220, and with `--seed N` the same moments again. It
//! needs `DOCKER_HOST`, as the tests do, and removes what it makes.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)] // A bench is there to print, and one that cannot go on says so by panicking.

#[path = "../tests/cli/soak.rs"]
mod soak;
#[path = "../tests/cli/support.rs"]
mod support;

use std::time::Instant;

use support::Place;

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        return println!("soak: not run; run `cargo bench --bench soak`");
    }
    let place = Place::docker();
    let kills = option("--kills").unwrap_or(220);
    let seed = option("--seed").unwrap_or_else(|| u64::from(std::process::id()) << 20);
    println!("{kills} kills; the moments follow from --seed {seed}");
    let begun = Instant::now();
    let told = soak::soak(&place, kills, seed);
    println!(
        "took                        {:>8.1} s",
        begun.elapsed().as_secs_f64()
    );
    println!("commands                    {:>8}", told.started);
    println!("  killed before their end   {:>8}", told.in_time);
    println!("runs known to have begun    {:>8}", told.begun);
    println!("runs on record              {:>8}", told.recorded);
    println!("  lost with their sandbox   {:>8}", told.lost);
    println!("sandboxes reaped            {:>8}", told.reaped);
    println!(
        "It adds up: what had begun is on record once, nothing runs for ever, nothing in use was"
    );
    println!("reaped, no sandbox is forgotten, and the store is sound.");
}

fn option(name: &str) -> Option<u64> {
    let mut words = std::env::args().skip_while(|word| word != name);
    words.nth(1)?.parse().ok()
}
