//! Clauses 1 to 4, 13 and 20: sandboxes from their creation to their removal.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::StreamExt;
use sandtop::domain::{Access, EngineEventKind, ExecSpec, Mount, Phase, Sample, SandboxId};
use sandtop::engine::Notes;
use sandtop::protocol::{FailureKind, FileOp, LifecycleOp};

use crate::support::{
    Fixture, MEMORY, docker, exec_spec, kind, pieces, refused, sandbox_path, soon, unique_name,
    wait_until,
};

pub async fn c01_what_is_created_is_listed(fixture: &Fixture) {
    let mut spec = fixture.spec("listed");
    spec.labels.insert("team".into(), "red".into());
    let bench = fixture.create(&spec).await;
    let listed = fixture.list().await;
    assert_eq!(listed.len(), 1);
    let sandbox = &listed[0];
    assert_eq!(sandbox.reference.id, bench.id);
    assert_eq!(sandbox.name, spec.name.as_str());
    assert_eq!(sandbox.image, spec.image);
    assert_eq!(sandbox.limits, spec.limits);
    assert_eq!(sandbox.phase, Phase::Running);
    assert_eq!(sandbox.network, "none");
    assert_eq!(sandbox.labels, spec.labels);
    assert_eq!(sandbox.owner.as_ref(), Some(&spec.owner));
    assert_eq!(sandbox.engine, fixture.engine.kind());
    let age = Utc::now() - sandbox.created_at;
    assert!(
        age < TimeDelta::seconds(60) && age > TimeDelta::seconds(-5),
        "{age}"
    );
    assert_eq!(bench.sandbox.name, sandbox.name);
    let details = soon("details", fixture.engine.inspect(&bench.id))
        .await
        .expect("details");
    assert_eq!(details.sandbox.name, sandbox.name);
    assert_eq!(details.sandbox.limits, spec.limits);
    assert_eq!(details.work_dir, "/workspace");
}

pub async fn c02_lists_hold_our_own_in_order(fixture: &Fixture) {
    let other = fixture.sibling();
    let foreign = other.sandbox().await;
    let mut names = Vec::new();
    // Names in falling order, so that sorting by name would show.
    for hint in ["c", "b", "a"] {
        let bench = fixture.create(&fixture.spec(hint)).await;
        names.push(bench.sandbox.name.clone());
    }
    let listed = fixture.list().await;
    let listed_names: Vec<_> = listed.iter().map(|s| s.name.clone()).collect();
    assert_eq!(listed_names, names);
    assert!(listed.is_sorted_by_key(|s| (s.created_at, s.reference.id.clone())));
    assert_eq!(other.list().await.len(), 1);
    foreign.remove().await;
    assert_eq!(fixture.list().await.len(), 3);
}

pub async fn c03_changes_of_phase_are_idempotent(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let table = [
        (LifecycleOp::Start, Phase::Running),
        (LifecycleOp::Resume, Phase::Running),
        (LifecycleOp::Pause, Phase::Paused),
        (LifecycleOp::Resume, Phase::Running),
        (LifecycleOp::Pause, Phase::Paused),
        (LifecycleOp::Kill, Phase::Stopped),
        (LifecycleOp::Start, Phase::Running),
        (LifecycleOp::Pause, Phase::Paused),
        (LifecycleOp::Stop, Phase::Stopped),
        (LifecycleOp::Start, Phase::Running),
        (LifecycleOp::Stop, Phase::Stopped),
        (LifecycleOp::Kill, Phase::Stopped),
    ];
    for (action, phase) in table {
        for turn in ["first", "second"] {
            let acted = bench.act(action).await;
            acted.unwrap_or_else(|e| panic!("the {turn} {action:?}: {e}"));
            wait_until(&format!("{action:?} gives {phase}"), async || {
                bench.phase().await == phase
            })
            .await;
        }
    }
    for action in [LifecycleOp::Pause, LifecycleOp::Resume] {
        assert_eq!(
            kind(&bench.act(action).await),
            Some(FailureKind::Conflict),
            "{action:?}"
        );
    }
    for _ in 0..2 {
        bench
            .act(LifecycleOp::Remove { force: false })
            .await
            .expect("a removal");
        assert_eq!(fixture.list().await, []);
    }
}

pub async fn c03_restarting_works_from_any_phase(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .write(b"/workspace/kept", "kept")
        .await
        .expect("a write");
    bench.write(b"/tmp/gone", "gone").await.expect("a write");
    for before in [LifecycleOp::Start, LifecycleOp::Pause, LifecycleOp::Stop] {
        bench.act(before).await.expect("a change");
        bench.act(LifecycleOp::Restart).await.expect("a restart");
        assert_eq!(bench.phase().await, Phase::Running);
        assert_eq!(
            bench.read(b"/workspace/kept", None).await.expect("a read"),
            b"kept"
        );
        assert_eq!(
            kind(&bench.read(b"/tmp/gone", None).await),
            Some(FailureKind::NotFound)
        );
        assert_eq!(bench.run(&["echo", "up"]).await.text(), "up");
    }
}

pub async fn c04_errors_have_their_kind(fixture: &Fixture) {
    let engine = &fixture.engine;
    let bench = fixture.sandbox().await;
    let mut same = fixture.spec("same");
    same.name = sandtop::domain::SandboxName::parse(&bench.sandbox.name).expect("a name");
    let refusal = soon("a create", engine.create(&same, &Notes::none())).await;
    refused(refusal, FailureKind::Conflict);
    let mut missing = fixture.spec("missing");
    missing.image = "127.0.0.1:1/no-such/image:1".into();
    let refusal = soon("a create", engine.create(&missing, &Notes::none())).await;
    let error = refused(refusal, FailureKind::ImageMissing);
    assert!(error.message.contains("no-such/image"), "{}", error.message);
    let running = bench.act(LifecycleOp::Remove { force: false }).await;
    refused(running, FailureKind::Conflict);

    let nobody = SandboxId::new("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    let unknown = Some(FailureKind::NotFound);
    for action in [
        LifecycleOp::Start,
        LifecycleOp::Stop,
        LifecycleOp::Restart,
        LifecycleOp::Kill,
        LifecycleOp::Pause,
        LifecycleOp::Resume,
    ] {
        let acted = soon("an action", engine.act(&nobody, action)).await;
        assert_eq!(kind(&acted), unknown, "{action:?}");
    }
    let path = sandbox_path(b"/workspace/x");
    soon("errors", async {
        assert_eq!(kind(&engine.inspect(&nobody).await), unknown);
        let spec = exec_spec(&["true"]);
        assert_eq!(kind(&engine.exec(&nobody, &spec).await), unknown);
        assert_eq!(kind(&engine.cancel(&nobody, &spec.id).await), unknown);
        assert_eq!(
            kind(&engine.file(&nobody, &FileOp::Stat(path.clone())).await),
            unknown
        );
        assert_eq!(kind(&engine.read(&nobody, &path, None).await), unknown);
        assert_eq!(
            kind(&engine.write(&nobody, &path, None, pieces("x")).await),
            unknown
        );
        let mut gone = bench.sandbox.clone();
        gone.reference.id = nobody;
        let first = match engine.samples(&gone).await {
            Ok(mut samples) => samples.next().await.expect("an item"),
            Err(error) => Err(error),
        };
        assert_eq!(kind(&first), unknown);
    })
    .await;
}

pub async fn c04_only_running_sandboxes_run_commands(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let spec = exec_spec(&["true"]);
    bench.act(LifecycleOp::Pause).await.expect("a pause");
    let exec = soon("an exec", fixture.engine.exec(&bench.id, &spec)).await;
    refused(exec, FailureKind::Conflict);
    refused(bench.act(LifecycleOp::Start).await, FailureKind::Conflict);
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    let exec = soon("an exec", fixture.engine.exec(&bench.id, &spec)).await;
    refused(exec, FailureKind::Conflict);
}

pub async fn c13_samples_stay_within_limits_and_end(fixture: &Fixture) {
    let busy = exec_spec(&["sh", "-c", "while :; do :; done"]);
    let last = sample_while_running(fixture, busy).await;
    assert!(last.cpu_percent > 1.0, "a busy sandbox: {last:?}");
}

/// Weaker: they are made up, and say nothing of what a command does.
pub async fn c13_made_up_samples_stay_within_limits_and_end(fixture: &Fixture) {
    sample_while_running(fixture, exec_spec(&["yes"])).await;
}

/// Checks samples while a command runs, and that they end with the sandbox; returns the last before the end.
async fn sample_while_running(fixture: &Fixture, busy: ExecSpec) -> Sample {
    let mut spec = fixture.spec("samples");
    spec.limits.cpus = Some(0.5);
    let bench = fixture.create(&spec).await;
    let mut exec = bench.start(&busy).await;
    let burning = tokio::spawn(async move { while exec.items.next().await.is_some() {} });
    let samples = soon("samples", fixture.engine.samples(&bench.sandbox)).await;
    let mut samples = samples.expect("a stream");
    let first = tokio::time::timeout(Duration::from_secs(5), samples.next()).await;
    let mut before = first.expect("soon").expect("a sample").expect("no error");
    // The kernel hands out time in slices, so a moment may be a little over the quota. Where it has no quota, as the
    // posture says, the sandbox is kept to one core.
    let details = soon("details", fixture.engine.inspect(&bench.id)).await;
    let gaps = details.expect("details").posture.gaps;
    let unlimited = gaps
        .iter()
        .any(|gap| gap.contains("cpu limit not enforced"));
    let most = if unlimited { 115.0 } else { 65.0 };
    for _ in 0..3 {
        let sample = soon("a sample", samples.next()).await.expect("a sample");
        let sample = sample.expect("no error");
        let apart = (sample.at - before.at).num_milliseconds();
        assert!((500..4000).contains(&apart), "{apart} ms apart");
        assert!((0.0..=most).contains(&sample.cpu_percent), "{sample:?}");
        assert_eq!(sample.cpus_limit, Some(0.5));
        assert!(
            sample.memory_bytes > 0 && sample.memory_bytes <= MEMORY,
            "{sample:?}"
        );
        assert_eq!(sample.memory_limit_bytes, Some(MEMORY));
        assert!((2..=64).contains(&sample.pids), "{sample:?}");
        assert_eq!((sample.net_rx_bytes, sample.net_tx_bytes), (0, 0));
        before = sample;
    }
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    soon("the end of samples", async {
        while let Some(sample) = samples.next().await {
            sample.expect("no error");
        }
    })
    .await;
    soon("the end of the exec", burning)
        .await
        .expect("no panic");
    before
}

pub async fn c20_removing_takes_everything(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.write(b"/workspace/f", "x").await.expect("a write");
    if fixture.is_docker() {
        let label = format!("label=sandtop.scope={}", fixture.scope);
        assert_ne!(docker(&["volume", "ls", "-q", "--filter", &label]), "");
    }
    for _ in 0..2 {
        bench.remove().await;
        fixture.assert_nothing_left().await;
    }
    assert_eq!(
        kind(&bench.act(LifecycleOp::Start).await),
        Some(FailureKind::NotFound)
    );
    let stopped = fixture.sandbox().await;
    stopped.act(LifecycleOp::Stop).await.expect("a stop");
    stopped
        .act(LifecycleOp::Remove { force: false })
        .await
        .expect("a removal");
    fixture.assert_nothing_left().await;
}

pub async fn c20_of_two_creates_with_one_name_one_fails(fixture: &Fixture) {
    let (one, mut two) = (fixture.spec("twin"), fixture.spec("other"));
    two.name = one.name.clone();
    let notes = Notes::none();
    let creates = async {
        tokio::join!(
            fixture.engine.create(&one, &notes),
            fixture.engine.create(&two, &notes)
        )
    };
    let (first, second) = soon("creates", creates).await;
    let failed = match (first, second) {
        (Ok(_), failed @ Err(_)) | (failed @ Err(_), Ok(_)) => failed,
        other => panic!("one must fail: {other:?}"),
    };
    refused(failed, FailureKind::Conflict);
    let listed = fixture.list().await;
    assert_eq!(listed.len(), 1);
    let gone = LifecycleOp::Remove { force: true };
    soon(
        "a removal",
        fixture.engine.act(&listed[0].reference.id, gone),
    )
    .await
    .expect("a removal");
    fixture.assert_nothing_left().await;
}

pub async fn c20_discarding_removes_one_request_only(fixture: &Fixture) {
    let (kept, dropped) = (fixture.spec("kept"), fixture.spec("dropped"));
    fixture.create(&kept).await;
    fixture.create(&dropped).await;
    for _ in 0..2 {
        soon("a discard", fixture.engine.discard(&dropped))
            .await
            .expect("a discard");
        let listed = fixture.list().await;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].name, kept.name.as_str());
    }
    // The same name asked for by somebody else is not touched.
    let mut same_name = kept.clone();
    same_name.token = unique_name("token");
    soon("a discard", fixture.engine.discard(&same_name))
        .await
        .expect("a discard");
    assert_eq!(fixture.list().await.len(), 1);
}

pub async fn c20_a_failed_create_leaves_nothing(fixture: &Fixture) {
    let mount = |source: &str, target: &[u8]| Mount {
        source: PathBuf::from(source),
        target: sandbox_path(target),
        access: Access::ReadWrite,
    };
    let mut no_source = fixture.spec("bind");
    no_source.mounts = vec![mount("/no/such/folder/of/sandtop", b"/mnt/x")];
    let mut no_user = fixture.spec("user");
    no_user.user = "nobody-knows-me".into();
    // Without a work directory of our own the engine itself has to find that the user is unknown.
    let mut no_user_late = no_user.clone();
    no_user_late.name = fixture.spec("late").name;
    no_user_late.mounts = vec![mount("/tmp", b"/workspace")];
    let mut little_memory = fixture.spec("memory");
    little_memory.limits.memory_bytes = Some(1 << 20);
    let mut bad_image = fixture.spec("image");
    bad_image.image = "../etc".into();
    for spec in [no_source, no_user, no_user_late, little_memory, bad_image] {
        let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
        let error = made.expect_err(spec.name.as_str());
        assert_ne!(error.kind, FailureKind::Unreachable, "{error:?}");
        fixture.assert_nothing_left().await;
    }
}

/// Weaker: it is the image only that can be wrong.
pub async fn c20_a_create_without_an_image_leaves_nothing(fixture: &Fixture) {
    let mut spec = fixture.spec("image");
    spec.image = "missing/image".into();
    let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
    refused(made, FailureKind::ImageMissing);
    fixture.assert_nothing_left().await;
}

pub async fn happenings_are_told_and_remembered(fixture: &Fixture) {
    let begun = Utc::now() - TimeDelta::seconds(1);
    let other = fixture.sibling();
    let happenings = soon("happenings", fixture.engine.events()).await;
    let mut happenings = happenings.expect("a stream");
    // The stream connects when it is first read, so it is read while things happen.
    let reading = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(happening) = happenings.next().await {
            let happening = happening.expect("no error");
            let is_last = matches!(happening.what, EngineEventKind::Removed { .. });
            seen.push(happening);
            if is_last {
                break;
            }
        }
        seen
    });
    // A second look from another engine tells that the first is connected.
    let warm_up = fixture.sandbox().await;
    other.sandbox().await.remove().await;
    warm_up.act(LifecycleOp::Pause).await.expect("a pause");
    warm_up.act(LifecycleOp::Resume).await.expect("a resume");
    warm_up.run(&["true"]).await;
    warm_up.remove().await;
    let seen = soon("happenings", reading).await.expect("no panic");
    let words = |all: &[sandtop::domain::EngineEvent]| {
        let ours = all.iter().filter(|h| h.name == warm_up.sandbox.name);
        ours.map(|h| h.what.word()).collect::<Vec<_>>()
    };
    assert!(
        seen.iter().all(|h| h.sandbox.id == warm_up.id),
        "a stranger in {seen:?}"
    );
    for word in ["paused", "resumed", "exec", "removed"] {
        assert!(
            words(&seen).contains(&word),
            "no {word} in {:?}",
            words(&seen)
        );
    }
    let history = soon("history", fixture.engine.events_since(begun))
        .await
        .expect("a history");
    for word in ["created", "started", "paused", "resumed", "exec", "removed"] {
        assert!(
            words(&history).contains(&word),
            "no {word} in {:?}",
            words(&history)
        );
    }
}
