//! File work and copies between the host and a sandbox, with progress.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::stream::StreamExt;

use super::context::Context;
use super::host_tree;
use crate::domain::{FileKind, RequestId, SandboxPath, SandboxRef, TreeItem};
use crate::engine::{Note, TreeStream};
use crate::protocol::{Copied, Failure, FailureKind, FileOp, Reply};

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
) -> Result<Reply, Failure> {
    context.touch(&sandbox).await;
    let engine = context.engine(&sandbox)?;
    let meter = Meter::default();
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
) -> Result<Reply, Failure> {
    let engine = context.engine(&sandbox)?;
    let meter = Meter::default();
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

/// Runs a copy, telling how far it is; ends it when it is called off or the manager ends.
async fn with_progress(
    context: &Context,
    request: RequestId,
    note: &str,
    meter: &Meter,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let mut ticks = tokio::time::interval(TELL_EVERY);
    let cancellable = context.cancellations.register(request);
    let called_off = || Failure::new(FailureKind::Interrupted, format!("{note} was called off"));
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

/// Counts what passes.
#[derive(Debug, Clone, Default)]
struct Meter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    entries: AtomicU64,
    bytes: AtomicU64,
    skipped: AtomicU64,
    /// The bytes of a single file; zero where they are not known.
    total: AtomicU64,
}

impl Meter {
    fn measure(&self, tree: TreeStream) -> TreeStream {
        let counts = self.0.clone();
        tree.inspect(move |item| match item {
            Ok(TreeItem::Entry(entry)) if entry.kind == FileKind::Special => {
                add(&counts.skipped, 1);
            }
            Ok(TreeItem::Entry(entry)) => {
                add(&counts.entries, 1);
                if entry.name.is_empty() && entry.kind == FileKind::File {
                    counts.total.store(entry.size, Ordering::Relaxed);
                }
            }
            Ok(TreeItem::Data(bytes)) => add(&counts.bytes, bytes.len() as u64),
            Err(_) => {}
        })
        .boxed()
    }

    fn total(&self) -> Option<u64> {
        let total = self.0.total.load(Ordering::Relaxed);
        (total > 0).then_some(total)
    }

    fn totals(&self) -> Copied {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Copied {
            entries: read(&self.0.entries),
            bytes: read(&self.0.bytes),
            skipped: read(&self.0.skipped),
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}
