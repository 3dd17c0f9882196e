//! Refuses sandboxes that cannot work, before anything is made.

use crate::domain::SandboxSpec;
use crate::engine::{EngineError, Result};
use crate::guest;
use crate::protocol::FailureKind;

/// The least memory that a sandbox can start with.
const LEAST_MEMORY: u64 = 6 << 20;

/// Looks at all that was asked for.
pub(super) fn check(spec: &SandboxSpec) -> Result<()> {
    let invalid = |message: String, hint: &str| {
        Err(EngineError::new(FailureKind::Invalid, message).with_hint(hint))
    };
    if !guest::is_available() {
        return Err(EngineError::new(
            FailureKind::Unsupported,
            "this build of sandtop carries no guest program for sandboxes",
        )
        .with_hint("build sandtop on Linux"));
    }
    if spec
        .limits
        .memory_bytes
        .is_some_and(|bytes| bytes < LEAST_MEMORY)
    {
        return invalid(
            "the memory limit is too low to run anything".into(),
            "6m is the least",
        );
    }
    let missing = spec.mounts.iter().find(|mount| !mount.source.exists());
    if let Some(mount) = missing {
        let source = mount.source.display();
        return invalid(
            format!("mounting {source}: it does not exist"),
            "make the folder first",
        );
    }
    Ok(())
}
