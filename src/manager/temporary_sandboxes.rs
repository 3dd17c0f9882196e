//! Sandboxes that were made for one program each: which of them are still there.

use std::sync::{Mutex, PoisonError};

use crate::domain::SandboxRef;

/// Sandboxes that were made for one program each.
#[derive(Debug, Default)]
pub(super) struct TemporarySandboxes(Mutex<Vec<SandboxRef>>);

impl TemporarySandboxes {
    /// Remembers one that was made.
    pub(super) fn add(&self, sandbox: SandboxRef) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sandbox);
    }

    /// Forgets one that is gone.
    pub(super) fn forget(&self, sandbox: &SandboxRef) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known != sandbox);
    }

    /// Takes them all.
    pub(super) fn take(&self) -> Vec<SandboxRef> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
