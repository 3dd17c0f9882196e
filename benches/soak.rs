//! Hundreds of processes killed at random moments, on real engines: store, runs and sandboxes add up afterwards.
//!
//! `cargo bench --bench soak`, or with `-- --on GROUND` only there (docker, slow, local, ordinary, full), with `--kills 50` another
//! count than 220 on each, and with `--seed N` the same moments again. It needs root and `DOCKER_HOST`, as the tests do, and
//! removes what it makes.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)] // A bench is there to print, and one that cannot go on says so by panicking.

#[path = "../tests/cli/ground.rs"]
mod ground;
#[path = "../tests/cli/slow_engine.rs"]
mod slow_engine;
#[path = "../tests/cli/soak.rs"]
mod soak;
#[path = "../tests/cli/support.rs"]
mod support;

use std::time::Instant;

use ground::Ground;

const GROUNDS: [&str; 5] = ["docker", "slow", "local", "ordinary", "full"];

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        return println!("soak: not run; run `cargo bench --bench soak`");
    }
    let kills = option("--kills").unwrap_or(220);
    let seed = option("--seed").unwrap_or_else(|| u64::from(std::process::id()) << 20);
    println!("{kills} kills on each; the moments follow from --seed {seed}");
    let wanted = word_behind("--on");
    for name in GROUNDS {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            report(name, kills, seed);
        }
    }
}

fn report(name: &str, kills: u64, seed: u64) {
    let ground = match name {
        "docker" => Ground::docker(),
        "slow" => Ground::slow(seed),
        "local" => Ground::local(),
        "ordinary" => Ground::ordinary(),
        _ => Ground::full(),
    };
    let begun = Instant::now();
    let told = soak::soak(&ground, kills, seed);
    println!("\n{name}");
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
    println!("reaped, no sandbox is forgotten, nothing is left over, and the store is sound.");
}

fn option(name: &str) -> Option<u64> {
    word_behind(name)?.parse().ok()
}

fn word_behind(name: &str) -> Option<String> {
    std::env::args().skip_while(|word| word != name).nth(1)
}
