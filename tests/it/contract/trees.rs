//! Clause 15: whole trees.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use futures_util::stream;
use sandtop::domain::{Ended, FileEntry, FileKind, SandboxId, TreeItem};
use sandtop::engine::{EngineError, Result};
use sandtop::protocol::FailureKind;

use crate::support::{Bench, Fixture, kind, noise, sandbox_path, soon, wait_until};

/// What matters of a tree: names, kinds, modes, times of files, and content.
type Planted = Vec<(Vec<u8>, FileKind, Option<(u32, i64)>, Vec<u8>)>;

fn modified() -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 0).expect("a time")
}

fn entry(name: &[u8], kind: FileKind, mode: u32, size: usize) -> TreeItem {
    TreeItem::Entry(FileEntry {
        name: name.to_vec(),
        kind,
        size: size as u64,
        mode,
        uid: 1000,
        gid: 1000,
        modified_at: modified(),
    })
}

fn folder(name: &[u8], mode: u32) -> Vec<TreeItem> {
    vec![entry(name, FileKind::Directory, mode, 0)]
}

fn link(name: &[u8], target: &[u8]) -> Vec<TreeItem> {
    let target = target.to_vec();
    vec![entry(name, FileKind::Symlink { target }, 0o777, 0)]
}

fn file(name: &[u8], mode: u32, content: &[u8]) -> Vec<TreeItem> {
    let mut items = vec![entry(name, FileKind::File, mode, content.len())];
    let pieces = content.chunks(70_000).map(Bytes::copy_from_slice);
    items.extend(pieces.map(TreeItem::Data));
    items
}

/// Puts entries and their data together, sorted, without what cannot be kept.
fn planted(items: &[TreeItem]) -> Planted {
    let mut all: Planted = Vec::new();
    for item in items {
        match item {
            TreeItem::Entry(entry) => {
                let time = match entry.kind {
                    FileKind::File => entry.modified_at.timestamp(),
                    _ => 0,
                };
                let is_link = matches!(entry.kind, FileKind::Symlink { .. });
                let facts = (!is_link).then_some((entry.mode & 0o777, time));
                all.push((entry.name.clone(), entry.kind.clone(), facts, Vec::new()));
            }
            TreeItem::Data(bytes) => {
                let (_, kind, _, content) = all.last_mut().expect("an entry first");
                assert_eq!(*kind, FileKind::File);
                content.extend_from_slice(bytes);
            }
            TreeItem::Unreadable(name) => panic!("{name:?} could not be read"),
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

async fn unpack(bench: &Bench<'_>, path: &[u8], items: &[TreeItem]) -> Result<()> {
    let items: Vec<_> = items.iter().cloned().map(Ok).collect();
    let path = sandbox_path(path);
    let engine = &bench.fixture.engine;
    let tree = stream::iter(items).boxed();
    soon("unpacking", engine.unpack(&bench.id, &path, tree)).await
}

async fn pack(bench: &Bench<'_>, path: &[u8]) -> Vec<TreeItem> {
    let engine = &bench.fixture.engine;
    soon("packing", async {
        let tree = engine
            .pack(&bench.id, &sandbox_path(path))
            .await
            .expect("a tree");
        tree.map(|item| item.expect("no error")).collect().await
    })
    .await
}

fn tree() -> Vec<TreeItem> {
    let mut deep = Vec::new();
    for depth in 1..=60 {
        deep.extend(folder(&vec![&b"d"[..]; depth].join(&b'/'), 0o755));
    }
    let below = [vec![&b"d"[..]; 60].join(&b'/'), b"/bottom".to_vec()].concat();
    [
        folder(b"", 0o755),
        folder(b"empty", 0o755),
        folder(b"empty/also empty", 0o700),
        folder(b"full", 0o555),
        file(b"full/zero", 0o600, b""),
        file(b"full/run.sh", 0o755, b"#!/bin/sh\necho ran\n"),
        file(b"full/secret", 0o400, b"s"),
        file(b"odd \xff\n'\"name", 0o644, &(0..=255).collect::<Vec<u8>>()),
        file(b"large", 0o644, &noise(300_000)),
        link(b"to-file", b"full/run.sh"),
        link(b"to-folder", b"full"),
        link(b"dangling", b"/no/such \xfe"),
        link(b"up", b"../.."),
        deep,
        file(&below, 0o644, b"deep"),
    ]
    .concat()
}

pub async fn c15_trees_come_out_as_they_went_in(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let sent = tree();
    for place in [&b"/workspace/tree"[..], b"/tmp/tree"] {
        unpack(&bench, place, &sent)
            .await
            .expect("an unpacked tree");
        let came = pack(&bench, place).await;
        let TreeItem::Entry(root) = &came[0] else {
            panic!("the root comes first");
        };
        assert_eq!(
            (root.name.as_slice(), &root.kind),
            (&b""[..], &FileKind::Directory)
        );
        assert_parents_come_first(&came);
        let (came, sent) = (planted(&came), planted(&sent));
        for (came, sent) in came.iter().zip(&sent) {
            assert!(
                came == sent,
                "{:?} {:?}: {:?} {:?}",
                came.0,
                came.1,
                came.2,
                sent.2
            );
        }
        assert_eq!(came.len(), sent.len());
    }
    let ran = bench.read(b"/workspace/tree/to-folder/run.sh", None).await;
    assert!(ran.expect("a read").starts_with(b"#!/bin/sh"));
    // Over itself, with a link where a file was: the link is replaced, not written through.
    bench
        .write(b"/workspace/victim", "kept")
        .await
        .expect("a write");
    unpack(
        &bench,
        b"/workspace/over",
        &[folder(b"", 0o755), link(b"f", b"../victim")].concat(),
    )
    .await
    .expect("a tree");
    unpack(
        &bench,
        b"/workspace/over",
        &[folder(b"", 0o755), file(b"f", 0o644, b"new")].concat(),
    )
    .await
    .expect("a tree");
    assert_eq!(
        bench
            .read(b"/workspace/over/f", None)
            .await
            .expect("a read"),
        b"new"
    );
    assert_eq!(
        bench
            .read(b"/workspace/victim", None)
            .await
            .expect("a read"),
        b"kept"
    );
}

fn assert_parents_come_first(items: &[TreeItem]) {
    let mut seen: Vec<&[u8]> = Vec::new();
    for item in items {
        if let TreeItem::Entry(entry) = item {
            if let Some(slash) = entry.name.iter().rposition(|b| *b == b'/') {
                assert!(seen.contains(&&entry.name[..slash]), "{:?}", entry.name);
            }
            seen.push(&entry.name);
        }
    }
}

/// Tries to copy a tree in.
pub async fn try_a_tree(fixture: &Fixture) -> EngineError {
    let bench = fixture.sandbox().await;
    let unpacked = unpack(&bench, b"/workspace/tree", &tree()).await;
    unpacked.expect_err("an error")
}

pub async fn c15_one_file_is_a_tree(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let sent = file(b"", 0o640, b"alone");
    unpack(&bench, b"/workspace/one", &sent)
        .await
        .expect("a tree");
    assert_eq!(
        planted(&pack(&bench, b"/workspace/one").await),
        planted(&sent)
    );
    unpack(&bench, b"/workspace/one", &file(b"", 0o600, b"replaced"))
        .await
        .expect("a tree");
    assert_eq!(
        bench.read(b"/workspace/one", None).await.expect("a read"),
        b"replaced"
    );
    let left = bench.ls(b"/workspace").await.expect("a list");
    let names: Vec<_> = left.iter().map(|entry| entry.name.as_slice()).collect();
    assert_eq!(names, [b"one"], "nothing is left of the change");
    let (engine, none) = (&fixture.engine, sandbox_path(b"/workspace/none"));
    for id in [&bench.id, &SandboxId::new("0123456789abcdef")] {
        let missing = engine.pack(id, &none).await;
        assert_eq!(kind(&missing), Some(FailureKind::NotFound));
    }
}

pub async fn c16_missing_folders_are_made_for_a_tree(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for sent in [file(b"", 0o640, b"alone"), tree()] {
        unpack(&bench, b"/workspace/new/deep/tree", &sent)
            .await
            .expect("a tree");
        let came = pack(&bench, b"/workspace/new/deep/tree").await;
        assert_eq!(planted(&came).len(), planted(&sent).len());
        let gone = ["rm", "-rf", "/workspace/new"];
        bench.run(&["chmod", "-R", "u+w", "/workspace/new"]).await;
        assert_eq!(bench.run(&gone).await.end.ended, Ended::Code(0));
    }
    let cut = [folder(b"", 0o755), file(b"f", 0o644, b"x")].concat();
    let broken = EngineError::internal("the source broke");
    let items: Vec<_> = cut.into_iter().map(Ok).chain([Err(broken)]).collect();
    let path = sandbox_path(b"/workspace/new/deep/tree");
    let tree = stream::iter(items).boxed();
    let sent = fixture.engine.unpack(&bench.id, &path, tree).await;
    assert_eq!(sent.expect_err("an error").message, "the source broke");
    wait_until("the folders are gone", async || {
        bench.ls(b"/workspace").await.expect("a list").is_empty()
    })
    .await;
}

pub async fn c16_errors_say_the_asked_name(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let sent = [
        folder(b"", 0o755),
        file(b"f", 0o644, b"x"),
        file(b"f/g", 0o644, b"x"),
    ]
    .concat();
    let error = unpack(&bench, b"/workspace/tree", &sent).await;
    let message = error.expect_err("an error").message;
    assert_eq!(message, "/workspace/tree/f/g: is not a directory");
    let full = file(b"", 0o644, &noise(2 << 20));
    let mut spec = fixture.spec("tiny");
    spec.tmp_bytes = 1 << 20;
    let bench = fixture.create(&spec).await;
    let error = unpack(&bench, b"/tmp/full", &full).await;
    let message = error.expect_err("an error").message;
    assert_eq!(message, "/tmp/full: no space left");
}

/// Engines may have a faster way for big files, which must not see other files than the sandbox does.
pub async fn c15_a_big_file_is_the_one_that_the_sandbox_sees(fixture: &Fixture) {
    let mut spec = fixture.spec("big");
    spec.tmp_bytes = 64 << 20;
    let bench = fixture.create(&spec).await;
    let content = noise(17 << 20);
    let name = "big \u{e9} ".to_owned() + &"n".repeat(120);
    for place in ["/workspace", "/tmp"] {
        let path = format!("{place}/{name}");
        let sent = file(b"", 0o640, &content);
        unpack(&bench, path.as_bytes(), &sent)
            .await
            .expect("a write");
        let got = pack(&bench, path.as_bytes()).await;
        assert!(planted(&got) == planted(&sent), "{path} differs");
    }
    bench
        .run(&["ln", "-s", "/tmp", "/workspace/memory"])
        .await
        .text();
    let got = pack(&bench, format!("/workspace/memory/{name}").as_bytes()).await;
    assert_eq!(planted(&got)[0].3.len(), content.len());
}

pub async fn c15_names_that_climb_are_refused(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .write(b"/workspace/victim", "kept")
        .await
        .expect("a write");
    for name in [
        &b"../victim"[..],
        b"/workspace/victim",
        b"a/../../victim",
        b"..",
    ] {
        let items = [
            folder(b"", 0o755),
            folder(b"a", 0o755),
            file(name, 0o644, b"bad"),
        ]
        .concat();
        let refused = unpack(&bench, b"/workspace/tree", &items).await;
        let shown = name.escape_ascii();
        assert_eq!(kind(&refused), Some(FailureKind::Invalid), "{shown}");
        let victim = bench.read(b"/workspace/victim", None).await;
        assert_eq!(victim.expect("a read"), b"kept", "{shown}");
    }
}
