//! Commands whose guest does not keep their time limit, because what it watches over has stopped or killed it.
//!
//! Nobody inside can signal the keeper. It comes late, so that a client that follows the command has ended it by then and can say
//! how.

use std::time::{Duration, Instant};

use super::Keeper;
use crate::abi::SIGKILL;
use crate::wire::{Call, RunRequest};
use crate::{processes, sys};

/// How much longer than its time a command may take; more than a guest and a client need.
const LATE: Duration = Duration::from_secs(6);
/// When what was killed and is still there is killed again.
const AGAIN: Duration = Duration::from_millis(500);
/// A process that a signal has ended says so in these bits of its status.
const BY_SIGNAL: i32 = 0x7f;

/// A command that runs.
pub(super) struct WatchedExec {
    guest: i32,
    id: String,
    end: Option<Instant>,
}

impl WatchedExec {
    /// Reads what a guest is to run and for how long; other verbs end by themselves.
    pub(super) fn of(run: &RunRequest) -> Option<Self> {
        let words = run.argv.iter().skip(1);
        let words: Vec<String> = words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let Ok(Call::Exec(exec)) = Call::parse(&words) else {
            return None;
        };
        Some(Self {
            guest: 0,
            id: exec.id,
            end: exec.timeout.map(|limit| Instant::now() + limit + LATE),
        })
    }

    /// Says which guest runs it.
    pub(super) fn by(mut self, guest: i32) -> Self {
        self.guest = guest;
        self
    }

    /// Ends all that was started for it.
    fn kill(&self) {
        let guest = self.guest.unsigned_abs();
        processes::freeze_and_kill(|| processes::below_of_exec(guest, &self.id));
    }
}

impl Keeper {
    /// Notes that a guest has ended, and returns its command if it was killed: it has left what it watched over.
    pub(super) fn take_abandoned(&mut self, guest: i32, status: i32) -> Option<WatchedExec> {
        let mut ended = self.execs.extract_if(.., |exec| exec.guest == guest);
        ended.next().filter(|_| status & BY_SIGNAL != 0)
    }

    /// Ends what killed guests have left; with the sandbox itself, the kernel ends it all.
    pub(super) fn end_abandoned(&self, abandoned: &[WatchedExec]) {
        if self.init != 0 {
            abandoned.iter().for_each(WatchedExec::kill);
        }
    }

    /// Gives a command whose client has gone a moment to end.
    pub(super) fn hurry(&mut self, guest: i32) {
        let soon = Instant::now() + LATE;
        let mut execs = self.execs.iter_mut();
        if let Some(exec) = execs.find(|exec| exec.guest == guest) {
            exec.end = Some(exec.end.map_or(soon, |end| end.min(soon)));
        }
    }

    /// Gives guests that were frozen time to do it themselves.
    pub(super) fn postpone_ends(&mut self) {
        let soon = Instant::now() + LATE;
        for exec in &mut self.execs {
            exec.end = exec.end.map(|end| end.max(soon));
        }
    }

    /// Ends commands whose time has long passed. What is frozen would not hear of it.
    pub(super) fn end_overdue(&mut self) {
        let now = Instant::now();
        let is_overdue = |exec: &&mut WatchedExec| exec.end.is_some_and(|end| end <= now);
        let paused = self.paused;
        let overdue = self.execs.iter_mut().filter(|_| !paused);
        for exec in overdue.filter(is_overdue) {
            exec.kill();
            sys::kill(exec.guest.unsigned_abs(), SIGKILL);
            exec.end = Some(now + AGAIN);
        }
    }

    /// Shortens a wait in milliseconds, of which -1 is without end, to the next time that something could be overdue.
    pub(super) fn until_overdue(&self, millis: i32) -> i32 {
        let ends = self.execs.iter().filter_map(|exec| exec.end);
        let Some(next) = ends.min().filter(|_| !self.paused) else {
            return millis;
        };
        let left = next.saturating_duration_since(Instant::now());
        // A fraction more, so that it is really over then.
        let left = i32::try_from(left.as_millis()).map_or(i32::MAX, |left| left.saturating_add(1));
        if millis < 0 { left } else { millis.min(left) }
    }
}
