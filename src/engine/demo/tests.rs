//! What the contract suite does not see: examples, canned programs, and words of refusal.

use futures_util::StreamExt;
use tokio::time::{Duration, Instant, timeout};

use super::*;
use crate::domain::StreamKind;
use crate::engine::ExecItem;
use crate::protocol::FailureKind;

/// Both streams of an exec and its end.
type Outcome = (String, String, Ended);

struct Bench {
    engine: DemoEngine,
    id: SandboxId,
}

impl Bench {
    async fn new() -> Self {
        let engine = DemoEngine::with_samples(HostName::new("here"));
        let all = engine.list().await.expect("a list");
        let python = all.into_iter().find(|s| s.name == "demo-python");
        let id = python.expect("an example").reference.id;
        Self { engine, id }
    }

    async fn start(&self, spec: &ExecSpec) -> RunningExec {
        self.engine.exec(&self.id, spec).await.expect("an exec")
    }

    async fn run(&self, argv: &[&str]) -> Outcome {
        finish(self.start(&command(argv)).await).await
    }
}

fn command(argv: &[&str]) -> ExecSpec {
    let argv = argv.iter().map(ToString::to_string).collect();
    ExecSpec::new(ExecId::new("e1"), argv)
}

async fn finish(mut exec: RunningExec) -> Outcome {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        match exec.items.next().await.expect("an end") {
            ExecItem::Chunk(chunk) if chunk.stream == StreamKind::Stdout => out.extend(chunk.bytes),
            ExecItem::Chunk(chunk) => err.extend(chunk.bytes),
            ExecItem::End(end) => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return (text(out), text(err), end.ended);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn canned_programs_print_what_follows_from_their_words() {
    let bench = Bench::new().await;
    let begun = Instant::now();
    let table: [(&[&str], &str, i32); 10] = [
        (&["echo", "a", "b c"], "a b c\n", 0),
        (&["/usr/bin/true"], "", 0),
        (&["false"], "", 1),
        (&["pwd"], "/workspace\n", 0),
        (&["cat", "main.py"], "print('hello from the demo')\n", 0),
        (&["python3", "main.py"], "hello from the demo\n", 0),
        (
            &["python3", "-c", "print(42)\nprint()\nprint(6*7)"],
            "42\n\n",
            1,
        ),
        (&["node", "-e", "console.log(\"x\");"], "x\n", 0),
        (
            &["sh", "-c", "sleep 3; echo late; exit 7; echo no"],
            "late\n",
            7,
        ),
        (
            &[
                "python3",
                "-c",
                "import platform\n\nprint(\"hello from\", platform.node())",
            ],
            "hello from the demo\n",
            0,
        ),
    ];
    for (argv, out, status) in table {
        let (printed, _, ended) = bench.run(argv).await;
        assert_eq!(
            (printed.as_str(), ended),
            (out, Ended::Code(status)),
            "{argv:?}"
        );
    }
    assert_eq!(begun.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_unknown_is_told_as_a_demonstration() {
    let bench = Bench::new().await;
    let (_, err, ended) = bench.run(&["nonsense", "x"]).await;
    assert_eq!(ended, Ended::Code(127));
    assert!(
        err.starts_with("nonsense: not found; this is a demonstration"),
        "{err}"
    );
    let (_, err, ended) = bench.run(&["python3", "-c", "import os"]).await;
    assert_eq!(ended, Ended::Code(1));
    assert!(err.contains("only simulates"), "{err}");
    // A script with parentheses needs a real shell, and so does whoever wants to type.
    for argv in [&["sh", "main.py"][..], &["bash"]] {
        let refused = bench.engine.exec(&bench.id, &command(argv)).await;
        assert_eq!(kind(refused), Some(FailureKind::Unsupported));
    }
    let refused = bench.engine.exec(&bench.id, &command(&[])).await;
    assert_eq!(kind(refused), Some(FailureKind::Invalid));
}

#[tokio::test(start_paused = true)]
async fn a_paused_sandbox_pauses_its_execs_and_a_dropped_exec_is_gone() {
    let bench = Bench::new().await;
    let mut exec = bench.start(&command(&["yes"])).await;
    assert!(exec.items.next().await.is_some());
    bench
        .engine
        .act(&bench.id, LifecycleOp::Pause)
        .await
        .expect("a pause");
    let waited = timeout(Duration::from_mins(1), exec.items.next()).await;
    assert!(waited.is_err());
    let processes = bench.engine.processes(&bench.id).await;
    assert_eq!(processes.expect("processes").len(), 2);
    drop(exec);
    let processes = bench.engine.processes(&bench.id).await;
    assert_eq!(processes.expect("processes").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn stats_move_within_the_limits_and_end_with_a_restart() {
    let bench = Bench::new().await;
    let sandbox = bench
        .engine
        .inspect(&bench.id)
        .await
        .expect("details")
        .sandbox;
    let mut samples = bench.engine.samples(&sandbox).await.expect("a stream");
    let mut seen = Vec::new();
    for _ in 0..40 {
        let sample = samples.next().await.expect("a sample").expect("stats");
        assert!(sample.memory_bytes <= sandbox.limits.memory_bytes.expect("a limit"));
        assert!((0.0..=100.0).contains(&sample.cpu_percent));
        seen.push(sample.memory_bytes);
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 10, "{seen:?}");
    bench
        .engine
        .act(&bench.id, LifecycleOp::Restart)
        .await
        .expect("a restart");
    assert!(samples.next().await.is_none());
}

fn kind<T>(result: Result<T>) -> Option<FailureKind> {
    result.err().map(|error| error.kind)
}
