//! A sandbox that is made only to be tried.

use std::time::Duration;

use super::context::Context;
use super::host::{LOOK_UP, within};
use super::lifecycle::{change_phase, create_sandbox};
use crate::domain::{HostName, RequestId, SandboxRef, SandboxSpec, SelfTest};
use crate::protocol::{Failure, LifecycleOp, Reply};

/// Longest wait for all attempts; each has a few seconds itself.
const ATTEMPTS: Duration = Duration::from_mins(1);

/// Makes a sandbox, tries its walls and removes it, whatever comes of that.
pub(super) async fn selftest(
    context: Context,
    request: RequestId,
    host: HostName,
    spec: Box<SandboxSpec>,
) -> Result<Reply, Failure> {
    let sandbox = create_sandbox(&context, request, &host, &spec).await?;
    // It goes with the manager at the latest, should this be interrupted.
    context.temporary.add(sandbox.reference.clone());
    context.tell(request, "trying to get out");
    let tried = attempts(&context, &sandbox.reference, *spec).await;
    change_phase(
        &context,
        &sandbox.reference,
        LifecycleOp::Remove { force: true },
    )
    .await?;
    tried.map(|found| Reply::SelfTested(Box::new(found)))
}

async fn attempts(
    context: &Context,
    sandbox: &SandboxRef,
    spec: SandboxSpec,
) -> Result<SelfTest, Failure> {
    let engine = context.engine(sandbox)?;
    let details = within(LOOK_UP, "inspecting", engine.inspect(&sandbox.id)).await?;
    let what = "trying to get out of the sandbox";
    let attempts = within(ATTEMPTS, what, engine.attempts(&sandbox.id, &spec)).await?;
    Ok(SelfTest {
        spec,
        details,
        attempts,
    })
}
