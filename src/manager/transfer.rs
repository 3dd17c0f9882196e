//! File work and copies between the host and a sandbox, with progress.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::host_tree;
use super::meter::Meter;
use crate::domain::{RequestId, SandboxPath, SandboxRef};
use crate::engine::Note;
use crate::protocol::{Failure, FailureKind, FileOp, Reply};

/// How often a copy tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Does small work on files.
pub(super) async fn file(
    context: Context,
    sandbox: SandboxRef,
    op: FileOp,
) -> Result<Reply, Failure> {
    if is_use(&op) {
        context.touch(&sandbox).await;
    }
    let mut entries = context.engine(&sandbox)?.file(&sandbox.id, &op).await?;
    match op {
        FileOp::List(_) => Ok(Reply::Entries(entries)),
        FileOp::Stat(path) => entries
            .pop()
            .map(Reply::Entry)
            .ok_or_else(|| Failure::new(FailureKind::NotFound, format!("{path} was not found"))),
        FileOp::MakeDir(_) | FileOp::Rename { .. } | FileOp::Delete { .. } => Ok(Reply::Done),
    }
}

/// Tells whether an operation changes something; to list files is no use of a sandbox.
fn is_use(op: &FileOp) -> bool {
    match op {
        FileOp::List(_) | FileOp::Stat(_) => false,
        FileOp::MakeDir(_) | FileOp::Rename { .. } | FileOp::Delete { .. } => true,
    }
}

/// Copies a host file or folder into a sandbox.
pub(super) async fn copy_in(
    context: Context,
    request: RequestId,
    sandbox: SandboxRef,
    from: PathBuf,
    to: SandboxPath,
    max_bytes: Option<u64>,
) -> Result<Reply, Failure> {
    context.touch(&sandbox).await;
    let engine = context.engine(&sandbox)?;
    let meter = Meter::up_to(max_bytes.or(context.options.copy_limit));
    let tree = meter.measure(host_tree::read(from.clone()));
    let sending = engine.unpack(&sandbox.id, &to, tree);
    let note = format!("copying {}", path_text(&from));
    with_progress(&context, request, &note, &meter, async {
        sending.await.map_err(Failure::from)
    })
    .await?;
    Ok(Reply::Copied(meter.totals()))
}

/// Copies a file or folder of a sandbox to the host.
pub(super) async fn copy_out(
    context: Context,
    request: RequestId,
    sandbox: SandboxRef,
    from: SandboxPath,
    to: PathBuf,
    max_bytes: Option<u64>,
) -> Result<Reply, Failure> {
    let engine = context.engine(&sandbox)?;
    let meter = Meter::up_to(max_bytes.or(context.options.copy_limit));
    let note = format!("copying {from}");
    let work = async {
        let tree = meter.measure(engine.pack(&sandbox.id, &from).await?);
        host_tree::write(to, tree).await
    };
    with_progress(&context, request, &note, &meter, work).await?;
    Ok(Reply::Copied(meter.totals()))
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a copy, telling how far it is; ends it when it is cancelled or the manager ends.
async fn with_progress(
    context: &Context,
    request: RequestId,
    note: &str,
    meter: &Meter,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let mut ticks = tokio::time::interval(TELL_EVERY);
    let cancellable = context.cancellations.register(request);
    let called_off = || Failure::new(FailureKind::Interrupted, format!("{note} was cancelled"));
    tokio::pin!(work);
    loop {
        tokio::select! {
            outcome = &mut work => return outcome,
            _ = ticks.tick() => context.progress(request, Note { text: note.to_owned(), done: meter.totals().bytes, total: meter.total() }),
            () = cancellable.cancelled() => return Err(called_off()),
            () = context.closing() => return Err(called_off()),
        }
    }
}
