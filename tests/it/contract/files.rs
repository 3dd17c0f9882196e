//! Clauses 14 and 16: files go in and come out.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use sandtop::domain::FileKind;
use sandtop::engine::EngineError;
use sandtop::protocol::{FailureKind, FileOp};

use crate::support::{Fixture, HEAVY, kind, noise, pieces, refused, sandbox_path, wait_until};

const ODD_NAMES: [&[u8]; 14] = [
    b"plain.txt",
    b" with spaces ",
    b"quo'te\"s",
    b"new\nline",
    b"\xff\xfe\x80",
    "gr\u{fc}n-\u{1f980}".as_bytes(),
    b"-rf",
    b"%41%",
    b"back\\slash",
    b".hidden",
    b"*",
    b"$HOME`id`",
    b"tab\tescape\x1b[31m",
    b"\x01\x7f",
];

pub async fn c14_what_is_written_is_read_again(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for folder in ["/workspace", "/tmp"] {
        let file = format!("{folder}/file");
        let file = file.as_bytes();
        for content in [&b""[..], b"x", b"no newline", &noise(100_000)] {
            bench.write(file, content.to_vec()).await.expect("a write");
            assert!(bench.read(file, None).await.expect("a read") == content);
            let entry = bench.stat(file).await.expect("an entry");
            assert_eq!(
                (entry.size, entry.kind),
                (content.len() as u64, FileKind::File)
            );
            assert_eq!((entry.mode, entry.uid, entry.gid), (0o644, 1000, 1000));
        }
        let whole = noise(100_000);
        for limit in [0, 1, 65_536, 99_999, 100_000, 200_000] {
            let read = bench.read(file, Some(limit as u64)).await.expect("a read");
            assert!(read == whole[..limit.min(whole.len())], "limit {limit}");
        }
    }
    // Commands see the same file.
    bench
        .write(b"/workspace/seen", "from outside")
        .await
        .expect("a write");
    assert_eq!(
        bench.run(&["cat", "/workspace/seen"]).await.text(),
        "from outside"
    );
}

pub async fn c14_what_commands_write_is_read(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.sh("echo inside > /workspace/seen").await;
    assert_eq!(
        bench.read(b"/workspace/seen", None).await.expect("a read"),
        b"inside\n"
    );
}

/// Weaker: everything is writable, up to a size.
pub async fn c17_full_files_say_so(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench.write(b"/etc/f", "old").await.expect("a write");
    let full = bench.write(b"/etc/f", vec![0; 65 << 20]).await;
    refused(full, FailureKind::NoSpace);
    assert_eq!(bench.read(b"/etc/f", None).await.expect("a read"), b"old");
}

pub async fn c14_names_of_any_bytes_survive(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let folder = sandbox_path(b"/workspace")
        .join(b"odd \xff\n'dir")
        .expect("a path");
    bench
        .file(FileOp::MakeDir(folder.clone()))
        .await
        .expect("a folder");
    for name in ODD_NAMES {
        let path = folder.join(name).expect("a path");
        bench.write(path.as_bytes(), name).await.expect("a write");
        assert_eq!(
            bench.read(path.as_bytes(), None).await.expect("a read"),
            name
        );
        assert_eq!(
            bench.stat(path.as_bytes()).await.expect("an entry").name,
            name
        );
    }
    let mut names = ODD_NAMES.map(<[u8]>::to_vec).to_vec();
    names.sort();
    let listed = bench.ls(folder.as_bytes()).await.expect("a list");
    assert_eq!(
        listed
            .into_iter()
            .map(|entry| entry.name)
            .collect::<Vec<_>>(),
        names
    );
    let moved = folder.join(b"moved \"\n\xfe").expect("a path");
    let from = folder.join(ODD_NAMES[4]).expect("a path");
    let rename = FileOp::Rename {
        from,
        to: moved.clone(),
    };
    bench.file(rename).await.expect("a move");
    assert_eq!(
        bench.read(moved.as_bytes(), None).await.expect("a read"),
        ODD_NAMES[4]
    );
    bench
        .file(FileOp::Delete {
            path: folder,
            recursive: true,
        })
        .await
        .expect("a deletion");
}

pub async fn c14_large_files_survive(fixture: &Fixture) {
    let _heavy = HEAVY.lock().await;
    let bench = fixture.sandbox().await;
    let large = noise(8 << 20);
    for file in [&b"/workspace/large"[..], b"/tmp/large"] {
        bench.write(file, large.clone()).await.expect("a write");
        assert!(bench.read(file, None).await.expect("a read") == large);
        // Reading only a part leaves nothing behind that could disturb the next call.
        let part = bench.read(file, Some(5_000_000)).await.expect("a read");
        assert!(part == large[..5_000_000]);
    }
    let reading = fixture
        .engine
        .read(&bench.id, &sandbox_path(b"/workspace/large"), None)
        .await;
    let mut reading = reading.expect("a read");
    assert!(reading.next().await.is_some_and(|piece| piece.is_ok()));
    drop(reading);
    assert_eq!(bench.run(&["echo", "fine"]).await.text(), "fine");
}

pub async fn c14_files_are_replaced_whole(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .file(FileOp::MakeDir(sandbox_path(b"/workspace/d")))
        .await
        .expect("a folder");
    let file = b"/workspace/d/f";
    bench
        .write_with(file, Some(0o750), pieces("old"))
        .await
        .expect("a write");
    let broken = [
        Ok(Bytes::from(vec![b'n'; 100_000])),
        Err(EngineError::internal("the source broke")),
    ];
    let error = bench
        .write_with(file, None, stream::iter(broken).boxed())
        .await;
    let error = error.expect_err("the source's error");
    assert_eq!(error.message, "the source broke");
    assert_eq!(bench.read(file, None).await.expect("a read"), b"old");
    wait_until("nothing else is left", async || {
        bench.ls(b"/workspace/d").await.expect("a list").len() == 1
    })
    .await;
    // The mode stays, and can be changed.
    bench.write(file, "new").await.expect("a write");
    assert_eq!(bench.stat(file).await.expect("an entry").mode, 0o750);
    bench
        .write_with(file, Some(0o600), pieces("newer"))
        .await
        .expect("a write");
    assert_eq!(bench.stat(file).await.expect("an entry").mode, 0o600);
    // A name that ends up nowhere is not made by a source that breaks.
    let broken = [Err(EngineError::internal("the source broke"))];
    let fresh = b"/workspace/d/fresh";
    bench
        .write_with(fresh, None, stream::iter(broken).boxed())
        .await
        .expect_err("an error");
    assert_eq!(kind(&bench.stat(fresh).await), Some(FailureKind::NotFound));
}

pub async fn c14_files_move_and_go(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let path = |name: &str| sandbox_path(format!("/workspace/{name}").as_bytes());
    bench
        .file(FileOp::MakeDir(path("a/b/c")))
        .await
        .expect("folders");
    bench
        .file(FileOp::MakeDir(path("a/b/c")))
        .await
        .expect("the same again");
    bench
        .write(b"/workspace/a/b/f", "f")
        .await
        .expect("a write");
    bench
        .file(FileOp::Rename {
            from: path("a/b"),
            to: path("z"),
        })
        .await
        .expect("a move");
    assert_eq!(
        bench.read(b"/workspace/z/f", None).await.expect("a read"),
        b"f"
    );
    let one = |name| FileOp::Delete {
        path: path(name),
        recursive: false,
    };
    refuses(&bench.file(one("z")).await, FailureKind::Conflict);
    bench.file(one("z/f")).await.expect("a deletion");
    bench.file(one("z/c")).await.expect("a deletion");
    bench.file(one("z")).await.expect("a deletion");
    let names: Vec<_> = bench.ls(b"/workspace").await.expect("a list");
    assert_eq!(
        names
            .into_iter()
            .map(|e| (e.name, e.kind))
            .collect::<Vec<_>>(),
        [(b"a".to_vec(), FileKind::Directory)]
    );
}

pub async fn c14_only_the_work_directory_and_tmp_are_writable(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for place in [
        "/x",
        "/etc/passwd",
        "/bin/x",
        "/root/x",
        "/sys/x",
        "/.sandtop/guest",
    ] {
        let written = bench.write(place.as_bytes(), "x").await;
        refused(written, FailureKind::Denied);
    }
    let made = bench.file(FileOp::MakeDir(sandbox_path(b"/new"))).await;
    refused(made, FailureKind::Denied);
    refused(bench.ls(b"/root").await, FailureKind::Denied);
    let delete = FileOp::Delete {
        path: sandbox_path(b"/bin/sh"),
        recursive: false,
    };
    refused(bench.file(delete).await, FailureKind::Denied);
    assert_eq!(bench.run(&["echo", "unharmed"]).await.text(), "unharmed");
}

fn refuses<T>(result: &sandtop::engine::Result<T>, expected: FailureKind) {
    assert_eq!(kind(result), Some(expected));
}

pub async fn c16_wrong_paths_are_errors_of_the_right_kind(fixture: &Fixture) {
    use FailureKind::{Invalid, NotFound};
    let bench = fixture.sandbox().await;
    bench.write(b"/workspace/f", "f").await.expect("a write");
    refuses(&bench.read(b"/workspace", None).await, Invalid);
    refuses(&bench.read(b"/workspace/none", None).await, NotFound);
    refuses(&bench.read(b"/workspace/f/x", None).await, Invalid);
    refuses(&bench.write(b"/workspace", "x").await, Invalid);
    refuses(&bench.write(b"/workspace/f/x", "x").await, Invalid);
    refuses(&bench.ls(b"/workspace/f").await, Invalid);
    refuses(&bench.ls(b"/workspace/none").await, NotFound);
    refuses(&bench.stat(b"/workspace/none").await, NotFound);
    let none = sandbox_path(b"/workspace/none");
    let delete = FileOp::Delete {
        path: none.clone(),
        recursive: true,
    };
    refuses(&bench.file(delete).await, NotFound);
    let rename = FileOp::Rename {
        from: none,
        to: sandbox_path(b"/workspace/to"),
    };
    refuses(&bench.file(rename).await, NotFound);
    let over = FileOp::Rename {
        from: sandbox_path(b"/workspace/f"),
        to: sandbox_path(b"/workspace/none/f"),
    };
    refuses(&bench.file(over).await, NotFound);
    // A failed write must not read its content to the end first.
    let endless = stream::repeat_with(|| Ok(Bytes::from_static(&[0; 4096]))).boxed();
    refuses(
        &bench.write_with(b"/workspace/f/x/y", None, endless).await,
        Invalid,
    );
    assert_eq!(bench.ls(b"/workspace").await.expect("a list").len(), 1);
}

pub async fn c16_missing_folders_are_made_for_a_file(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let file = b"/workspace/new/deep/f";
    bench.write(file, "x").await.expect("a write");
    assert_eq!(bench.read(file, None).await.expect("a read"), b"x");
    let folder = bench.stat(b"/workspace/new").await.expect("an entry");
    assert_eq!(
        (folder.kind, folder.mode, folder.uid),
        (FileKind::Directory, 0o755, 1000)
    );
    // A file that does not come leaves none of its folders, and nothing of the others' goes.
    let broken = [Err(EngineError::internal("the source broke"))];
    bench
        .write_with(
            b"/workspace/new/more/deep/f",
            None,
            stream::iter(broken).boxed(),
        )
        .await
        .expect_err("the source's error");
    wait_until("the folders are gone", async || {
        bench.ls(b"/workspace/new").await.expect("a list").len() == 1
    })
    .await;
}
