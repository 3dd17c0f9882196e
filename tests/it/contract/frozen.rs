//! Clause 26: looking at a sandbox in which nothing goes on.

use futures_util::StreamExt;
use sandtop::domain::FileEntry;
use sandtop::protocol::{FailureKind, FileOp, LifecycleOp};

use super::looks::{changes, processes, words};
use crate::support::{
    Bench, Fixture, exec_spec, finish, kind, noise, refused, sandbox_path, soon, unique_name,
};

async fn pause(bench: &Bench<'_>) {
    bench.act(LifecycleOp::Pause).await.expect("a pause");
}

async fn resume(bench: &Bench<'_>) {
    bench.act(LifecycleOp::Resume).await.expect("a resume");
}

pub async fn c26_paused_sandboxes_can_be_looked_at(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let folder = FileOp::MakeDir(sandbox_path(b"/workspace/d"));
    bench.file(folder).await.expect("a folder");
    let file = b"/workspace/d/f";
    bench.write(file, "12345").await.expect("a write");
    let spec = exec_spec(&["sleep", "1234"]);
    let exec = bench.start(&spec).await;
    bench.until_running(&["sleep 1234".into()]).await;
    pause(&bench).await;

    let found = processes(&bench).await;
    let sleeper = found.iter().find(|p| p.command == "sleep 1234");
    let sleeper = sleeper.unwrap_or_else(|| panic!("not in {found:?}"));
    assert!(sleeper.memory_bytes > 0 && sleeper.age < crate::support::PATIENCE);
    let listed = bench.ls(b"/workspace").await.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].name, b"d");
    assert_eq!(bench.stat(file).await.expect("an account").size, 5);
    assert_eq!(bench.read(file, None).await.expect("a read"), b"12345");
    assert_eq!(bench.read(file, Some(2)).await.expect("a read"), b"12");
    let missing = bench.read(b"/workspace/no", None).await;
    assert_eq!(kind(&missing), Some(FailureKind::NotFound));
    resume(&bench).await;
    bench.cancel(&spec).await;
    finish(exec).await;
}

pub async fn c26_changes_of_paused_sandboxes_are_told(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .write(b"/workspace/f", "12345")
        .await
        .expect("a write");
    pause(&bench).await;
    assert_eq!(words(&changes(&bench).await), ["A /workspace/f"]);
    resume(&bench).await;
}

pub async fn c26_files_are_listed_alike_while_paused(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .sh("cd /workspace; mkdir -p d/e; echo 123 > d/file; chmod 640 d/file; ln -s file d/link; ln -s d way")
        .await;
    // Engines that read the disk tell time in seconds, and a folder's size in their own way.
    let known = |all: Vec<FileEntry>| -> Vec<_> {
        let each = all.into_iter();
        each.map(|e| (e.name, e.kind, e.mode, e.uid, e.modified_at.timestamp()))
            .collect()
    };
    let before = known(bench.ls(b"/workspace/d").await.expect("a list"));
    pause(&bench).await;
    for path in [&b"/workspace/d"[..], b"/workspace/way"] {
        let listed = bench.ls(path).await.expect("a list");
        assert_eq!(known(listed), before);
    }
    let through_links = bench.read(b"/workspace/way/link", None).await;
    assert_eq!(through_links.expect("a read"), b"123\n");
    let folder = bench.read(b"/workspace/d", None).await;
    assert_eq!(kind(&folder), Some(FailureKind::Invalid));
    assert_eq!(
        kind(&bench.write(b"/workspace/new", "x").await),
        Some(FailureKind::Conflict)
    );
}

pub async fn c26_nothing_leads_out_of_a_paused_sandbox(fixture: &Fixture) {
    let outside = std::env::temp_dir().join(unique_name("outside"));
    std::fs::write(&outside, "not for the sandbox").expect("a file of the host");
    let bench = fixture.sandbox().await;
    let name = outside.display();
    let script = format!(
        "cd /workspace; ln -s {name} straight; ln -s ../../../../../..{name} up; ln -s /proc/1/root{name} proc; \
         echo inside > /tmp/own; ln -s /tmp/own own"
    );
    bench.sh(&script).await;
    pause(&bench).await;
    for link in ["straight", "up", "proc"] {
        let path = format!("/workspace/{link}");
        let read = bench.read(path.as_bytes(), None).await;
        assert!(read.is_err(), "{link}: {read:?}");
    }
    // What is in memory is read as it is, or not at all.
    match bench.read(b"/workspace/own", None).await {
        Ok(content) => assert_eq!(content, b"inside\n"),
        refusal => drop(refused(refusal, FailureKind::Conflict)),
    }
    std::fs::remove_file(&outside).expect("a removal");
}

pub async fn c26_who_still_looks_when_it_thaws_is_limited_like_the_others(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let big = noise(16 << 20);
    let path = sandbox_path(b"/workspace/big");
    bench
        .write(b"/workspace/big", big.clone())
        .await
        .expect("a write");
    pause(&bench).await;
    let mut reading = soon("a read", fixture.engine.read(&bench.id, &path, None))
        .await
        .expect("a read");
    let mut got = Vec::new();
    got.extend(reading.next().await.expect("a piece").expect("a piece"));
    resume(&bench).await;
    let running = processes(&bench).await;
    let is_reader = |command: &str| command.ends_with("guest read /workspace/big");
    assert!(running.iter().any(|p| is_reader(&p.command)), "{running:?}");
    let groups = bench
        .sh("for one in /proc/[0-9]*; do tr '\\n' ' ' < $one/cgroup; echo; done | sort -u | grep .")
        .await
        .text();
    assert_eq!(groups.lines().count(), 1, "{groups}");
    while let Some(piece) = soon("a piece", reading.next()).await {
        got.extend(piece.expect("a piece"));
    }
    assert!(got == big, "{} bytes", got.len());
}
