//! How execs run and end.

use super::*;

#[tokio::test(start_paused = true)]
async fn ends_are_told_apart() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["nonsense"]).await.ended, Ended::Code(127));
    assert_eq!(
        bench.run(&["/workspace/main.py"]).await.ended,
        Ended::Code(126)
    );
    assert_eq!(bench.sh("die 11; echo no").await.ended, Ended::Signal(11));
    assert_eq!(bench.sh("kill -9 $$").await.ended, Ended::Signal(9));
    assert_eq!(bench.run(&["hog"]).await.ended, Ended::OutOfMemory);
    assert_eq!(bench.run(&["hog", "1000"]).await.ended, Ended::Code(0));
    let past = bench
        .engine
        .events_since(DateTime::UNIX_EPOCH)
        .await
        .expect("a history");
    assert!(
        past.iter()
            .any(|happening| happening.what == EngineEventKind::Oom)
    );
    assert_eq!(
        kind(bench.engine.exec(&bench.id, &command(&[])).await),
        Some(FailureKind::Invalid)
    );
}

#[tokio::test(start_paused = true)]
async fn output_comes_while_the_process_runs() {
    let bench = Bench::new();
    let begun = Instant::now();
    let mut exec = bench
        .start(&command(&["sh", "-c", "echo first; sleep 5"]))
        .await;
    assert!(matches!(exec.items.next().await, Some(ExecItem::Chunk(_))));
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(matches!(exec.items.next().await, Some(ExecItem::End(_))));
    assert!(begun.elapsed() >= Duration::from_secs(5));
    assert!(exec.items.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn standard_input_is_delivered_and_its_end_ends_cat() {
    let bench = Bench::new();
    let mut spec = command(&["cat"]);
    spec.stdin = StdinMode::Piped;
    let mut exec = bench.start(&spec).await;
    let mut stdin = exec.stdin.take().expect("an input");
    let send = async {
        for _ in 0..40 {
            stdin.write_all(&[b'x'; 10_000]).await.expect("room");
        }
        stdin.shutdown().await.expect("an end");
    };
    let (outcome, ()) = tokio::join!(finish(exec), send);
    assert_eq!(
        (outcome.out.len(), outcome.ended),
        (400_000, Ended::Code(0))
    );
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_keeps_the_output_and_ends_everything() {
    let bench = Bench::new();
    let mut spec = command(&["sh", "-c", "sleep 100 & echo kept; sleep 100"]);
    spec.timeout = Some(Duration::from_secs(2));
    let begun = Instant::now();
    let outcome = finish(bench.start(&spec).await).await;
    assert_eq!(
        (outcome.out.as_str(), outcome.ended),
        ("kept\n", Ended::TimedOut)
    );
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(bench.processes(), 0);
    spec.argv = vec!["yes".into()];
    assert_eq!(
        finish(bench.start(&spec).await).await.ended,
        Ended::TimedOut
    );
}

#[tokio::test(start_paused = true)]
async fn execs_end_when_called_off_or_when_their_world_ends() {
    let bench = Bench::new();
    let exec = bench.start(&command(&["sleep", "100"])).await;
    assert_eq!(bench.processes(), 1);
    bench
        .engine
        .cancel(&bench.id, &ExecId::new("e1"))
        .await
        .expect("a cancel");
    assert_eq!(bench.processes(), 0);
    assert_eq!(finish(exec).await.ended, Ended::Cancelled);
    let actions = [
        LifecycleOp::Restart,
        LifecycleOp::Kill,
        LifecycleOp::Stop,
        LifecycleOp::Remove { force: true },
    ];
    for action in actions {
        bench.act(LifecycleOp::Start).await.expect("a start");
        let exec = bench.start(&command(&["sleep", "100"])).await;
        bench.act(action).await.expect("an action");
        assert_eq!(finish(exec).await.ended, Ended::Lost, "{action:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_exec_leaves_no_process() {
    let bench = Bench::new();
    let mut exec = bench.start(&command(&["sh", "-c", "yes & yes"])).await;
    exec.items.next().await.expect("output");
    assert_eq!(bench.processes(), 2);
    drop(exec);
    assert_eq!(bench.processes(), 0);
    assert_eq!(bench.sh("true").await.ended, Ended::Code(0));
}

#[tokio::test(start_paused = true)]
async fn a_paused_sandbox_freezes_its_execs() {
    let bench = Bench::new();
    let mut exec = bench
        .start(&command(&["sh", "-c", "sleep 1; echo x"]))
        .await;
    bench.act(LifecycleOp::Pause).await.expect("a pause");
    let waited = timeout(Duration::from_mins(1), exec.items.next()).await;
    assert!(waited.is_err());
    bench.act(LifecycleOp::Resume).await.expect("a resume");
    assert_eq!(finish(exec).await, said("x\n", "", 0));
}
