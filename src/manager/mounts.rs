//! Judges the folders of the host that a new sandbox is to see: by what they really are, and not by a link's name.

use super::Host;
use crate::domain::{Mount, MountError, SandboxSpec};
use crate::protocol::{Failure, FailureKind};

/// Returns the specification with the real paths of its mounts.
pub(super) async fn resolve(host: &Host, spec: &SandboxSpec) -> Result<SandboxSpec, Failure> {
    let mut spec = spec.clone();
    for mount in &mut spec.mounts {
        // What is not there is told by the engine, which may be on another machine.
        if let Ok(real) = tokio::fs::canonicalize(&mount.source).await {
            mount.source = real;
        }
        judge(host, mount).map_err(|error| refuse(&error))?;
    }
    Ok(spec)
}

fn judge(host: &Host, mount: &Mount) -> Result<(), MountError> {
    mount.check()?;
    mount.check_against(&host.protected)
}

fn refuse(error: &MountError) -> Failure {
    let kind = match error {
        MountError::Dangerous(_) | MountError::Holds { .. } => FailureKind::Refused,
        MountError::Form(_) | MountError::Target(_) => FailureKind::Invalid,
    };
    Failure::new(kind, format!("mount: {error}"))
}
