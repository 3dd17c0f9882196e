//! The writing side: gathers in memory without waiting, and writes what is worth keeping now and then.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::{RECORD_HEAD, TAIL_HEAD, part, stream_byte};
use crate::domain::{ExecId, OutputChunk, Spooled, StreamKind};

/// One piece of output and where it stands in its stream.
#[derive(Debug)]
struct SpoolRecord {
    stream: StreamKind,
    position: u64,
    bytes: Bytes,
}

/// Gathers the output of one run; its files travel to a thread that may block, and back.
#[derive(Debug)]
pub struct Writer {
    /// Bytes that still fit into the head.
    head_room: u64,
    tail_limit: u64,
    head: Vec<SpoolRecord>,
    tail: VecDeque<SpoolRecord>,
    tail_bytes: u64,
    spooled: Spooled,
    /// Away while they are being written.
    files: Option<Files>,
}

/// The files of one run.
#[derive(Debug)]
struct Files {
    dir: PathBuf,
    id: ExecId,
    /// Bytes that a tail holds.
    limit: u64,
    head: Option<File>,
    tail: Option<File>,
    number: u64,
    /// Bytes of each stream in the older and in the newer tail.
    older: [u64; 2],
    newer: [u64; 2],
    /// What went with older tails, or could not be written.
    lost: Spooled,
    trouble: Option<io::Error>,
}

/// Something to write, away from where nobody may block.
#[derive(Debug)]
pub struct Flush {
    files: Files,
    head: Vec<SpoolRecord>,
    tail: VecDeque<SpoolRecord>,
}

/// What was written, on its way back.
#[derive(Debug)]
pub struct Flushed(Files);

impl Writer {
    /// Prepares to keep about `limit` bytes; nothing is made before there is output.
    #[must_use]
    pub fn new(dir: &Path, id: &ExecId, limit: u64) -> Self {
        let tail_limit = (limit / 4).max(1);
        Self {
            head_room: limit / 2,
            tail_limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            spooled: Spooled::default(),
            files: Some(Files::new(dir, id, tail_limit)),
        }
    }

    /// Takes a piece of output; this neither copies it nor waits.
    pub fn put(&mut self, chunk: &OutputChunk) {
        let length = chunk.bytes.len() as u64;
        let total = match chunk.stream {
            StreamKind::Stdout => &mut self.spooled.stdout,
            StreamKind::Stderr => &mut self.spooled.stderr,
        };
        let position = *total;
        *total += length;
        let fits = length.min(self.head_room);
        self.head_room -= fits;
        let at = usize::try_from(fits).unwrap_or(usize::MAX);
        let record = |bytes: Bytes, position| SpoolRecord {
            stream: chunk.stream,
            position,
            bytes,
        };
        if fits > 0 {
            self.head.push(record(chunk.bytes.slice(..at), position));
        }
        if fits < length {
            self.put_tail(record(chunk.bytes.slice(at..), position + fits));
        }
    }

    fn put_tail(&mut self, record: SpoolRecord) {
        self.tail_bytes += record.bytes.len() as u64;
        self.tail.push_back(record);
        while self.tail_bytes > self.tail_limit {
            let over = self.tail_bytes - self.tail_limit;
            let Some(oldest) = self.tail.front_mut() else {
                return;
            };
            let goes = over.min(oldest.bytes.len() as u64);
            // What stays is a view of the same bytes.
            let _ = oldest.bytes.split_to(usize::try_from(goes).unwrap_or(0));
            oldest.position += goes;
            let (stream, is_used_up) = (oldest.stream, oldest.bytes.is_empty());
            self.tail_bytes -= goes;
            self.spooled.cut(stream, goes);
            if is_used_up {
                self.tail.pop_front();
            }
        }
    }

    /// Tells whether there is something to write.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.head.is_empty() || !self.tail.is_empty()
    }

    /// Hands over what there is to write; `None` if there is nothing, or if the last of it is not back yet.
    pub fn begin_flush(&mut self) -> Option<Flush> {
        if !self.is_behind() {
            return None;
        }
        let files = self.files.take()?;
        self.tail_bytes = 0;
        Some(Flush {
            files,
            head: std::mem::take(&mut self.head),
            tail: std::mem::take(&mut self.tail),
        })
    }

    /// Takes back what was written.
    ///
    /// # Errors
    /// The disk is full or not writable, told once; what could not be written is counted as cut.
    pub fn end_flush(&mut self, Flushed(mut files): Flushed) -> io::Result<()> {
        let trouble = files.trouble.take();
        self.files = Some(files);
        trouble.map_or(Ok(()), Err)
    }

    /// Returns how much there was, and how much of it was cut.
    #[must_use]
    pub fn spooled(&self) -> Spooled {
        let lost = self
            .files
            .as_ref()
            .map(|files| files.lost)
            .unwrap_or_default();
        Spooled {
            cut_stdout: self.spooled.cut_stdout + lost.cut_stdout,
            cut_stderr: self.spooled.cut_stderr + lost.cut_stderr,
            ..self.spooled
        }
    }
}

impl Flush {
    /// Writes. This blocks.
    #[must_use]
    pub fn write(mut self) -> Flushed {
        let head = self.files.write_head(&self.head);
        let written = head.and_then(|()| self.files.write_tail(&self.tail));
        if let Err(error) = written {
            for record in self.head.iter().chain(&self.tail) {
                self.files
                    .lost
                    .cut(record.stream, record.bytes.len() as u64);
            }
            self.files.trouble = Some(error);
        }
        Flushed(self.files)
    }
}

impl Files {
    fn new(dir: &Path, id: &ExecId, limit: u64) -> Self {
        Self {
            dir: dir.to_path_buf(),
            id: id.clone(),
            limit,
            head: None,
            tail: None,
            number: 0,
            older: [0; 2],
            newer: [0; 2],
            lost: Spooled::default(),
            trouble: None,
        }
    }

    fn write_head(&mut self, records: &[SpoolRecord]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        if self.head.is_none() {
            self.head = Some(create(&self.dir, &part(&self.dir, &self.id, 0))?);
        }
        match &mut self.head {
            Some(file) => file.write_all(&packed(records.iter())),
            None => Ok(()),
        }
    }

    fn write_tail(&mut self, records: &VecDeque<SpoolRecord>) -> io::Result<()> {
        for record in records {
            let length = record.bytes.len() as u64;
            let filled = self.newer.iter().sum::<u64>() + length;
            if self.tail.is_none() || filled > self.limit {
                self.next_tail()?;
            }
            let Some(file) = &mut self.tail else {
                return Ok(());
            };
            file.write_all(&packed(std::iter::once(record)))?;
            if let Some(count) = self.newer.get_mut(index(record.stream)) {
                *count += length;
            }
        }
        Ok(())
    }

    /// Starts another tail in the place of the older one; readers that hold it open keep it.
    fn next_tail(&mut self) -> io::Result<()> {
        let next = self.number + 1;
        let path = part(&self.dir, &self.id, next);
        if fs::remove_file(&path).is_ok() {
            let [out, err] = self.older;
            self.lost.cut(StreamKind::Stdout, out);
            self.lost.cut(StreamKind::Stderr, err);
        }
        self.older = std::mem::take(&mut self.newer);
        let mut file = create(&self.dir, &path)?;
        file.write_all(&next.to_le_bytes())?;
        debug_assert_eq!(next.to_le_bytes().len(), TAIL_HEAD, "readers skip as much");
        (self.tail, self.number) = (Some(file), next);
        Ok(())
    }
}

impl Spooled {
    fn cut(&mut self, stream: StreamKind, bytes: u64) {
        match stream {
            StreamKind::Stdout => self.cut_stdout += bytes,
            StreamKind::Stderr => self.cut_stderr += bytes,
        }
    }
}

fn index(stream: StreamKind) -> usize {
    match stream {
        StreamKind::Stdout => 0,
        StreamKind::Stderr => 1,
    }
}

/// Makes a file that only its owner reads, and the folder if it is missing.
fn create(dir: &Path, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.append(true).create(true).mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir)?;
            options.open(path)
        }
        other => other,
    }
}

fn packed<'a>(records: impl Iterator<Item = &'a SpoolRecord>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        bytes.reserve(RECORD_HEAD + record.bytes.len());
        bytes.push(stream_byte(record.stream));
        bytes.extend(record.position.to_le_bytes());
        // A piece of output is far smaller.
        let length = u32::try_from(record.bytes.len()).unwrap_or(u32::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend_from_slice(&record.bytes);
    }
    bytes
}
