//! Which execs are being followed, and which of them were cancelled: their last words may not get through to say so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::ExecId;

/// The execs that this engine follows.
#[derive(Debug, Clone, Default)]
pub(super) struct Followed(Arc<Mutex<HashMap<ExecId, bool>>>);

impl Followed {
    fn lock(&self) -> MutexGuard<'_, HashMap<ExecId, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters an exec, until what this returns is dropped.
    pub(super) fn enter(&self, exec: &ExecId) -> Ticket {
        self.lock().insert(exec.clone(), false);
        Ticket {
            followed: self.clone(),
            exec: exec.clone(),
        }
    }

    /// Notes that somebody has called an exec off.
    pub(super) fn cancel(&self, exec: &ExecId) {
        if let Some(cancelled) = self.lock().get_mut(exec) {
            *cancelled = true;
        }
    }
}

/// One exec that is being followed.
pub(super) struct Ticket {
    followed: Followed,
    exec: ExecId,
}

impl Ticket {
    /// Tells whether somebody has called it off.
    pub(super) fn is_cancelled(&self) -> bool {
        self.followed.lock().get(&self.exec) == Some(&true)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.followed.lock().remove(&self.exec);
    }
}
