//! Limits, tried by going beyond them. What goes beyond a limit has a moment to be stopped, since not every limit acts at once.

use std::fs::{self, File};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use super::{Attempt, MOST_SECONDS, Progress};
use crate::abi::SIGKILL;
use crate::wire::TriedLimits;
use crate::wire::attempts::Wall;
use crate::{kernel, sys};

/// How much is taken at once.
const PIECE: usize = 8 << 20;
/// How long something beyond its limit has to stay there.
const STAYING: Duration = Duration::from_millis(1500);
/// How long processors are kept busy: many of the periods in which the kernel counts.
const BUSY: Duration = Duration::from_millis(600);
/// What fills `/tmp`.
const FILLING: &str = "/tmp/.sandtop-attempt-full";

pub(super) fn attempts(limits: TriedLimits) -> Vec<Attempt<'static>> {
    let memory = limits.memory_bytes.map(|limit| {
        Attempt::new(Wall::Memory, "more memory", move |seen| {
            takes_memory(limit, seen)
        })
    });
    let pids = limits.pids.map(|limit| {
        Attempt::new(Wall::Processes, "more processes", move |seen| {
            makes_processes(limit, seen)
        })
    });
    // Where there are not more processors than allowed, nobody can go beyond the limit.
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    let cpus = limits.milli_cpus.filter(|limit| *limit < cores * 1000);
    let cpus = cpus.map(|limit| {
        Attempt::new(Wall::Processors, "more processor time", move |seen| {
            keeps_busy(limit, cores, seen)
        })
    });
    let tmp = limits.tmp_bytes.map(|limit| {
        Attempt::new(Wall::Scratch, "more in /tmp", move |seen| {
            fills_tmp(limit, seen)
        })
    });
    [cpus, tmp, pids, memory].into_iter().flatten().collect()
}

/// Fills memory to an eighth and a bit more than the limit.
fn takes_memory(limit: u64, seen: &mut Progress) -> bool {
    let goal = limit + limit / 8 + (16 << 20);
    let (mut taken, mut pieces) = (0, Vec::new());
    while taken < goal {
        let mut piece: Vec<u8> = Vec::new();
        if piece.try_reserve_exact(PIECE).is_err() {
            return false;
        }
        piece.resize(PIECE, 1);
        pieces.push(piece);
        taken += PIECE as u64;
        seen.reached(taken);
    }
    thread::sleep(STAYING);
    // The compiler must not find out that nobody reads it.
    std::hint::black_box(&pieces).len() as u64 * PIECE as u64 >= goal
}

/// Makes one process more than the limit, and ends them.
fn makes_processes(limit: u64, seen: &mut Progress) -> bool {
    let mut made = Vec::new();
    let all_made = (0..=limit).all(|_| match kernel::fork_child() {
        Ok(Some(pid)) => {
            made.push(pid);
            true
        }
        Ok(None) => {
            kernel::end_with_parent();
            kernel::end_after(MOST_SECONDS);
            thread::sleep(Duration::from_secs(u64::from(MOST_SECONDS)));
            kernel::exit_now(0)
        }
        Err(_) => false,
    });
    seen.reached(made.len() as u64);
    for pid in &made {
        sys::kill(pid.unsigned_abs(), SIGKILL);
    }
    for pid in made {
        let _ = sys::wait_for(pid);
    }
    all_made
}

/// Computes on all processors; `true` when that took half as much again as allowed.
fn keeps_busy(limit: u64, cores: u64, seen: &mut Progress) -> bool {
    let start = Instant::now();
    let busy = (0..cores).filter_map(|_| match kernel::fork_child() {
        Ok(None) => {
            while start.elapsed() < BUSY {}
            kernel::exit_now(0)
        }
        forked => forked.ok().flatten(),
    });
    let busy: Vec<i32> = busy.collect();
    let used = busy.into_iter().filter_map(|pid| sys::wait_for(pid).ok());
    let used: u64 = used.map(|child| child.cpu_micros).sum();
    let passed = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let milli_cpus = used * 1000 / passed.max(1);
    seen.reached(milli_cpus);
    milli_cpus > limit * 3 / 2
}

/// Writes a piece more than fits.
fn fills_tmp(limit: u64, seen: &mut Progress) -> bool {
    let piece = vec![1; 1 << 20];
    let mut written = 0;
    if let Ok(mut file) = File::create(FILLING) {
        while written <= limit && file.write_all(&piece).is_ok() {
            written += piece.len() as u64;
            seen.reached(written);
        }
    }
    let _ = fs::remove_file(FILLING);
    written > limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::attempts::Outcome;

    /// What no limit forbids works here, so that what fails inside fails by the limit.
    #[test]
    fn limits_that_are_not_there_are_overrun() {
        let limits = TriedLimits {
            memory_bytes: Some(1 << 20),
            pids: Some(3),
            milli_cpus: Some(10),
            tmp_bytes: Some(1 << 20),
        };
        for attempt in attempts(limits) {
            let line = attempt.run();
            assert_eq!(line.outcome, Outcome::Open, "{line:?}");
            assert!(line.reached > Some(3), "{line:?}");
        }
    }
}
