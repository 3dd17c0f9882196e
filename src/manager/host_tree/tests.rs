//! Trees of the host, there and back.

use std::fs;
use std::os::unix::fs::symlink;

use chrono::DateTime;
use futures_util::StreamExt;

use super::write::write_all;
use super::*;
use crate::domain::{FileEntry, FileKind, TreeItem};

fn entry(name: &[u8], kind: FileKind) -> TreeItem {
    TreeItem::Entry(FileEntry {
        name: name.to_vec(),
        kind,
        size: 0,
        mode: 0o755,
        uid: 0,
        gid: 0,
        modified_at: DateTime::UNIX_EPOCH,
    })
}

fn link(target: &str) -> FileKind {
    FileKind::Symlink {
        target: target.as_bytes().to_vec(),
    }
}

fn write_items(to: &Path, items: Vec<TreeItem>) -> Result<(), EngineError> {
    write_all(to.to_path_buf(), items.into_iter().map(Ok), || true)
}

#[tokio::test]
async fn a_tree_survives_the_way_out_and_in() {
    let dir = tempfile::tempdir().expect("a folder");
    let from = dir.path().join("from");
    fs::create_dir_all(from.join("empty")).expect("a folder");
    fs::write(from.join("a 'quoted'\nname"), vec![7; 600_000]).expect("a file");
    symlink("a 'quoted'\nname", from.join("link")).expect("a link");
    let to = dir.path().join("to");
    write(to.clone(), read(from.clone())).await.expect("a copy");
    assert_eq!(
        fs::read(to.join("a 'quoted'\nname")).expect("a file"),
        vec![7; 600_000]
    );
    assert!(to.join("empty").is_dir());
    assert_eq!(
        fs::read_link(to.join("link")).expect("a link"),
        Path::new("a 'quoted'\nname")
    );
}

#[test]
fn names_that_leave_the_destination_are_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("to");
    for bad in [&b"../evil"[..], b"/etc/evil", b"a/../../evil"] {
        let items = vec![entry(b"", FileKind::Directory), entry(bad, FileKind::File)];
        let error = write_items(&to, items).expect_err("a refusal");
        assert_eq!(error.kind, FailureKind::Denied);
    }
    assert_eq!(fs::read_dir(dir.path()).expect("a listing").count(), 0);
}

#[test]
fn nothing_is_written_through_links_of_this_or_an_earlier_copy() {
    let dir = tempfile::tempdir().expect("a folder");
    let (to, outside) = (dir.path().join("to"), dir.path().join("outside"));
    fs::create_dir(&outside).expect("a folder");
    let out = outside.display().to_string();
    let attack = || {
        vec![
            entry(b"", FileKind::Directory),
            entry(b"d", link(&out)),
            entry(b"d/evil", FileKind::File),
        ]
    };
    assert!(write_items(&to, attack()).is_err());
    let first = vec![entry(b"", FileKind::Directory), entry(b"d", link(&out))];
    write_items(&to, first).expect("a copy with a link");
    assert_eq!(
        write_items(&to, attack()).map_err(|e| e.kind),
        Err(FailureKind::Denied)
    );
    assert_eq!(fs::read_dir(&outside).expect("a listing").count(), 0);
}

#[test]
fn an_interrupted_copy_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let items = [
        Ok(entry(b"", FileKind::Directory)),
        Ok(entry(b"a", FileKind::File)),
        Err(EngineError::internal("cut")),
    ];
    assert!(write_all(dir.path().join("to"), items.into_iter(), || true).is_err());
    assert_eq!(fs::read_dir(dir.path()).expect("a listing").count(), 0);
}

#[test]
fn missing_folders_are_made_and_go_again_if_nothing_comes() {
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("new/deep/to");
    let cut = [
        Ok(entry(b"", FileKind::File)),
        Err(EngineError::internal("cut")),
    ];
    assert!(write_all(to.clone(), cut.into_iter(), || true).is_err());
    assert_eq!(fs::read_dir(dir.path()).expect("a listing").count(), 0);
    write_items(&to, vec![entry(b"", FileKind::File)]).expect("a copy");
    assert!(to.is_file());
}

#[test]
fn errors_say_the_asked_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("to");
    let items = vec![
        entry(b"", FileKind::Directory),
        entry(b"f", FileKind::File),
        entry(b"f/g", FileKind::File),
    ];
    let error = write_items(&to, items).expect_err("an error");
    let asked = to.join("f/g").display().to_string();
    assert!(error.message.starts_with(&asked), "{}", error.message);
}

#[tokio::test]
async fn a_copy_that_is_called_off_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("to");
    let endless = futures_util::stream::iter([
        Ok(entry(b"", FileKind::File)),
        Ok(TreeItem::Data("half".into())),
    ])
    .chain(futures_util::stream::pending());
    let writing = write(to.clone(), endless.boxed());
    let is_there = async {
        while fs::read_dir(dir.path()).expect("a listing").count() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = writing => panic!("{outcome:?}"),
        () = is_there => {}
    }
    let grows = || {
        let listing = fs::read_dir(dir.path()).expect("a listing").flatten();
        listing.into_iter().any(|found| found.path() != to)
    };
    while grows() {
        tokio::task::yield_now().await;
    }
    assert!(!to.exists());
}
