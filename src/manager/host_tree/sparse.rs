//! A file that takes no room for its zeros, so that a huge empty one of a sandbox does not fill our disk.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// What is left out as a whole, or written; holes that are not at these places take room.
const BLOCK: usize = 4096;

/// A new file that is written from its beginning to its end.
pub(super) struct SparseFile {
    file: File,
    length: u64,
    /// Zeros before `length` that were not written.
    hole: u64,
}

impl SparseFile {
    /// Begins with an empty file.
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            length: 0,
            hole: 0,
        }
    }

    /// Adds bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let is_empty = |block: &&[u8]| block.iter().all(|byte| *byte == 0);
        let mut rest = bytes;
        while !rest.is_empty() {
            let empty: usize = rest
                .chunks(BLOCK)
                .take_while(is_empty)
                .map(<[u8]>::len)
                .sum();
            let (hole, after) = rest.split_at_checked(empty).unwrap_or((rest, &[]));
            self.hole += hole.len() as u64;
            let full = after.chunks(BLOCK).take_while(|block| !is_empty(block));
            let full: usize = full.map(<[u8]>::len).sum();
            let (full, after) = after.split_at_checked(full).unwrap_or((after, &[]));
            self.write_full(full)?;
            rest = after;
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn write_full(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.hole > 0 {
            let hole = i64::try_from(self.hole).map_err(io::Error::other)?;
            self.file.seek(SeekFrom::Current(hole))?;
            self.hole = 0;
        }
        self.file.write_all(bytes)
    }

    /// Gives the file its length.
    pub(super) fn finish(self) -> io::Result<File> {
        if self.hole > 0 {
            self.file.set_len(self.length)?;
        }
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    /// Writes pieces; returns what is read again, and how much room it takes.
    fn written(pieces: &[&[u8]]) -> (Vec<u8>, u64) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        let mut file = SparseFile::new(File::create(&path).expect("a file"));
        for piece in pieces {
            file.write(piece).expect("a write");
        }
        let file = file.finish().expect("an end");
        let room = file.metadata().expect("about it").blocks() * 512;
        (std::fs::read(path).expect("a read"), room)
    }

    #[test]
    fn content_is_the_same_and_zeros_take_no_room() {
        let zeros = vec![0; 1 << 20];
        let (content, room) = written(&[&zeros, b"middle", &zeros, &zeros]);
        assert_eq!(content, [&zeros[..], b"middle", &zeros, &zeros].concat());
        assert!(room < 64 << 10, "{room}");
        assert_eq!(written(&[&zeros]).0, zeros);
        assert_eq!(written(&[]).0, b"");
    }

    #[test]
    fn pieces_of_any_length_fit_together() {
        let odd: Vec<u8> = (0..50_000u32).map(|at| u8::from(at % 9000 == 0)).collect();
        for length in [1, 7, 4095, 4096, 4097, 30_000] {
            let pieces: Vec<&[u8]> = odd.chunks(length).collect();
            assert_eq!(written(&pieces).0, odd, "{length}");
        }
    }
}
