//! Hostile archives, as an engine that lies or breaks may send them.

#![allow(clippy::indexing_slicing)] // Tests may panic.

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};

use super::{archive, paused_files};
use crate::engine::Result;
use crate::fuzz::{Target, kind_of};

/// An archive with a file, a link and a long name.
fn seed() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind) in [
        ("a".to_owned(), tar::EntryType::Regular),
        ("./l".to_owned(), tar::EntryType::Symlink),
        ("n".repeat(150), tar::EntryType::Regular),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mtime(1_700_000_000);
        if kind.is_symlink() {
            header.set_size(0);
            builder
                .append_link(&mut header, name, "../t")
                .expect("a link");
        } else {
            header.set_size(5);
            builder
                .append_data(&mut header, name, &b"hello"[..])
                .expect("a file");
        }
    }
    builder.into_inner().expect("an archive")
}

/// Reads the first file, as for a download.
async fn download(bytes: Vec<u8>) -> Result<usize> {
    let pieces: Vec<_> = bytes
        .chunks(700)
        .map(|piece| Ok(Bytes::copy_from_slice(piece)))
        .collect();
    let (size, pieces) = archive::content(stream::iter(pieces).boxed()).await?;
    let mut pieces = archive::whole(pieces, size);
    let mut length = 0;
    while let Some(piece) = pieces.next().await {
        length += piece?.len();
    }
    assert_eq!(length as u64, size, "no more and no less than was said");
    Ok(length)
}

/// Lists everything, as for a paused sandbox.
fn list(bytes: &[u8]) -> std::io::Result<usize> {
    let mut archive = tar::Archive::new(bytes);
    let mut count = 0;
    for entry in archive.entries()? {
        let entry = entry?;
        let name = entry.path_bytes().into_owned();
        count += paused_files::describe(name, &entry).name.len();
    }
    Ok(count)
}

#[test]
fn archive() {
    let seed = seed();
    let target = Target {
        name: "archive",
        seeds: &[&seed, &seed[1024..]],
        words: &[
            b"ustar\0",
            b"ustar  \0",
            b"0000644\0",
            b"77777777777\0",
            b"././@LongLink",
            b"9 path=a\n",
        ],
        cost: 4,
    };
    target.run(|bytes| {
        let first = download(bytes.to_vec())
            .now_or_never()
            .expect("nothing to wait for");
        let first = first.map_err(|error| kind_of(&error.to_string()));
        (
            first.map(|length| length.min(9)),
            list(bytes)
                .map_err(|error| error.kind())
                .map(|length| length / 8),
        )
    });
}
