//! Workers: sandboxes that only work for others, such as the one in which packages are installed.

use super::{OwnerKind, Sandbox};

/// The label that every worker carries; its value is the work.
pub const WORKER_LABEL: &str = "sandtop.worker";

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerKind {
    /// Packages are installed in it.
    Install,
    /// Packages are copied through it.
    Copy,
}

impl WorkerKind {
    /// Returns the value of the label.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Copy => "copy",
        }
    }

    /// Returns what the names of such workers start with.
    #[must_use]
    pub fn name_prefix(self) -> &'static str {
        match self {
            Self::Install => "packages-",
            Self::Copy => "porter-",
        }
    }
}

impl Sandbox {
    /// Tells whether this is a worker; its end is nothing to speak of. Those of earlier versions have no label but a name.
    #[must_use]
    pub fn is_worker(&self) -> bool {
        let is_run = |kind| kind == OwnerKind::Run;
        let is_old = || {
            let kinds = [WorkerKind::Install, WorkerKind::Copy];
            let mut prefixes = kinds.into_iter().map(WorkerKind::name_prefix);
            self.owner.as_ref().is_some_and(|owner| is_run(owner.kind))
                && prefixes.any(|prefix| self.name.starts_with(prefix))
        };
        self.labels.contains_key(WORKER_LABEL) || is_old()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::sandbox;

    #[test]
    fn workers_are_told_by_their_label_and_old_ones_by_name_and_owner() {
        let mut labelled = sandbox("alpha");
        assert!(!labelled.is_worker());
        labelled.labels.insert(WORKER_LABEL.into(), "copy".into());
        assert!(labelled.is_worker());
        let mut named = sandbox("packages-of-mine");
        assert!(!named.is_worker(), "made by a person");
        if let Some(owner) = &mut named.owner {
            owner.kind = OwnerKind::Run;
        }
        assert!(named.is_worker());
    }
}
