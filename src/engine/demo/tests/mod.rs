//! The contract, as far as a simulation can keep it.

use std::time::Duration;

use bytes::Bytes;
use chrono::TimeDelta;
use futures_util::{StreamExt, stream};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

mod execs;
mod lives;
mod shell;
mod trees;

use super::*;
use crate::domain::{
    Ended, EngineEventKind, FileKind, Limits, Phase, StdinMode, StreamKind, TreeItem,
};
use crate::engine::ExecItem;
use crate::protocol::FailureKind;

/// What an exec gave: both streams and the end.
#[derive(Debug, PartialEq)]
struct Outcome {
    out: String,
    err: String,
    ended: Ended,
}

struct Bench {
    engine: DemoEngine,
    id: SandboxId,
}

impl Bench {
    fn new() -> Self {
        let engine = DemoEngine::with_samples(HostName::new("here"));
        let inner = engine.world.lock();
        let python = inner
            .sandboxes
            .values()
            .find(|s| s.sandbox.name == "demo-python");
        let id = python.expect("an example").sandbox.reference.id.clone();
        drop(inner);
        Self { engine, id }
    }

    async fn start(&self, spec: &ExecSpec) -> RunningExec {
        self.engine.exec(&self.id, spec).await.expect("an exec")
    }

    async fn run(&self, argv: &[&str]) -> Outcome {
        finish(self.start(&command(argv)).await).await
    }

    async fn sh(&self, script: &str) -> Outcome {
        self.run(&["sh", "-c", script]).await
    }

    async fn in_session(&self, argv: &[&str], limit: Option<Duration>) -> Outcome {
        let mut spec = command(argv);
        spec.session = Some("s".into());
        spec.timeout = limit;
        finish(self.start(&spec).await).await
    }

    async fn terminal(&self) -> RunningExec {
        let mut spec = command(&["bash"]);
        spec.tty = Some(TtySize {
            columns: 80,
            rows: 24,
        });
        self.start(&spec).await
    }

    fn processes(&self) -> usize {
        let inner = self.engine.world.lock();
        inner
            .sandboxes
            .get(&self.id)
            .map_or(0, |s| s.processes.len())
    }

    async fn samples(&self) -> BoxStream<'static, Result<Sample>> {
        let details = self.engine.inspect(&self.id).await.expect("details");
        let samples = self.engine.samples(&details.sandbox).await;
        samples.expect("a stream")
    }

    async fn act(&self, action: LifecycleOp) -> Result<()> {
        self.engine.act(&self.id, action).await
    }

    async fn write(&self, name: &str, pieces: Vec<Result<Bytes>>) -> Result<()> {
        let content = stream::iter(pieces).boxed();
        self.engine
            .write(&self.id, &path(name), None, content)
            .await
    }

    async fn read(&self, name: &str) -> Result<Vec<u8>> {
        let mut pieces = self.engine.read(&self.id, &path(name), None).await?;
        let mut whole = Vec::new();
        while let Some(piece) = pieces.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole)
    }
}

fn command(argv: &[&str]) -> ExecSpec {
    let argv = argv.iter().map(ToString::to_string).collect();
    ExecSpec::new(ExecId::new("e1"), argv)
}

fn path(name: &str) -> SandboxPath {
    SandboxPath::parse(name.as_bytes()).expect("a path")
}

fn spec(name: &str, image: &str) -> SandboxSpec {
    let bench = Bench::new();
    let inner = bench.engine.world.lock();
    let simulated = inner.sandboxes.get(&bench.id).expect("an example");
    SandboxSpec {
        name: crate::domain::SandboxName::parse(name).expect("a name"),
        image: image.into(),
        token: name.into(),
        ..simulated.spec.clone()
    }
}

async fn finish(mut exec: RunningExec) -> Outcome {
    let (mut out, mut err, mut ended) = (Vec::new(), Vec::new(), None);
    while let Some(item) = exec.items.next().await {
        assert_eq!(ended, None, "the end comes last");
        match item {
            ExecItem::Chunk(chunk) if chunk.stream == StreamKind::Stdout => out.extend(chunk.bytes),
            ExecItem::Chunk(chunk) => err.extend(chunk.bytes),
            ExecItem::End(end) => ended = Some(end.ended),
        }
    }
    Outcome {
        out: String::from_utf8_lossy(&out).into_owned(),
        err: String::from_utf8_lossy(&err).into_owned(),
        ended: ended.expect("an end"),
    }
}

fn kind<T>(result: Result<T>) -> Option<FailureKind> {
    result.err().map(|error| error.kind)
}

fn said(out: &str, err: &str, code: i32) -> Outcome {
    Outcome {
        out: out.into(),
        err: err.into(),
        ended: Ended::Code(code),
    }
}
