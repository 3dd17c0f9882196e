//! The reading side: from the beginning to wherever the writer is now, again and again.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{RECORD_HEAD, TAIL_HEAD, part, stream_of};
use crate::domain::{ExecId, StreamKind};

/// The longest record that is believed.
const LONGEST: usize = 16 << 20;

/// Bytes that are missing before a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap(pub u64);

/// A piece of output as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its stream.
    pub stream: StreamKind,
    /// What is missing of that stream before it.
    pub gap: Gap,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Reads what is kept of a run, also while it grows.
#[derive(Debug)]
pub struct Reader {
    dir: PathBuf,
    id: ExecId,
    file: Option<File>,
    /// The part being read, and how far.
    number: u64,
    at: u64,
    /// Where each stream is expected to go on.
    expected: [u64; 2],
}

impl Reader {
    /// Starts at the beginning.
    #[must_use]
    pub fn new(dir: &Path, id: &ExecId) -> Self {
        Self {
            dir: dir.to_path_buf(),
            id: id.clone(),
            file: None,
            number: 0,
            at: 0,
            expected: [0; 2],
        }
    }

    /// Reads what has come since the last time. This blocks.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn read(&mut self) -> io::Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            // Another part is only begun when this one is complete, so it is looked for first.
            let next = self.next_part()?;
            self.read_part(&mut pieces)?;
            match next {
                Some((number, file)) => {
                    (self.number, self.file, self.at) = (number, Some(file), TAIL_HEAD as u64);
                }
                None => return Ok(pieces),
            }
        }
    }

    fn read_part(&mut self, pieces: &mut Vec<Piece>) -> io::Result<()> {
        if self.file.is_none() {
            self.file = opened(&part(&self.dir, &self.id, 0))?;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut rest = bytes.as_slice();
        while let Some((piece, position, after)) = record(rest)? {
            self.at += (rest.len() - after.len()) as u64;
            rest = after;
            let piece = self.placed(piece, position);
            pieces.push(piece);
        }
        Ok(())
    }

    /// Finds out what is missing before a piece.
    fn placed(&mut self, mut piece: Piece, position: u64) -> Piece {
        let [out, err] = &mut self.expected;
        let expected = match piece.stream {
            StreamKind::Stdout => out,
            StreamKind::Stderr => err,
        };
        piece.gap = Gap(position.saturating_sub(*expected));
        *expected = position + piece.bytes.len() as u64;
        piece
    }

    /// Finds the part that follows: of the two tails the one with the smallest number above ours.
    fn next_part(&self) -> io::Result<Option<(u64, File)>> {
        let mut found: Option<(u64, File)> = None;
        for turn in [1, 2] {
            let Some(mut file) = opened(&part(&self.dir, &self.id, turn))? else {
                continue;
            };
            let mut number = [0; TAIL_HEAD];
            if file.read_exact(&mut number).is_err() {
                continue;
            }
            let number = u64::from_le_bytes(number);
            let is_nearer = found.as_ref().is_none_or(|(known, _)| number < *known);
            if number > self.number && is_nearer {
                found = Some((number, file));
            }
        }
        Ok(found)
    }
}

fn opened(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Splits the first whole record off; `None` if it is not all there yet.
fn record(bytes: &[u8]) -> io::Result<Option<(Piece, u64, &[u8])>> {
    let rubbish = || io::Error::new(io::ErrorKind::InvalidData, "the kept output is damaged");
    let Some((head, rest)) = bytes.split_at_checked(RECORD_HEAD) else {
        return Ok(None);
    };
    let [stream, p0, p1, p2, p3, p4, p5, p6, p7, l0, l1, l2, l3] = *head else {
        return Ok(None);
    };
    let stream = stream_of(stream).ok_or_else(rubbish)?;
    let position = u64::from_le_bytes([p0, p1, p2, p3, p4, p5, p6, p7]);
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if length > LONGEST {
        return Err(rubbish());
    }
    let Some((bytes, after)) = rest.split_at_checked(length) else {
        return Ok(None);
    };
    let piece = Piece {
        stream,
        gap: Gap(0),
        bytes: bytes.to_vec(),
    };
    Ok(Some((piece, position, after)))
}

/// Returns the last lines that are kept of a run, of both streams together. This blocks.
#[must_use]
pub fn last_lines(dir: &Path, id: &ExecId, count: usize) -> Vec<String> {
    let pieces = Reader::new(dir, id).read().unwrap_or_default();
    let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.bytes).collect();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text.lines().rev().take(count).map(str::to_owned).collect();
    lines.reverse();
    lines
}
