//! Clauses 21 to 23, 25 and 27: looking at processes, changed files, images, what files take, and that it is no use.

use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use sandtop::domain::{Change, ChangeKind, Changes, EngineEventKind, FileKind, Process, SandboxId};
use sandtop::engine::EngineError;
use sandtop::protocol::{FailureKind, FileOp, LifecycleOp};

use crate::support::{Bench, Fixture, exec_spec, finish, kind, noise, refused, sandbox_path, soon};

pub(super) async fn processes(bench: &Bench<'_>) -> Vec<Process> {
    let engine = &bench.fixture.engine;
    let found = soon("processes", engine.processes(&bench.id)).await;
    found.expect("processes")
}

pub(super) async fn changes(bench: &Bench<'_>) -> Changes {
    let engine = &bench.fixture.engine;
    soon("changes", engine.changes(&bench.id))
        .await
        .expect("changes")
}

pub(super) fn words(changes: &Changes) -> Vec<String> {
    let word = |change: &Change| {
        let path = change.path.as_bytes().escape_ascii();
        format!("{} {path}", change.kind.letter())
    };
    changes.files.iter().map(word).collect()
}

pub async fn c21_processes_are_told(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let before = processes(&bench).await;
    assert!(!before.is_empty());
    let spec = exec_spec(&["sleep", "1234"]);
    let exec = bench.start(&spec).await;
    bench.until_running(&["sleep 1234".into()]).await;
    let found = processes(&bench).await;
    let sleeper = found.iter().find(|p| p.command == "sleep 1234");
    let sleeper = sleeper.unwrap_or_else(|| panic!("not in {found:?}"));
    assert!(sleeper.memory_bytes > 0 && sleeper.pid > 1, "{sleeper:?}");
    assert!(sleeper.age < crate::support::PATIENCE, "{sleeper:?}");
    assert!(sleeper.cpu_percent() < 50.0, "{sleeper:?}");
    assert!(found.is_sorted_by_key(|process| process.pid), "{found:?}");
    let looks = found.iter().filter(|p| p.command.ends_with("guest top"));
    assert_eq!(looks.count(), 0, "{found:?}");
    bench.cancel(&spec).await;
    finish(exec).await;
    let after = processes(&bench).await;
    assert_eq!(after.len(), before.len(), "{after:?}");
}

pub async fn c21_work_is_told_from_waiting(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let spec = exec_spec(&["sh", "-c", "while :; do :; done"]);
    let exec = bench.start(&spec).await;
    let busy = |all: &[Process]| all.iter().find(|p| p.command.contains("while")).cloned();
    let is_worker = |p: &Process| !p.command.contains("guest");
    let mut first = None;
    crate::support::wait_until("two looks with work in between", async || {
        let found = processes(&bench).await;
        let found: Vec<_> = found.into_iter().filter(is_worker).collect();
        let Some(now) = busy(&found) else {
            return false;
        };
        let before = first.get_or_insert_with(|| now.clone());
        now.cpu_time > before.cpu_time && now.cpu_percent_since(before) > 5.0
    })
    .await;
    bench.cancel(&spec).await;
    finish(exec).await;
}

pub async fn c21_only_running_sandboxes_have_processes(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.act(LifecycleOp::Stop).await.expect("a change");
    let found = soon("processes", fixture.engine.processes(&bench.id)).await;
    refused(found, FailureKind::Conflict);
    let nobody = SandboxId::new("0123456789abcdef");
    let engine = &fixture.engine;
    let unknown = Some(FailureKind::NotFound);
    assert_eq!(kind(&engine.processes(&nobody).await), unknown);
}

/// Asks what has changed.
pub async fn try_changes(fixture: &Fixture) -> EngineError {
    let bench = fixture.sandbox().await;
    let told = soon("changes", fixture.engine.changes(&bench.id)).await;
    told.expect_err("an error")
}

pub async fn c22_changes_are_told(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let nobody = SandboxId::new("0123456789abcdef");
    let unknown = fixture.engine.changes(&nobody).await;
    assert_eq!(kind(&unknown), Some(FailureKind::NotFound));
    let fresh = changes(&bench).await;
    assert_eq!(words(&fresh), Vec::<String>::new());
    assert!(!fresh.looked_at.is_empty());
    bench
        .write(b"/workspace/a \n\xff", "x")
        .await
        .expect("a write");
    let folder = FileOp::MakeDir(sandbox_path(b"/workspace/d/e"));
    bench.file(folder).await.expect("a folder");
    bench
        .write(b"/workspace/d/e/f", "12345")
        .await
        .expect("a write");
    bench.write(b"/tmp/t", "x").await.expect("a write");
    let found = changes(&bench).await;
    let expected = [
        "A /tmp/t",
        "A /workspace/a \\n\\xff",
        "A /workspace/d",
        "A /workspace/d/e",
        "A /workspace/d/e/f",
    ];
    assert_eq!(words(&found), expected);
    assert_eq!(changes(&bench).await, found, "looking changes nothing");
    let now = found.files.last().and_then(|change| change.now.as_ref());
    let now = now.expect("an account");
    assert_eq!((now.size, &now.kind), (5, &FileKind::File));
    let gone = FileOp::Delete {
        path: sandbox_path(b"/workspace/d"),
        recursive: true,
    };
    bench.file(gone).await.expect("a deletion");
    let left = changes(&bench).await;
    assert_eq!(left.count(ChangeKind::Added), 2, "{left:?}");
}

pub async fn c22_changes_outlive_a_restart(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.write(b"/workspace/kept", "x").await.expect("a write");
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    let stopped = changes(&bench).await;
    // What it does not see now it says.
    let is_told = stopped.gaps.iter().any(|gap| gap.contains("/workspace"));
    assert!(is_told || words(&stopped) == ["A /workspace/kept"]);
    bench.act(LifecycleOp::Start).await.expect("a start");
    assert_eq!(words(&changes(&bench).await), ["A /workspace/kept"]);
}

pub async fn c22_long_lists_are_cut_and_say_so(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let many = Changes::MOST + 7;
    let script =
        format!("cd /workspace; i=0; while [ $i -lt {many} ]; do i=$((i+1)); : > f$i; done");
    bench.sh(&script).await;
    let found = changes(&bench).await;
    assert_eq!((found.files.len(), found.left_out), (Changes::MOST, 7));
}

pub async fn c23_images_in_use_are_listed(fixture: &Fixture) {
    let _bench = fixture.sandbox().await;
    let images = soon("images", fixture.engine.images()).await;
    let images = images.expect("images");
    let is_ours = |name: &str| name == fixture.image || name == format!("{}:latest", fixture.image);
    assert!(
        images.iter().any(|image| is_ours(&image.name)),
        "{images:?}"
    );
    assert!(images.is_sorted_by(|a, b| a.name <= b.name), "{images:?}");
}

pub async fn c25_files_are_measured_without_using_the_sandbox(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let since = Utc::now();
    let measure = async || {
        let measured = soon("a size", fixture.engine.disk_use(&bench.sandbox)).await;
        measured.expect("a size")
    };
    let before = measure().await;
    bench
        .write(b"/workspace/a", noise(3 << 20))
        .await
        .expect("a write");
    bench
        .write(b"/tmp/b", noise(1 << 20))
        .await
        .expect("a write");
    let grown = measure().await - before;
    assert!((3 << 20..4 << 20).contains(&grown), "{grown}");
    // A write is one on some engines; measuring never is.
    let used = uses(&bench, since).await;
    measure().await;
    assert_eq!(uses(&bench, since).await, used);
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    let stopped = soon("a size", fixture.engine.disk_use(&bench.sandbox)).await;
    assert_eq!(kind(&stopped), Some(FailureKind::Conflict));
}

/// Counts the commands that were started in a sandbox; an end may be told a little late.
async fn uses(bench: &Bench<'_>, since: DateTime<Utc>) -> usize {
    let told = soon("the past", bench.fixture.engine.events_since(since)).await;
    let told = told.expect("the past");
    let is_start = |what: &EngineEventKind| matches!(what, EngineEventKind::Exec { .. });
    let own = told
        .iter()
        .filter(|one| one.sandbox == bench.sandbox.reference);
    own.filter(|one| is_start(&one.what)).count()
}

pub async fn c27_looking_is_no_use(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let engine = &fixture.engine;
    bench.write(b"/workspace/a", "x").await.expect("a write");
    let since = Utc::now();
    let before = uses(&bench, since).await;
    bench.ls(b"/workspace").await.expect("a list");
    bench.stat(b"/workspace/a").await.expect("a file");
    bench
        .read(b"/workspace/a", None)
        .await
        .expect("its content");
    processes(&bench).await;
    soon("details", engine.inspect(&bench.id))
        .await
        .expect("details");
    let samples = soon("samples", engine.samples(&bench.sandbox)).await;
    let mut samples = samples.expect("samples");
    soon("a sample", samples.next())
        .await
        .expect("one")
        .expect("figures");
    // What an engine does not offer is no use either.
    let tree = engine.pack(&bench.id, &sandbox_path(b"/workspace")).await;
    if let Ok(tree) = tree {
        tree.collect::<Vec<_>>().await;
    }
    let _ = soon("changes", engine.changes(&bench.id)).await;
    let _ = soon("sessions", engine.sessions(&bench.id)).await;
    assert_eq!(uses(&bench, since).await, before);
    bench.run(&["true"]).await;
    assert!(uses(&bench, since).await > before, "a command is one");
}
