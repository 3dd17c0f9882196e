//! Lines that verbs of the guest print: processes, changed files, sessions, execs, and what the kernel grants.

use super::records::EntryKind;
use super::trailer::Trailer;
use super::words::{LineReader, LineWriter};

/// A process, as [`Verb::Top`](super::Verb::Top) prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLine {
    /// Its number.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// The kernel's letter for what it does.
    pub state: char,
    /// Processor time.
    pub cpu_millis: u64,
    /// Time since its start.
    pub age_millis: u64,
    /// Resident memory.
    pub memory_bytes: u64,
    /// Its user's name, or number.
    pub user: String,
    /// Its command line, words with a space in between.
    pub command: Vec<u8>,
}

impl ProcessLine {
    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = LineWriter::new(&self.pid.to_string()).number(self.parent);
        let line = line.number(self.state).number(self.cpu_millis);
        let line = line.number(self.age_millis).number(self.memory_bytes);
        line.word(&self.user).word(&self.command).line()
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(Self {
            pid: words.number()?,
            parent: words.number()?,
            state: words.text()?.chars().next()?,
            cpu_millis: words.number()?,
            age_millis: words.number()?,
            memory_bytes: words.number()?,
            user: words.text()?,
            command: words.bytes()?,
        })
    }
}

/// A changed file, as [`Verb::Changes`](super::Verb::Changes) prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeLine {
    /// One that is told.
    File {
        /// Was it made since, or only changed?
        is_new: bool,
        /// What it is.
        kind: EntryKind,
        /// Its bytes.
        size: u64,
        /// Seconds since 1970 of the last change of content.
        seconds: i64,
        /// Where it is.
        path: Vec<u8>,
    },
    /// So many more that are not.
    More(u64),
}

const ADDED: &str = "A";
const CHANGED: &str = "C";
const MORE: &str = "more";

impl ChangeLine {
    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::File {
                is_new,
                kind,
                size,
                seconds,
                path,
            } => {
                let line = LineWriter::new(if *is_new { ADDED } else { CHANGED });
                let line = line.word([kind.letter()]).number(size).number(seconds);
                line.word(path).line()
            }
            Self::More(count) => LineWriter::new(MORE).number(count).line(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        let is_new = match words.text()?.as_str() {
            ADDED => true,
            CHANGED => false,
            MORE => return words.number().map(Self::More),
            _ => return None,
        };
        Some(Self::File {
            is_new,
            kind: EntryKind::parse(*words.bytes()?.first()?),
            size: words.number()?,
            seconds: words.number()?,
            path: words.bytes()?,
        })
    }
}

/// A session, as [`Verb::Sessions`](super::Verb::Sessions) prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub work_dir: Vec<u8>,
    /// How many variables it holds.
    pub variables: u64,
    /// Seconds since 1970 of its last use.
    pub used_seconds: i64,
}

impl SessionLine {
    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = LineWriter::new(&self.name).word(&self.work_dir);
        line.number(self.variables).number(self.used_seconds).line()
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(Self {
            name: words.text()?,
            work_dir: words.bytes()?,
            variables: words.number()?,
            used_seconds: words.number()?,
        })
    }
}

/// An exec, as [`Verb::Execs`](super::Verb::Execs) prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecLine {
    /// It runs.
    Running(String),
    /// It has ended, with these last words.
    Ended(String, Trailer),
}

const RUNNING: &str = "run";
const ENDED: &str = "end";

impl ExecLine {
    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Running(id) => format!("{RUNNING} {id}"),
            Self::Ended(id, trailer) => format!("{ENDED} {id} {}", trailer.encode()),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ')? {
            (RUNNING, id) => Some(Self::Running(id.to_owned())),
            (ENDED, rest) => {
                let (id, fields) = rest.split_once(' ')?;
                let trailer = Trailer::parse(fields.as_bytes());
                Some(Self::Ended(id.to_owned(), trailer))
            }
            _ => None,
        }
    }
}

/// What [`Verb::Probe`](super::Verb::Probe) tells of the kernel, a line `key=value` each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKey {
    /// Capabilities in force, as hexadecimal bits.
    Capabilities,
    /// Capabilities that could ever be had.
    BoundingCapabilities,
    /// Is it impossible to gain privileges? `0` or `1`.
    NoNewPrivileges,
    /// How system calls are filtered: `0` not at all.
    Seccomp,
    /// The user's number.
    Uid,
    /// Mount options of the root, commas in between.
    RootOptions,
    /// Network interfaces, commas in between.
    Interfaces,
    /// System calls that a filter of ours refuses and that can be made, commas in between.
    OpenCalls,
    /// May sockets without a file be reached that processes outside have? `0` or `1`; nothing where it cannot be known.
    AbstractSockets,
}

impl ProbeKey {
    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Capabilities => "caps",
            Self::BoundingCapabilities => "bounding",
            Self::NoNewPrivileges => "no_new_privileges",
            Self::Seccomp => "seccomp",
            Self::Uid => "uid",
            Self::RootOptions => "root_options",
            Self::Interfaces => "interfaces",
            Self::OpenCalls => "open_calls",
            Self::AbstractSockets => "abstract_sockets",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_survive() {
        let process = ProcessLine {
            pid: 12,
            parent: 1,
            state: 'S',
            cpu_millis: 1500,
            age_millis: 60_000,
            memory_bytes: 4096,
            user: "no body".into(),
            command: b"python3 -c x\xff\n".to_vec(),
        };
        assert_eq!(ProcessLine::parse(&process.encode()), Some(process));
        assert_eq!(ProcessLine::parse("12 1 S"), None);
    }

    #[test]
    fn changes_survive() {
        let kinds = [
            EntryKind::File,
            EntryKind::Directory,
            EntryKind::Symlink,
            EntryKind::Special,
        ];
        for (kind, is_new) in kinds.into_iter().zip([true, false, true, false]) {
            let change = ChangeLine::File {
                is_new,
                kind,
                size: 3,
                seconds: -100,
                path: b"/workspace/a\nb c".to_vec(),
            };
            assert_eq!(ChangeLine::parse(&change.encode()), Some(change));
        }
        let more = ChangeLine::More(7);
        assert_eq!(ChangeLine::parse(&more.encode()), Some(more));
        for rubbish in ["", "A f x y z", "B f 1 1 /a", "more", "A  1 1 /a"] {
            assert_eq!(ChangeLine::parse(rubbish), None, "{rubbish}");
        }
    }

    #[test]
    fn sessions_survive() {
        let session = SessionLine {
            name: "build-1".into(),
            work_dir: b"/work space".to_vec(),
            variables: 3,
            used_seconds: 1_700_000_000,
        };
        assert_eq!(SessionLine::parse(&session.encode()), Some(session));
        assert_eq!(SessionLine::parse("name /"), None);
    }

    #[test]
    fn execs_survive() {
        let running = ExecLine::Running("a1".into());
        let ended = ExecLine::Ended("b2".into(), Trailer::exit(3));
        for line in [running, ended] {
            assert_eq!(ExecLine::parse(&line.encode()), Some(line));
        }
        assert_eq!(ExecLine::parse("end c3"), None);
        assert_eq!(ExecLine::parse("other c3"), None);
    }

    #[test]
    fn what_a_probe_tells_has_a_word_each() {
        let keys = [
            ProbeKey::Capabilities,
            ProbeKey::BoundingCapabilities,
            ProbeKey::NoNewPrivileges,
            ProbeKey::Seccomp,
            ProbeKey::Uid,
            ProbeKey::RootOptions,
            ProbeKey::Interfaces,
            ProbeKey::OpenCalls,
            ProbeKey::AbstractSockets,
        ];
        let mut words: Vec<&str> = keys.iter().map(|key| key.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), keys.len());
        assert!(words.iter().all(|word| !word.contains(['=', '\n'])));
    }
}
