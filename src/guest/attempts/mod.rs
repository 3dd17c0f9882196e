//! Ways to weaken or leave a sandbox, tried from inside, each in a process of its own that is thrown away. One that works
//! does no harm: whoever finds a hole must not fall into it, and root may try them by mistake outside of sandboxes.
//!
//! `guest probe` tries system calls only; `guest attempts` all of it, limits included. An attempt that a signal ends has failed.

mod calls;
mod files;
mod limits;
mod sockets;

use std::fs;
use std::io::{self, PipeWriter, Read, Write};

use crate::finish::Problem;
use crate::wire::TriedLimits;
use crate::wire::attempts::{AttemptLine, Outcome, Wall};
use crate::{kernel, sys};

pub(crate) use calls::open_calls;
pub(crate) use sockets::abstract_sockets;

/// Seconds after which an attempt has failed.
const MOST_SECONDS: u32 = 6;
/// How a process says that there is a way.
const OPEN: i32 = 0;
const HELD: i32 = 1;

/// Something to try; `true` when it worked.
struct Attempt<'a> {
    wall: Wall,
    name: String,
    works: Box<dyn Fn(&mut Progress) -> bool + 'a>,
}

impl<'a> Attempt<'a> {
    fn new(
        wall: Wall,
        name: impl Into<String>,
        works: impl Fn(&mut Progress) -> bool + 'a,
    ) -> Self {
        Self {
            wall,
            name: name.into(),
            works: Box::new(works),
        }
    }

    /// Tries it in a process of its own.
    fn run(&self) -> AttemptLine {
        let (outcome, reached) = self.outcome().unwrap_or((Outcome::NotTried, None));
        AttemptLine {
            wall: self.wall,
            name: self.name.clone(),
            outcome,
            reached,
        }
    }

    fn outcome(&self) -> io::Result<(Outcome, Option<u64>)> {
        let (mut seen, progress) = io::pipe()?;
        let Some(pid) = sys::once_there_is_room(kernel::fork_child)? else {
            kernel::end_after(MOST_SECONDS);
            // Should memory run out, this goes before the guest that waits for it.
            let _ = fs::write("/proc/self/oom_score_adj", "1000");
            let worked = (self.works)(&mut Progress(progress));
            kernel::exit_now(if worked { OPEN } else { HELD });
        };
        drop(progress);
        let mut numbers = Vec::new();
        seen.read_to_end(&mut numbers)?;
        let ended = sys::wait_for(pid)?;
        let reached = numbers.as_chunks().0.last().copied();
        let outcome = match ended.status {
            OPEN => Outcome::Open,
            _ => Outcome::Held,
        };
        Ok((outcome, reached.map(u64::from_ne_bytes)))
    }
}

/// How far an attempt has come; the last number counts, also of one that was killed.
struct Progress(PipeWriter);

impl Progress {
    fn reached(&mut self, number: u64) {
        let _ = self.0.write_all(&number.to_ne_bytes());
    }
}

/// `guest attempts`: tries everything and prints a line for each.
pub(crate) fn attempts(limits: TriedLimits) -> Result<(), Problem> {
    let mut all = calls::attempts();
    all.extend(files::attempts());
    all.extend(sockets::attempts());
    all.extend(limits::attempts(limits));
    let mut out = io::stdout().lock();
    for attempt in all {
        writeln!(out, "{}", attempt.run().encode()).map_err(|e| Problem::io("writing", &e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_end_by_their_own_word_or_a_signal() {
        let outcome = |works: fn(&mut Progress) -> bool| {
            let line = Attempt::new(Wall::Calls, "x", works).run();
            (line.outcome, line.reached)
        };
        assert_eq!(outcome(|_| true), (Outcome::Open, None));
        assert_eq!(outcome(|_| false), (Outcome::Held, None));
        let killed = |progress: &mut Progress| {
            progress.reached(1);
            progress.reached(7);
            sys::kill(std::process::id(), crate::abi::SIGKILL);
            true
        };
        assert_eq!(outcome(killed), (Outcome::Held, Some(7)));
    }
}
