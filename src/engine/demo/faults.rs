//! Faults on request, so that tests can see how the rest of the program takes them.

use std::sync::Arc;
use std::time::Duration;

use super::life;
use super::world::World;
use crate::domain::{Death, SandboxId};
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// What goes wrong, and how slowly things go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Does nothing answer? Open streams then end: execs as `Lost`, the others with an error.
    pub unreachable: bool,
    /// How long every call takes.
    pub call_delay: Duration,
    /// How long a create takes on top.
    pub create_delay: Duration,
    /// The step at which creates fail.
    pub fail_create_at: Option<CreateStep>,
}

/// The steps of a create.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CreateStep {
    /// Getting the image.
    Pull,
    /// Making the sandbox.
    Create,
    /// Starting it.
    Start,
}

impl CreateStep {
    /// Returns the words for messages.
    fn words(self) -> &'static str {
        match self {
            Self::Pull => "getting the image",
            Self::Create => "making it",
            Self::Start => "starting it",
        }
    }
}

impl Faults {
    /// Fails when nothing should answer.
    pub(super) fn reach(&self) -> Result<()> {
        if self.unreachable {
            return Err(unreachable());
        }
        Ok(())
    }

    /// Fails when this step of a create should.
    pub(super) fn pass(&self, step: CreateStep) -> Result<()> {
        self.reach()?;
        if self.fail_create_at == Some(step) {
            let message = format!("the demo engine was told to fail at {}", step.words());
            return Err(EngineError::internal(message));
        }
        Ok(())
    }
}

/// Steers a demo engine from outside while something else owns it.
#[derive(Clone)]
pub struct DemoRemote {
    world: Arc<World>,
}

impl DemoRemote {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world }
    }

    /// Changes the faults from now on.
    pub fn faults(&self, change: impl FnOnce(&mut Faults)) {
        self.world.set_faults(change);
    }

    /// Lets a sandbox die by itself, as when its first process ends.
    ///
    /// # Errors
    /// There is no such sandbox.
    pub fn crash(&self, id: &SandboxId, death: Death) -> Result<()> {
        self.world.with(id, |sandbox, journal| {
            life::die(sandbox, journal, death);
            Ok(())
        })
    }
}

/// Describes an engine that does not answer.
pub(super) fn unreachable() -> EngineError {
    EngineError::new(
        FailureKind::Unreachable,
        "the demo engine does not answer, as it was told",
    )
    .with_hint("switch the fault off again")
}
