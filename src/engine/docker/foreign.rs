//! Containers of other tools: used by hand, with the guest copied in when it is first needed.
//!
//! Nothing is put into them by looking; the first command, shell or file brings the guest. What they lack stays so: no init
//! that reaps, no place in memory for sessions unless their user may make it, none of our limits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Client, create};
use crate::domain::SandboxId;
use crate::engine::{EngineError, Result};

/// Those that were seen and have no guest yet, as far as this process knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreign(Arc<Mutex<HashSet<SandboxId>>>);

impl Foreign {
    /// Notes one that was seen.
    pub(super) fn note(&self, id: &SandboxId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(id.clone());
    }

    fn lacks_guest(&self, id: &SandboxId) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(id)
    }

    fn has_guest(&self, id: &SandboxId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(id);
    }
}

/// Brings the guest into a foreign container that may lack it.
pub(super) async fn prepare(client: &Client, id: &SandboxId) -> Result<()> {
    if !client.foreign.lacks_guest(id) {
        return Ok(());
    }
    let brought = create::bring_guest(client, id).await;
    brought.map_err(|error| {
        let words = format!(
            "bringing sandtop's helper into this foreign sandbox failed: {}",
            error.message
        );
        EngineError::new(error.kind, words)
            .with_hint("its root may be read-only; use the tool that made it, or `docker exec`")
    })?;
    client.foreign.has_guest(id);
    Ok(())
}
