//! Output of runs on disk: the beginning and the end are kept, what is cut between them is counted.
//!
//! A run has a head, which only grows, and two tails that take turns: the older one goes when the newer one is full. Each is
//! a row of records: stream, position in the stream, length, bytes. Positions tell a reader what it has missed. However
//! much a run prints, no more is written per second than a tail holds a few times; the rest never touches the disk.

mod reader;
mod writer;

use std::io;
use std::path::{Path, PathBuf};

pub use reader::{Gap, Piece, Reader, last_lines};
pub use writer::{Flush, Flushed, Writer};

use crate::domain::{ExecId, StreamKind};

/// Bytes of a record before its content: stream, position, length.
const RECORD_HEAD: usize = 1 + 8 + 4;
/// Bytes of a tail before its first record: its number.
const TAIL_HEAD: usize = 8;

/// Returns the file of a part: 0 is the head, tails take turns.
fn part(dir: &Path, id: &ExecId, number: u64) -> PathBuf {
    match number {
        0 => dir.join(id.as_str()),
        number if number % 2 == 1 => dir.join(format!("{id}.1")),
        _ => dir.join(format!("{id}.2")),
    }
}

/// Removes what is kept of a run.
pub(super) fn remove(dir: &Path, id: &str) {
    for suffix in ["", ".1", ".2", ".sock"] {
        let name = format!("{id}{suffix}");
        match std::fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, id, "removing spooled output failed");
            }
            _ => {}
        }
    }
}

fn stream_byte(stream: StreamKind) -> u8 {
    match stream {
        StreamKind::Stdout => 1,
        StreamKind::Stderr => 2,
    }
}

fn stream_of(byte: u8) -> Option<StreamKind> {
    match byte {
        1 => Some(StreamKind::Stdout),
        2 => Some(StreamKind::Stderr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::OutputChunk;

    fn chunk(stream: StreamKind, bytes: Vec<u8>) -> OutputChunk {
        OutputChunk {
            stream,
            bytes: Bytes::from(bytes),
        }
    }

    fn written(limit: u64, chunks: &[OutputChunk], each: bool) -> (tempfile::TempDir, Writer) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::new(dir.path(), &ExecId::new("r"), limit);
        for chunk in chunks {
            writer.put(chunk);
            if each {
                flush(&mut writer);
            }
        }
        flush(&mut writer);
        (dir, writer)
    }

    fn flush(writer: &mut Writer) {
        if let Some(flush) = writer.begin_flush() {
            writer.end_flush(flush.write()).expect("room on the disk");
        }
    }

    fn read(dir: &tempfile::TempDir) -> Vec<Piece> {
        let mut reader = Reader::new(dir.path(), &ExecId::new("r"));
        let mut all = Vec::new();
        loop {
            let some = reader.read().expect("readable");
            if some.is_empty() {
                return all;
            }
            all.extend(some);
        }
    }

    #[test]
    fn small_output_is_kept_whole_and_in_order() {
        let (out, err) = (StreamKind::Stdout, StreamKind::Stderr);
        let chunks = [
            chunk(out, b"a\n".to_vec()),
            chunk(err, b"b\n".to_vec()),
            chunk(out, b"c".to_vec()),
        ];
        for each in [true, false] {
            let (dir, writer) = written(1024, &chunks, each);
            let pieces = read(&dir);
            let shown: Vec<_> = pieces.iter().map(|p| (p.stream, p.bytes.clone())).collect();
            assert_eq!(
                shown,
                [
                    (out, b"a\n".to_vec()),
                    (err, b"b\n".to_vec()),
                    (out, b"c".to_vec())
                ]
            );
            assert!(pieces.iter().all(|piece| piece.gap.0 == 0));
            assert_eq!(writer.spooled().stdout, 3);
            assert_eq!(writer.spooled().cut_stdout, 0);
        }
    }

    #[test]
    fn of_large_output_head_and_tail_stay_and_the_cut_is_counted() {
        let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_be_bytes).collect();
        for size in [10, 1000, 70_000] {
            let chunks: Vec<_> = bytes
                .chunks(size)
                .map(|piece| chunk(StreamKind::Stdout, piece.to_vec()))
                .collect();
            let each = size > 10;
            let (dir, writer) = written(64 * 1024, &chunks, each);
            let pieces = read(&dir);
            let (mut position, mut kept) = (0, 0);
            for piece in &pieces {
                position += usize::try_from(piece.gap.0).expect("small");
                let end = position + piece.bytes.len();
                assert_eq!(bytes.get(position..end), Some(piece.bytes.as_slice()));
                (position, kept) = (end, kept + piece.bytes.len());
            }
            assert_eq!(position, bytes.len(), "the end is kept");
            let spooled = writer.spooled();
            assert_eq!(spooled.stdout, bytes.len() as u64);
            assert_eq!(spooled.cut_stdout, (bytes.len() - kept) as u64);
            assert!((40 * 1024..=64 * 1024).contains(&kept), "{kept}");
            let on_disk: u64 = std::fs::read_dir(dir.path())
                .expect("a folder")
                .map(|file| file.and_then(|file| file.metadata()).expect("a file").len())
                .sum();
            assert!(on_disk < 160 * 1024, "{on_disk}");
        }
    }

    #[test]
    fn a_reader_that_comes_late_learns_what_it_missed() {
        let dir = tempfile::tempdir().expect("a folder");
        let id = ExecId::new("r");
        let mut writer = Writer::new(dir.path(), &id, 400);
        let mut reader = Reader::new(dir.path(), &id);
        assert!(reader.read().expect("readable").is_empty());
        let (mut seen, mut missed) = (0, 0);
        for round in 0..50u8 {
            writer.put(&chunk(StreamKind::Stderr, vec![round; 90]));
            flush(&mut writer);
            if round % 7 == 0 {
                for piece in reader.read().expect("readable") {
                    seen += piece.bytes.len() as u64;
                    missed += piece.gap.0;
                }
            }
        }
        assert!(missed > 0 && seen > 0);
        assert_eq!(seen + missed, 50 * 90);
    }

    #[test]
    fn a_record_that_is_half_written_waits_for_its_other_half() {
        let chunks = [chunk(StreamKind::Stdout, b"abcdef".to_vec())];
        let (dir, _) = written(1024, &chunks, false);
        let file = dir.path().join("r");
        let whole = std::fs::read(&file).expect("a file");
        for cut in 0..whole.len() {
            std::fs::write(&file, whole.split_at(cut).0).expect("writable");
            let mut reader = Reader::new(dir.path(), &ExecId::new("r"));
            assert!(reader.read().expect("readable").is_empty(), "cut at {cut}");
            std::fs::write(&file, &whole).expect("writable");
            assert_eq!(reader.read().expect("readable").len(), 1);
        }
    }

    #[test]
    fn the_last_lines_are_found() {
        let text = (0..50).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        let chunks = [chunk(StreamKind::Stdout, text.into_bytes())];
        let (dir, _) = written(4096, &chunks, false);
        let lines = last_lines(dir.path(), &ExecId::new("r"), 2);
        assert_eq!(lines, ["line 48", "line 49"]);
    }
}
