//! The store under bad conditions, and under many hands.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};

use super::*;
use crate::domain::{
    CheckLevel, Ended, ExecId, HostName, Owner, OwnerKind, Run, RunEnd, RunResult, SandboxId,
    SandboxRef, Source, Spooled, Tie,
};
use crate::protocol::RunFilter;

const PLACE: &str = "here";

fn run(id: &str) -> Run {
    Run {
        id: ExecId::new(id),
        sandbox: SandboxRef::new(HostName::new("local"), SandboxId::new("abc")),
        name: "box".into(),
        argv: vec!["echo".into(), "a b".into()],
        code: None,
        source: Source::Cli,
        session: None,
        started_at: Utc::now(),
        owner: Owner {
            host: "h".into(),
            pid: 1,
            started: 2,
            user: None,
            kind: OwnerKind::Cli,
        },
        tie: Tie::Attached,
        result: None,
        spooled: Spooled::default(),
    }
}

fn result(ended: Ended) -> RunResult {
    let now = Utc::now();
    RunResult::bare(RunEnd::Ended(ended), now, now)
}

fn all(limit: u32) -> RunFilter {
    RunFilter {
        sandbox: None,
        under_way: false,
        limit,
    }
}

fn open(dir: &Path) -> Store {
    Store::open(Some(dir))
}

#[tokio::test]
async fn many_uses_are_recorded_as_one_after_the_other_would_be() {
    let (store, now) = (Store::open(None), Moment::now());
    let used = |id: &str, at: &Moment| (SandboxId::new(id), format!("name of {id}"), at.clone());
    let earlier = now.back_to(now.wall - TimeDelta::seconds(9));
    let all = vec![used("a", &now), used("b", &earlier), used("a", &earlier)];
    store.touch_all(PLACE, all).await.expect("written");
    let memory = store.memory(PLACE).await.expect("read");
    let at = |id: &str| {
        let known = memory.uses.get(&SandboxId::new(id));
        known.map(|(at, _)| at.since_boot_ms)
    };
    assert_eq!(at("a"), Some(now.since_boot_ms));
    assert_eq!(at("b"), Some(earlier.since_boot_ms));
}

#[tokio::test]
async fn how_much_a_run_has_printed_is_known_while_it_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (open(dir.path()), open(dir.path()));
    let id = ExecId::new("r1");
    first.begin_run(PLACE, &run("r1")).await.expect("written");
    let noted = async |stdout, stderr| {
        let so_far = Spooled {
            stdout,
            stderr,
            ..Spooled::default()
        };
        first.note_output(&id, so_far);
        // What is asked of the same store comes after the note.
        first.runs(PLACE, &all(1)).await.expect("read");
        let seen = second.runs(PLACE, &all(1)).await.expect("read");
        seen.first()
            .map(|run| (run.spooled.stdout, run.spooled.stderr))
    };
    assert_eq!(noted(5, 2).await, Some((5, 2)));
    assert_eq!(noted(4, 3).await, Some((5, 3)), "it never shrinks");
    let end = result(Ended::Code(0));
    first.end_run(&id, &end, None).await.expect("written");
    assert_eq!(noted(9, 9).await, Some((5, 3)), "the end is the end");
}

#[tokio::test]
async fn what_is_written_is_read_by_another_process() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (open(dir.path()), open(dir.path()));
    first.begin_run(PLACE, &run("r1")).await.expect("written");
    let listed = second.runs(PLACE, &all(9)).await.expect("read");
    let [found] = listed.as_slice() else {
        unreachable!("one run, not {listed:?}")
    };
    assert_eq!(
        (found.status(), found.line().as_str()),
        ("running", "echo a b")
    );
    let end = result(Ended::Signal(15));
    first.end_run(&found.id, &end, None).await.expect("written");
    // The first word on an end stands.
    let other = result(Ended::Lost);
    second
        .end_run(&found.id, &other, None)
        .await
        .expect("taken");
    let found = second.run(PLACE, "r").await.expect("read");
    let Found::One(found) = found else {
        unreachable!("one run, not {found:?}")
    };
    assert_eq!(found.status(), "signal");
    assert_eq!(second.run("elsewhere", "r1").await, Ok(Found::None));
}

#[tokio::test]
async fn what_was_asked_to_end_was_cancelled() {
    let store = Store::open(None);
    for (id, ended, word) in [
        ("a", Ended::Signal(9), "cancelled"),
        ("b", Ended::Lost, "cancelled"),
        ("c", Ended::Code(0), "ok"),
    ] {
        let id = ExecId::new(id);
        store
            .begin_run(PLACE, &run(id.as_str()))
            .await
            .expect("written");
        store.ask_cancel(&id).await.expect("written");
        store
            .end_run(&id, &result(ended), None)
            .await
            .expect("written");
        let found = store.run(PLACE, id.as_str()).await.expect("read");
        assert!(
            matches!(&found, Found::One(run) if run.status() == word),
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_and_work_goes_on() {
    for rubbish in [
        &b"this is no database, but long enough to look at"[..],
        b"SQLite format 3\0garbage",
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("store.db"), rubbish.repeat(100)).expect("writable");
        let store = open(dir.path());
        store
            .begin_run(PLACE, &run("r"))
            .await
            .expect("a fresh store");
        let names = names(dir.path());
        assert!(
            names
                .iter()
                .any(|name| name.starts_with("store.db.damaged-")),
            "{names:?}"
        );
        let told = store.take_damage().expect("news").message;
        assert!(told.contains("store.db.damaged-"), "{told}");
        assert_eq!(store.take_damage(), None, "it is told once");
        let check = store.check().await;
        assert_eq!(check.level, CheckLevel::Warn, "{check:?}");
        assert!(check.message.contains("store.db.damaged-"), "{check:?}");
    }
}

#[tokio::test]
async fn a_file_damaged_under_our_hands_is_set_aside_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for n in 0..200 {
        store
            .begin_run(PLACE, &run(&format!("r{n}")))
            .await
            .expect("written");
    }
    drop(store);
    // The thread of a store that was let go closes the file in its own time.
    let wal = dir.path().join("store.db-wal");
    let end = Instant::now() + Duration::from_secs(20);
    while wal.exists() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let file = dir.path().join("store.db");
    let mut bytes = fs::read(&file).expect("a file");
    let length = bytes.len();
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0x5a);
    fs::write(&file, bytes).expect("writable");
    assert!(length > 8192, "{length}");
    let store = open(dir.path());
    store.runs(PLACE, &all(500)).await.expect("a fresh store");
    store
        .begin_run(PLACE, &run("new"))
        .await
        .expect("a fresh store");
    assert!(
        names(dir.path())
            .iter()
            .any(|name| name.contains("damaged"))
    );
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    entries
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

#[tokio::test]
async fn a_store_that_cannot_be_opened_says_why_and_only_once() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("store.db")).expect("a folder");
    let store = open(dir.path());
    let failure = store
        .begin_run(PLACE, &run("r"))
        .await
        .expect_err("no file");
    assert!(failure.message.contains("store.db"), "{failure}");
    assert!(
        failure
            .hint
            .is_some_and(|hint| hint.contains("not affected"))
    );
    assert!(store.is_news() && !store.is_news());
}

#[tokio::test]
async fn a_newer_store_is_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("store.db");
    let newer = Connection::open(&file).expect("a file");
    newer
        .execute_batch("PRAGMA user_version = 999")
        .expect("written");
    let failure = open(dir.path())
        .runs(PLACE, &all(1))
        .await
        .expect_err("refused");
    assert!(failure.message.contains("newer sandtop"), "{failure}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let writers = (0..10).map(|writer| {
        let dir = dir.path().to_path_buf();
        tokio::spawn(async move {
            let store = open(&dir);
            for n in 0..40 {
                let run = run(&format!("w{writer}n{n}"));
                store.begin_run(PLACE, &run).await?;
                store
                    .touch(PLACE, &run.sandbox.id, "box", Moment::now())
                    .await?;
                store
                    .end_run(&run.id, &result(Ended::Code(0)), None)
                    .await?;
            }
            Ok::<_, Failure>(())
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer
            .await
            .expect("no panic")
            .expect("no trouble with locks");
    }
    let runs = open(dir.path())
        .runs(PLACE, &all(1000))
        .await
        .expect("read");
    assert_eq!(runs.len(), 400);
    assert!(runs.iter().all(|run| run.status() == "ok"));
}

#[tokio::test]
async fn last_use_only_goes_forward() {
    let store = Store::open(None);
    let (id, now) = (SandboxId::new("a"), Moment::now());
    let later = Moment {
        // The wall's clock was set back meanwhile.
        wall: now.wall - TimeDelta::hours(5),
        since_boot_ms: now.since_boot_ms + 10,
        ..now.clone()
    };
    for at in [&now, &later, &now] {
        store
            .touch(PLACE, &id, "box", at.clone())
            .await
            .expect("written");
    }
    let memory = store.memory(PLACE).await.expect("read");
    let known = memory.uses.get(&id).map(|(at, _)| at.since_boot_ms);
    assert_eq!(known, Some(later.since_boot_ms));
    store.pin(PLACE, &id, "me").await.expect("written");
    assert!(
        store
            .memory(PLACE)
            .await
            .expect("read")
            .pinned
            .contains(&id)
    );
    store.forget_use(PLACE, &id).await.expect("written");
    assert_eq!(store.memory(PLACE).await, Ok(Memory::default()));
}

#[tokio::test]
async fn old_runs_and_too_much_output_go_the_oldest_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let spools = dir.path().join("runs");
    fs::create_dir(&spools).expect("a folder");
    let keep = Retention {
        days: 10,
        total_bytes: 250,
        run_bytes: 100,
    };
    let store = Store::open(Some(dir.path())).keeping(keep);
    for (id, days) in [("old", 20), ("c", 3), ("b", 2), ("a", 1)] {
        let mut run = run(id);
        run.started_at = Utc::now() - TimeDelta::days(days);
        store.begin_run(PLACE, &run).await.expect("written");
        let spooled = Spooled {
            stdout: 100,
            ..Spooled::default()
        };
        let end = result(Ended::Code(0));
        store
            .end_run(&run.id, &end, Some(spooled))
            .await
            .expect("written");
        fs::write(spools.join(id), "x").expect("writable");
    }
    // A process that runs something later sweeps; the first one did so when there was nothing yet.
    store
        .ask(|db| db.execute("DELETE FROM notes", []).map(drop))
        .await
        .expect("written");
    let next = Store::open(Some(dir.path())).keeping(keep);
    next.begin_run(PLACE, &run("new")).await.expect("written");
    let end = Instant::now() + Duration::from_secs(20);
    let mut left = next.runs(PLACE, &all(9)).await.expect("read");
    while left.len() > 3 && Instant::now() < end {
        left = next.runs(PLACE, &all(9)).await.expect("read");
    }
    let ids: Vec<&str> = left.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["new", "a", "b"]);
    let mut files = names(&spools);
    files.sort();
    assert_eq!(files, ["a", "b"]);
}
