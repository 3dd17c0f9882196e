//! Hostile layers: whatever one holds, nothing is written outside of the new root.

#![allow(clippy::indexing_slicing)] // Tests may panic.

use std::fs;

use crate::fuzz::Target;

use super::*;

const CANARY: &str = "outside";

/// A layer with a folder, a file, links out of the root, and names that hide.
fn seed() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, kind: EntryType, target: Option<&str>| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(if kind.is_file() { 3 } else { 0 });
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        if let Some(target) = target {
            header.set_link_name(target).expect("a target");
        }
        header.set_cksum();
        let content: &[u8] = if kind.is_file() { b"abc" } else { b"" };
        builder.append(&header, content).expect("an entry");
    };
    add("d/", EntryType::Directory, None);
    add("d/f", EntryType::Regular, None);
    add("l", EntryType::Symlink, Some("../"));
    add("l/x", EntryType::Regular, None);
    add("h", EntryType::Link, Some("d/f"));
    add("d/.wh.f", EntryType::Regular, None);
    add("d/.wh..wh..opq", EntryType::Regular, None);
    builder.into_inner().expect("a layer")
}

/// Mutants of headers rarely have a sum that fits, so it is made to.
fn with_sums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for block in bytes.chunks_exact_mut(512) {
        if block.get(257..262) == Some(b"ustar") {
            let mut header = tar::Header::new_gnu();
            header.as_mut_bytes().copy_from_slice(block);
            header.set_cksum();
            block.copy_from_slice(header.as_bytes());
        }
    }
    bytes
}

#[test]
fn layers() {
    let place = tempfile::tempdir().expect("a folder");
    fs::write(place.path().join(CANARY), CANARY).expect("written");
    let root = place.path().join("root");
    let seed = seed();
    let target = Target {
        name: "layers",
        seeds: &[&seed],
        words: &[
            b"../",
            b"/",
            b"..",
            b".wh.",
            b".wh..wh..opq",
            b"./",
            b"\0",
            b"l/",
            b"2",
            b"1",
            b"5",
        ],
        cost: 50,
    };
    target.run(|bytes| {
        fs::create_dir(&root).expect("made");
        let mut builder = RootBuilder::begin(&root).expect("begun");
        let answer = builder.add_tar(&with_sums(bytes)[..]);
        let mut outside: Vec<_> = fs::read_dir(place.path())
            .expect("listed")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        outside.sort();
        assert_eq!(outside, [CANARY, "root"], "nothing else is there");
        assert_eq!(
            fs::read(place.path().join(CANARY)).expect("there"),
            CANARY.as_bytes()
        );
        let _ = remove(&open(place.path()), b"root", MOST_STEPS);
        answer.map_err(|error| error.to_string().len() / 4)
    });
}

fn open(folder: &Path) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty()).expect("opened")
}
