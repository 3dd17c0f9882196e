//! What a keeper is asked and answers: one line each, over its socket; and what it says to its own zygote.
//!
//! ```text
//! engine ── KeeperRequest ──→ keeper ── ZygoteRequest ──→ zygote
//!        ←── KeeperAnswer ───        ←── ZygoteAnswer ───
//! ```

use super::verb::Verb;
use super::words::{LineReader, LineWriter};

/// Why nothing more was started: the process limit is reached.
pub const REFUSED_NO_ROOM: &str = "the process limit of the sandbox is reached";

/// A keeper's socket, in the folder of its sandbox.
pub const KEEPER_SOCKET: &str = "socket";
/// Locked as long as a keeper lives.
pub const KEEPER_LOCK: &str = "lock";
/// When the sandbox last ended, in milliseconds since 1970.
pub const KEEPER_DEATH: &str = "death";
/// The reason of a keeper that starts nothing in a paused sandbox.
pub const REFUSED_PAUSED: &str = "paused";

const OK: &str = "ok";
pub(super) const ERROR: &str = "error";
pub(super) const READY: &str = "ready";
pub(super) const RUN: &str = "run";
pub(super) const STARTED: &str = "started";

/// What the engine asks of a keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperRequest {
    /// How does the sandbox stand? Answered by [`KeeperAnswer::Status`].
    Hello,
    /// Start the guest; its streams come along. Answered by [`KeeperAnswer::Started`] and later [`KeeperAnswer::Exited`].
    Run(RunRequest),
    /// Hold every process where it is.
    Pause,
    /// Let them go on.
    Resume,
    /// End the sandbox: a polite signal first.
    Stop,
    /// End the sandbox at once.
    Kill,
}

impl KeeperRequest {
    const HELLO: &'static str = "hello";
    const PAUSE: &'static str = "pause";
    const RESUME: &'static str = "resume";
    const STOP: &'static str = "stop";
    const KILL: &'static str = "kill";

    /// Writes it, without the end of the line.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Hello => Self::HELLO.to_owned(),
            Self::Run(run) => run.encode(),
            Self::Pause => Self::PAUSE.to_owned(),
            Self::Resume => Self::RESUME.to_owned(),
            Self::Stop => Self::STOP.to_owned(),
            Self::Kill => Self::KILL.to_owned(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(match words.text()?.as_str() {
            Self::HELLO => Self::Hello,
            RUN => Self::Run(RunRequest::parse(words)?),
            Self::PAUSE => Self::Pause,
            Self::RESUME => Self::Resume,
            Self::STOP => Self::Stop,
            Self::KILL => Self::Kill,
            _ => return None,
        })
    }
}

/// The streams of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestStreams {
    /// Three descriptors that come with the request.
    Pipes,
    /// A terminal that is made in the sandbox; the answer brings its other side.
    Terminal {
        /// Lines.
        rows: u16,
        /// Characters of a line.
        columns: u16,
    },
}

/// A guest to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    /// Its streams.
    pub streams: GuestStreams,
    /// As whom.
    pub uid: u32,
    /// In which group.
    pub gid: u32,
    /// Where.
    pub work_dir: Vec<u8>,
    /// `KEY=VALUE` each.
    pub env: Vec<Vec<u8>>,
    /// The guest's path, its verb and the rest.
    pub argv: Vec<Vec<u8>>,
}

impl RunRequest {
    const PIPES: &'static str = "pipes";
    const TERMINAL: &'static str = "terminal";

    /// Tells the verb that the guest is started with.
    #[must_use]
    pub fn verb(&self) -> Option<Verb> {
        Verb::parse(std::str::from_utf8(self.argv.get(1)?).ok()?)
    }

    /// Writes `run STREAMS ROWS COLUMNS UID GID FOLDER COUNT ENV… ARGV…`.
    pub(super) fn encode(&self) -> String {
        let (kind, rows, columns) = match self.streams {
            GuestStreams::Pipes => (Self::PIPES, 0, 0),
            GuestStreams::Terminal { rows, columns } => (Self::TERMINAL, rows, columns),
        };
        let line = LineWriter::new(RUN).word(kind).number(rows).number(columns);
        let line = line.number(self.uid).number(self.gid).word(&self.work_dir);
        let line = line.number(self.env.len());
        let words = self.env.iter().chain(&self.argv);
        words.fold(line, LineWriter::word).line()
    }

    /// Reads what follows the first word.
    pub(super) fn parse(mut words: LineReader<'_>) -> Option<Self> {
        let kind = words.text()?;
        let (rows, columns) = (words.number()?, words.number()?);
        let streams = match kind.as_str() {
            Self::PIPES => GuestStreams::Pipes,
            Self::TERMINAL => GuestStreams::Terminal { rows, columns },
            _ => return None,
        };
        let (uid, gid, work_dir) = (words.number()?, words.number()?, words.bytes()?);
        let count: usize = words.number()?;
        let mut env = words.rest();
        let argv = (count <= env.len()).then(|| env.split_off(count))?;
        Some(Self {
            streams,
            uid,
            gid,
            work_dir,
            env,
            argv,
        })
    }
}

/// What a keeper answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperAnswer {
    /// It is done.
    Done,
    /// How the sandbox stands, and below which process it is found.
    Status {
        /// Is it paused?
        paused: bool,
        /// The keeper itself.
        pid: u32,
    },
    /// The guest runs; for a terminal, its other side comes along.
    Started {
        /// The guest.
        pid: i32,
    },
    /// The guest has ended.
    Exited {
        /// The kernel's status of it.
        status: i32,
    },
    /// It is not done, for this reason.
    Refused(String),
}

impl KeeperAnswer {
    const PAUSED: &'static str = "paused";
    const RUNNING: &'static str = "running";
    const EXIT: &'static str = "exit";

    /// Writes it, without the end of the line.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Done => OK.to_owned(),
            Self::Status { paused, pid } => {
                let state = if *paused { Self::PAUSED } else { Self::RUNNING };
                LineWriter::new(OK).word(state).number(pid).line()
            }
            Self::Started { pid } => LineWriter::new(STARTED).number(pid).line(),
            Self::Exited { status } => LineWriter::new(Self::EXIT).number(status).line(),
            Self::Refused(reason) => LineWriter::new(ERROR).word(reason).line(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(match words.text()?.as_str() {
            OK => match words.text() {
                None => Self::Done,
                Some(state) => Self::Status {
                    paused: state == Self::PAUSED,
                    pid: words.number()?,
                },
            },
            STARTED => Self::Started {
                pid: words.number()?,
            },
            Self::EXIT => Self::Exited {
                status: words.number()?,
            },
            ERROR => Self::Refused(words.text().unwrap_or_default()),
            _ => return None,
        })
    }
}

/// What a keeper says when it has been started: a line on its standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartReport {
    /// The sandbox stands.
    Ready,
    /// It does not, for this reason.
    Failed(String),
}

impl StartReport {
    /// Writes it, without the end of the line.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Ready => READY.to_owned(),
            Self::Failed(reason) => LineWriter::new(ERROR).word(reason).line(),
        }
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        match words.text()?.as_str() {
            READY => Some(Self::Ready),
            ERROR => words.text().map(Self::Failed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
