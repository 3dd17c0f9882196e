//! What can end an exec from outside: a cancel, a time limit, the end of its sandbox or of the engine.

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::world::Life;
use crate::domain::{Ended, Phase};

/// Everything to look out for while an exec runs.
pub(super) struct Fate {
    pub(super) life: watch::Receiver<Life>,
    pub(super) starts: u64,
    pub(super) reach: watch::Receiver<bool>,
    pub(super) cancel: watch::Receiver<bool>,
    pub(super) deadline: Option<Instant>,
}

impl Fate {
    /// Tells whether its processes get no CPU now.
    pub(super) fn is_frozen(&self) -> bool {
        self.life.borrow().phase == Phase::Paused
    }

    /// Waits until something changes; `None` if it does not end the exec.
    pub(super) async fn turn(&mut self) -> Option<Ended> {
        if let Some(ended) = self.judge() {
            return Some(ended);
        }
        let deadline = self.deadline;
        tokio::select! {
            biased;
            _ = self.cancel.changed() => {}
            _ = self.life.changed() => {}
            _ = self.reach.changed() => {}
            () = until(deadline) => return Some(Ended::TimedOut),
        }
        self.judge()
    }

    fn judge(&self) -> Option<Ended> {
        if *self.cancel.borrow() {
            return Some(Ended::Cancelled);
        }
        let life = *self.life.borrow();
        let is_gone = life.starts != self.starts || !life.phase.is_live();
        if is_gone || !*self.reach.borrow() {
            return Some(Ended::Lost);
        }
        None
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
