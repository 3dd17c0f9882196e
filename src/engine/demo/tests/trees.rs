//! Files and trees in and out.

use super::*;

#[tokio::test(start_paused = true)]
async fn files_are_replaced_only_by_content_that_ended_well() {
    let bench = Bench::new();
    let whole: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    bench
        .write("/workspace/x", vec![Ok(whole.clone().into())])
        .await
        .expect("a write");
    let broken = vec![Ok("half".into()), Err(EngineError::internal("cut"))];
    assert_eq!(
        kind(bench.write("/workspace/x", broken).await),
        Some(FailureKind::Internal)
    );
    assert_eq!(bench.read("/workspace/x").await.expect("a file"), whole);
    let lost = bench.write("/nope/x", vec![Ok("x".into())]).await;
    assert_eq!(kind(lost), Some(FailureKind::NotFound));
    let error = bench.read("/workspace").await.expect_err("a directory");
    assert_eq!(error.kind, FailureKind::Invalid);
    assert!(error.message.contains("is a directory"));
    let mut some = bench
        .engine
        .read(&bench.id, &path("/workspace/x"), Some(7))
        .await
        .expect("a file");
    assert_eq!(some.next().await.expect("a piece").expect("bytes").len(), 7);
}

#[tokio::test(start_paused = true)]
async fn trees_go_in_and_come_out_the_same() {
    let bench = Bench::new();
    bench
        .sh("mkdir -p t/empty t/d; echo x > t/d/f; echo y > 't/d/a b'")
        .await;
    let packed = bench
        .engine
        .pack(&bench.id, &path("/workspace/t"))
        .await
        .expect("a tree");
    let mut items: Vec<TreeItem> = packed.map(|item| item.expect("an item")).collect().await;
    let TreeItem::Entry(root) = items.first().expect("a root").clone() else {
        unreachable!("a tree starts with an entry");
    };
    let link = FileEntry {
        name: b"\xff\n".to_vec(),
        kind: FileKind::Symlink {
            target: b"d/f".to_vec(),
        },
        size: 3,
        ..root
    };
    items.push(TreeItem::Entry(link));
    let tree = stream::iter(items.clone()).map(Ok).boxed();
    let place = path("/workspace/copy");
    bench
        .engine
        .unpack(&bench.id, &place, tree)
        .await
        .expect("a copy");
    let again = bench.engine.pack(&bench.id, &place).await.expect("a tree");
    let again: Vec<TreeItem> = again.map(|item| item.expect("an item")).collect().await;
    assert_eq!(again, items);
    let through = SandboxPath::parse(b"/workspace/copy/\xff\n").expect("a path");
    assert!(bench.engine.read(&bench.id, &through, None).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn trees_that_climb_are_refused_whole() {
    let bench = Bench::new();
    let stat = FileOp::Stat(path("/workspace"));
    let root = bench
        .engine
        .file(&bench.id, &stat)
        .await
        .expect("an entry")
        .remove(0);
    for name in [&b"../x"[..], b"/etc/x", b"missing/x"] {
        let root = FileEntry {
            name: Vec::new(),
            ..root.clone()
        };
        let bad = FileEntry {
            name: name.to_vec(),
            kind: FileKind::File,
            ..root.clone()
        };
        let items = [root, bad].map(|entry| Ok(TreeItem::Entry(entry)));
        let place = path("/workspace/new");
        let tree = stream::iter(items).boxed();
        assert!(bench.engine.unpack(&bench.id, &place, tree).await.is_err());
        let listed = bench.engine.file(&bench.id, &FileOp::List(place)).await;
        assert_eq!(kind(listed), Some(FailureKind::NotFound));
    }
}
