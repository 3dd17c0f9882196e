//! File trees as records: entries, pieces of data, an end.
//!
//! Every record but the end takes up a multiple of [`BLOCK`] bytes. Data then lies alike in the file, in every buffer on the way and in the
//! other file, and the kernel copies it at twice the speed.

use std::io::{self, Read};

/// Most bytes of a record's data.
pub const DATA_PIECE: usize = 256 * 1024;
/// Bytes before a record's data.
pub const DATA_HEAD: usize = BLOCK;
/// What the length of records is a multiple of: what processors move at once.
const BLOCK: usize = 64;

/// Longest name or link text that is believed.
const LONGEST_NAME: usize = 64 * 1024;
/// Bytes of an entry before its name.
const ENTRY_HEAD: usize = 1 + 1 + 4 + 4 + 4 + 8 + 8 + 4 + 4 + 4;

const TAG_ENTRY: u8 = b'E';
const TAG_DATA: u8 = b'D';
const TAG_END: u8 = b'Z';

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EntryKind {
    /// A regular file.
    #[default]
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, pipe or socket.
    Special,
    /// Something in a tree that could not be read; nothing else is told of it.
    Unreadable,
}

impl EntryKind {
    /// Returns its letter.
    #[must_use]
    pub fn letter(self) -> u8 {
        match self {
            Self::File => b'f',
            Self::Directory => b'd',
            Self::Symlink => b'l',
            Self::Special => b's',
            Self::Unreadable => b'u',
        }
    }

    /// Reads its letter; what is not known is special.
    #[must_use]
    pub fn parse(letter: u8) -> Self {
        match letter {
            b'f' => Self::File,
            b'd' => Self::Directory,
            b'l' => Self::Symlink,
            b'u' => Self::Unreadable,
            _ => Self::Special,
        }
    }
}

/// One file in a listing or tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Bytes of content.
    pub size: u64,
    /// Seconds since 1970 of the last change.
    pub seconds: i64,
    /// And nanoseconds.
    pub nanos: u32,
    /// Name, or path relative to the root of the tree.
    pub name: Vec<u8>,
    /// Text of a link.
    pub target: Vec<u8>,
}

/// One step of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<'a> {
    /// A file, folder or link.
    Entry(Entry),
    /// Some bytes of the file named last, at most [`DATA_PIECE`].
    Data(&'a [u8]),
    /// Nothing follows; without it a stream was cut off.
    End,
}

/// Writes an entry.
#[must_use]
pub fn entry_bytes(entry: &Entry) -> Vec<u8> {
    let length = ENTRY_HEAD + entry.name.len() + entry.target.len();
    let mut out = Vec::with_capacity(padded_len(length));
    out.extend([TAG_ENTRY, entry.kind.letter()]);
    for word in [entry.mode, entry.uid, entry.gid] {
        out.extend(word.to_le_bytes());
    }
    out.extend(entry.size.to_le_bytes());
    out.extend(entry.seconds.to_le_bytes());
    for word in [entry.nanos, count(&entry.name), count(&entry.target)] {
        out.extend(word.to_le_bytes());
    }
    out.extend(&entry.name);
    out.extend(&entry.target);
    out.resize(padded_len(length), 0);
    out
}

/// Writes the head of a piece of data; the bytes follow it, and their padding.
#[must_use]
pub fn data_head(len: usize) -> [u8; DATA_HEAD] {
    let mut head = [0; DATA_HEAD];
    let len = u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
    for (place, byte) in head.iter_mut().zip([TAG_DATA].into_iter().chain(len)) {
        *place = byte;
    }
    head
}

/// Returns what follows so many bytes to make them whole blocks.
#[must_use]
pub fn padding(len: usize) -> &'static [u8] {
    const ZEROS: [u8; BLOCK] = [0; BLOCK];
    ZEROS.get(..padded_len(len) - len).unwrap_or_default()
}

/// Writes the end.
#[must_use]
pub fn end_bytes() -> [u8; 1] {
    [TAG_END]
}

fn count(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// Reads records out of bytes that come in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Room for bytes; those from `at` to `filled` wait to be taken.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    data_left: usize,
}

impl Decoder {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(room) = self.room(bytes.len()).get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            self.filled += bytes.len();
        }
    }

    /// Adds what one read brings, straight from where it comes; none is the end.
    pub fn read_from(&mut self, input: &mut impl Read) -> io::Result<usize> {
        let most = self.bytes_wanted();
        let room = self.room(most).get_mut(..most).unwrap_or_default();
        let got = input.read(room)?;
        self.filled += got;
        Ok(got)
    }

    /// Tells how much to read: inside data up to the next record's data, so that next to nothing has to be moved afterwards.
    fn bytes_wanted(&self) -> usize {
        match self.data_left {
            0 => DATA_PIECE,
            left => padded_len(left.min(DATA_PIECE)).saturating_sub(self.rest().len()) + DATA_HEAD,
        }
    }

    /// Makes room for at least so many bytes behind those that wait.
    fn room(&mut self, least: usize) -> &mut [u8] {
        if self.at == self.filled || self.at > DATA_PIECE {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
        }
        if self.buffer.len() < self.filled + least {
            self.buffer.resize(self.filled + least, 0);
        }
        self.buffer.get_mut(self.filled..).unwrap_or_default()
    }

    /// Takes the next record, or `None` if more bytes are needed.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, String> {
        if self.data_left > 0 {
            return Ok(self.take_data());
        }
        match self.rest().first() {
            None => Ok(None),
            Some(&TAG_END) => {
                self.at += 1;
                Ok(Some(Record::End))
            }
            Some(&TAG_DATA) => Ok(self.start_data()),
            Some(&TAG_ENTRY) => self.take_entry(),
            Some(other) => Err(format!("unknown record {other:#04x} in a file stream")),
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..self.filled).unwrap_or_default()
    }

    fn start_data(&mut self) -> Option<Record<'_>> {
        let mut head = Fields(self.rest().get(..DATA_HEAD)?);
        head.byte()?;
        self.data_left = head.u32()? as usize;
        self.at += DATA_HEAD;
        if self.data_left == 0 {
            return Some(Record::Data(&[]));
        }
        self.take_data()
    }

    /// Takes data in large pieces: file systems take them in much faster than many small ones.
    fn take_data(&mut self) -> Option<Record<'_>> {
        let piece = self.data_left.min(DATA_PIECE);
        if self.rest().len() < padded_len(piece) {
            return None;
        }
        let start = self.at;
        self.at += padded_len(piece);
        self.data_left -= piece;
        self.buffer.get(start..start + piece).map(Record::Data)
    }

    fn take_entry(&mut self) -> Result<Option<Record<'_>>, String> {
        let mut fields = Fields(self.rest());
        let Some((mut entry, name_len, target_len)) = fields.entry_head() else {
            return Ok(None);
        };
        if name_len > LONGEST_NAME || target_len > LONGEST_NAME {
            return Err("a file name in a file stream is too long".to_owned());
        }
        let whole = padded_len(ENTRY_HEAD + name_len + target_len);
        let (Some(name), Some(target)) = (fields.bytes(name_len), fields.bytes(target_len)) else {
            return Ok(None);
        };
        if self.rest().len() < whole {
            return Ok(None);
        }
        entry.name = name;
        entry.target = target;
        self.at += whole;
        Ok(Some(Record::Entry(entry)))
    }
}

fn padded_len(len: usize) -> usize {
    len.next_multiple_of(BLOCK)
}

/// Takes little-endian fields off the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn bytes(&mut self, len: usize) -> Option<Vec<u8>> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head.to_vec())
    }

    fn entry_head(&mut self) -> Option<(Entry, usize, usize)> {
        self.byte()?;
        let entry = Entry {
            kind: EntryKind::parse(self.byte()?),
            mode: self.u32()?,
            uid: self.u32()?,
            gid: self.u32()?,
            size: self.array().map(u64::from_le_bytes)?,
            seconds: self.array().map(i64::from_le_bytes)?,
            nanos: self.u32()?,
            name: Vec::new(),
            target: Vec::new(),
        };
        Some((entry, self.u32()? as usize, self.u32()? as usize))
    }
}

#[cfg(test)]
mod tests;
