//! Sandboxes, their figures, what happens to them, and faults.

use super::*;

#[tokio::test(start_paused = true)]
async fn creating_shows_progress_and_refuses_what_cannot_be() {
    let engine = DemoEngine::new(HostName::new("here"));
    let (sender, mut notes) = mpsc::channel(16);
    let made = engine
        .create(&spec("a", "alpine"), &Notes::to(sender))
        .await
        .expect("a sandbox");
    assert_eq!(
        (made.phase, made.reference.id.as_str().len()),
        (Phase::Running, 64)
    );
    assert_eq!(engine.list().await.expect("a list"), [made]);
    assert!(notes.recv().await.is_some_and(|note| note.total.is_some()));
    let refused = [("a", "alpine"), ("b", "missing/x"), ("c", "no-such-image")];
    let mut kinds = Vec::new();
    for (name, image) in refused {
        let error = engine
            .create(&spec(name, image), &Notes::none())
            .await
            .err();
        kinds.extend(error.map(|error| (error.kind, error.hint.is_some())));
    }
    let missing = (FailureKind::ImageMissing, true);
    assert_eq!(kinds, [(FailureKind::Conflict, true), missing, missing]);
    assert_eq!(engine.list().await.expect("a list").len(), 1);
    for _ in 0..2 {
        let discarded = engine.discard(&spec("a", "alpine")).await;
        discarded.expect("nothing in the way");
    }
    assert!(engine.list().await.expect("a list").is_empty());
}

#[tokio::test(start_paused = true)]
async fn phases_change_twice_without_harm() {
    let bench = Bench::new();
    let actions = [
        LifecycleOp::Pause,
        LifecycleOp::Resume,
        LifecycleOp::Stop,
        LifecycleOp::Kill,
        LifecycleOp::Start,
    ];
    for action in actions {
        for _ in 0..2 {
            bench.act(action).await.expect("an action");
        }
    }
    let refused = bench.act(LifecycleOp::Remove { force: false }).await;
    assert_eq!(
        refused.err().and_then(|e| e.hint).as_deref(),
        Some("stop it first or use -f")
    );
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    let stopped = bench.engine.exec(&bench.id, &command(&["true"])).await;
    assert_eq!(kind(stopped), Some(FailureKind::Conflict));
    let details = bench.engine.inspect(&bench.id).await.expect("details");
    assert_eq!(details.death.and_then(|death| death.exit_code), Some(143));
    for _ in 0..2 {
        bench
            .act(LifecycleOp::Remove { force: false })
            .await
            .expect("a removal");
    }
    assert_eq!(
        kind(bench.act(LifecycleOp::Start).await),
        Some(FailureKind::NotFound)
    );
    let unknown = SandboxId::new("f00");
    let removed = bench
        .engine
        .act(&unknown, LifecycleOp::Remove { force: true })
        .await;
    assert_eq!(kind(removed), Some(FailureKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn samples_come_every_second_within_the_limits_until_the_stop() {
    let bench = Bench::new();
    let mut samples = bench.samples().await;
    let begun = Instant::now();
    for _ in 0..90 {
        let sample = samples.next().await.expect("a sample").expect("figures");
        let Limits {
            memory_bytes, cpus, ..
        } = spec("x", "y").limits;
        assert!(sample.memory_bytes <= memory_bytes.expect("a limit"));
        assert!((0.0..=cpus.expect("a limit") * 100.0).contains(&sample.cpu_percent));
    }
    assert_eq!(begun.elapsed().as_secs(), 89);
    bench.act(LifecycleOp::Restart).await.expect("a restart");
    assert!(samples.next().await.is_none());
    let mut unknown = bench.engine.list().await.expect("a list").remove(0);
    unknown.reference.id = SandboxId::new("f00");
    let none = bench.engine.samples(&unknown).await;
    assert_eq!(kind(none), Some(FailureKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn happenings_are_told_and_remembered() {
    let bench = Bench::new();
    let since = Utc::now();
    let mut told = bench.engine.events().await.expect("a stream");
    bench.sh("exit 3").await;
    bench
        .act(LifecycleOp::Remove { force: true })
        .await
        .expect("a removal");
    let words: Vec<_> = (told.by_ref().take(5))
        .map(|happening| happening.expect("a happening").what.word())
        .collect()
        .await;
    assert_eq!(words, ["exec", "exec_ended", "killed", "died", "removed"]);
    let history = bench.engine.events_since(since).await.expect("a history");
    assert_eq!(history.len(), 5);
    let later = bench
        .engine
        .events_since(Utc::now() + TimeDelta::hours(1))
        .await;
    assert!(later.expect("a history").is_empty());
}

#[tokio::test(start_paused = true)]
async fn faults_come_and_go() {
    let bench = Bench::new();
    let remote = bench.engine.remote();
    let exec = bench.start(&command(&["sleep", "9"])).await;
    let mut samples = bench.samples().await;
    let mut told = bench.engine.events().await.expect("a stream");
    remote.faults(|faults| faults.unreachable = true);
    assert_eq!(
        kind(bench.engine.list().await),
        Some(FailureKind::Unreachable)
    );
    assert_eq!(finish(exec).await.ended, Ended::Lost);
    assert!(matches!(samples.next().await, Some(Err(_))));
    assert!(samples.next().await.is_none());
    while let Some(Ok(_)) = told.next().await {}
    assert!(told.next().await.is_none());
    remote.faults(|faults| {
        *faults = Faults {
            fail_create_at: Some(CreateStep::Start),
            ..Faults::default()
        }
    });
    let failed = bench.engine.create(&spec("new", "x"), &Notes::none()).await;
    assert_eq!(kind(failed), Some(FailureKind::Internal));
    assert_eq!(bench.engine.list().await.expect("a list").len(), 3);
}
