//! A call of the guest program: its verb with everything that it is told, as words of a command line.

use std::time::Duration;

use super::verb::Verb;
use super::words::{escape, unescape};

/// What the guest is told to do; paths are any bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// [`Verb::Init`]
    Init,
    /// [`Verb::Keeper`]
    Keeper,
    /// [`Verb::Exec`]
    Exec(ExecCall),
    /// [`Verb::Kill`]: the exec's id.
    Kill(String),
    /// [`Verb::Save`]: the session's name.
    Save(String),
    /// [`Verb::List`]
    List(Vec<u8>),
    /// [`Verb::Stat`]
    Stat(Vec<u8>),
    /// [`Verb::MakeDir`]
    MakeDir(Vec<u8>),
    /// [`Verb::Rename`]
    Rename {
        /// The old name.
        from: Vec<u8>,
        /// The new one.
        to: Vec<u8>,
    },
    /// [`Verb::Delete`]
    Delete {
        /// What to delete.
        path: Vec<u8>,
        /// A folder with all in it, or only an empty one.
        recursive: bool,
    },
    /// [`Verb::Read`]
    Read {
        /// The file.
        path: Vec<u8>,
        /// Most bytes.
        limit: Option<u64>,
    },
    /// [`Verb::Write`]
    Write {
        /// The file.
        path: Vec<u8>,
        /// Its permission bits, if they are to change.
        mode: Option<u32>,
    },
    /// [`Verb::Pack`]
    Pack(Vec<u8>),
    /// [`Verb::Unpack`]
    Unpack(Vec<u8>),
    /// [`Verb::Hold`]
    Hold(Vec<u8>),
    /// [`Verb::Sessions`]
    Sessions,
    /// [`Verb::Forget`]: the session's name.
    Forget(String),
    /// [`Verb::Top`]
    Top,
    /// [`Verb::Changes`]
    Changes {
        /// Most files to tell.
        most: u64,
        /// Where to look.
        roots: Vec<Vec<u8>>,
    },
    /// [`Verb::Size`]
    Size(Vec<u8>),
    /// [`Verb::Execs`]
    Execs,
    /// [`Verb::Probe`]
    Probe,
    /// [`Verb::Attempts`]: the limits that are to be tried.
    Attempts(TriedLimits),
}

/// Limits that are tried by going beyond them; one that is not there is not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriedLimits {
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Processes.
    pub pids: Option<u64>,
    /// Thousandths of a processor.
    pub milli_cpus: Option<u64>,
    /// Files in `/tmp`.
    pub tmp_bytes: Option<u64>,
}

impl TriedLimits {
    fn encode(self) -> Vec<String> {
        let all = [
            self.memory_bytes,
            self.pids,
            self.milli_cpus,
            self.tmp_bytes,
        ];
        let word = |limit: Option<u64>| limit.map_or_else(|| "-".to_owned(), |n| n.to_string());
        all.map(word).into()
    }

    fn parse(words: &[String]) -> Self {
        let limit = |index: usize| words.get(index)?.parse().ok();
        Self {
            memory_bytes: limit(0),
            pids: limit(1),
            milli_cpus: limit(2),
            tmp_bytes: limit(3),
        }
    }
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecCall {
    /// The exec's id.
    pub id: String,
    /// When to end it.
    pub timeout: Option<Duration>,
    /// Where to start it.
    pub work_dir: Option<Vec<u8>>,
    /// The session to run it in.
    pub session: Option<String>,
    /// Names of variables that the caller gives now, which win over the session's.
    pub given: Vec<String>,
    /// The command line.
    pub argv: Vec<String>,
}

impl ExecCall {
    /// The option that follows the verb on every command line of an exec, and before its id.
    pub const ID: &'static str = "--id";
    const TIMEOUT: &'static str = "--timeout-ms";
    const WORK_DIR: &'static str = "--cwd";
    const SESSION: &'static str = "--session";
    const GIVEN: &'static str = "--given";
    const COMMAND: &'static str = "--";

    fn encode(&self) -> Vec<String> {
        let mut words = vec![Self::ID.to_owned(), self.id.clone()];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        let millis = |limit: Duration| limit.as_millis().to_string();
        option(Self::TIMEOUT, self.timeout.map(millis));
        option(Self::WORK_DIR, self.work_dir.as_deref().map(escape));
        option(Self::SESSION, self.session.clone());
        let given = (!self.given.is_empty()).then(|| self.given.join(","));
        option(Self::GIVEN, given);
        words.push(Self::COMMAND.to_owned());
        words.extend(self.argv.iter().cloned());
        words
    }

    fn parse(words: &[String]) -> Self {
        let mut call = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().unwrap_or_default();
            match word.as_str() {
                Self::ID => call.id = value(),
                Self::TIMEOUT => call.timeout = value().parse().ok().map(Duration::from_millis),
                Self::WORK_DIR => call.work_dir = Some(unescape(&value())),
                Self::SESSION => call.session = Some(value()),
                Self::GIVEN => call.given = value().split(',').map(str::to_owned).collect(),
                _ => break,
            }
        }
        call.argv = words.cloned().collect();
        call
    }
}

/// How a folder is deleted with all in it.
const RECURSIVE: &str = "recursive";
/// How only an empty folder is deleted.
const EMPTY_ONLY: &str = "one";

impl Call {
    /// Returns the verb.
    #[must_use]
    pub fn verb(&self) -> Verb {
        match self {
            Self::Init => Verb::Init,
            Self::Keeper => Verb::Keeper,
            Self::Exec(_) => Verb::Exec,
            Self::Kill(_) => Verb::Kill,
            Self::Save(_) => Verb::Save,
            Self::List(_) => Verb::List,
            Self::Stat(_) => Verb::Stat,
            Self::MakeDir(_) => Verb::MakeDir,
            Self::Rename { .. } => Verb::Rename,
            Self::Delete { .. } => Verb::Delete,
            Self::Read { .. } => Verb::Read,
            Self::Write { .. } => Verb::Write,
            Self::Pack(_) => Verb::Pack,
            Self::Unpack(_) => Verb::Unpack,
            Self::Hold(_) => Verb::Hold,
            Self::Sessions => Verb::Sessions,
            Self::Forget(_) => Verb::Forget,
            Self::Top => Verb::Top,
            Self::Changes { .. } => Verb::Changes,
            Self::Size(_) => Verb::Size,
            Self::Execs => Verb::Execs,
            Self::Probe => Verb::Probe,
            Self::Attempts(_) => Verb::Attempts,
        }
    }

    /// Writes the words of the command line, from the verb on.
    #[must_use]
    pub fn encode(&self) -> Vec<String> {
        let mut words = vec![self.verb().word().to_owned()];
        words.extend(self.arguments());
        words
    }

    fn arguments(&self) -> Vec<String> {
        let optional = |path: &[u8], more: Option<String>| {
            let mut words = vec![escape(path)];
            words.extend(more);
            words
        };
        match self {
            Self::Init | Self::Keeper | Self::Sessions | Self::Top | Self::Execs | Self::Probe => {
                Vec::new()
            }
            Self::Exec(exec) => exec.encode(),
            Self::Attempts(limits) => limits.encode(),
            Self::Kill(name) | Self::Save(name) | Self::Forget(name) => vec![name.clone()],
            Self::List(path)
            | Self::Stat(path)
            | Self::MakeDir(path)
            | Self::Pack(path)
            | Self::Unpack(path)
            | Self::Hold(path)
            | Self::Size(path) => vec![escape(path)],
            Self::Rename { from, to } => vec![escape(from), escape(to)],
            Self::Delete { path, recursive } => {
                let how = if *recursive { RECURSIVE } else { EMPTY_ONLY };
                vec![escape(path), how.to_owned()]
            }
            Self::Read { path, limit } => optional(path, limit.map(|bytes| bytes.to_string())),
            Self::Write { path, mode } => optional(path, mode.map(|bits| format!("{bits:o}"))),
            Self::Changes { most, roots } => {
                let roots = roots.iter().map(|root| escape(root));
                std::iter::once(most.to_string()).chain(roots).collect()
            }
        }
    }

    /// Reads a command line; the error is a sentence for people.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let (first, rest) = words
            .split_first()
            .map_or(("", words), |(first, rest)| (first.as_str(), rest));
        let verb =
            Verb::parse(first).ok_or_else(|| format!("the guest does not know `{first}`"))?;
        Self::with_arguments(verb, rest)
    }

    fn with_arguments(verb: Verb, rest: &[String]) -> Result<Self, String> {
        let name = || rest.first().cloned().unwrap_or_default();
        Ok(match verb {
            Verb::Init => Self::Init,
            Verb::Keeper => Self::Keeper,
            Verb::Exec => Self::Exec(ExecCall::parse(rest)),
            Verb::Kill => Self::Kill(name()),
            Verb::Save => Self::Save(name()),
            Verb::Sessions => Self::Sessions,
            Verb::Forget => Self::Forget(name()),
            Verb::Top => Self::Top,
            Verb::Changes => Self::Changes {
                most: name().parse().unwrap_or(0),
                roots: rest.iter().skip(1).map(|root| unescape(root)).collect(),
            },
            Verb::Execs => Self::Execs,
            Verb::Probe => Self::Probe,
            Verb::Attempts => Self::Attempts(TriedLimits::parse(rest)),
            _ => {
                let path = rest.first().ok_or("no path was given")?;
                Self::on_path(verb, unescape(path), rest.get(1).map(String::as_str))?
            }
        })
    }

    /// Reads the call of a verb that works on files.
    fn on_path(verb: Verb, path: Vec<u8>, second: Option<&str>) -> Result<Self, String> {
        Ok(match verb {
            Verb::List => Self::List(path),
            Verb::Stat => Self::Stat(path),
            Verb::MakeDir => Self::MakeDir(path),
            Verb::Rename => Self::Rename {
                from: path,
                to: unescape(second.unwrap_or_default()),
            },
            Verb::Delete => Self::Delete {
                path,
                recursive: second == Some(RECURSIVE),
            },
            Verb::Read => Self::Read {
                path,
                limit: second.and_then(|bytes| bytes.parse().ok()),
            },
            Verb::Write => Self::Write {
                path,
                mode: second.and_then(|bits| u32::from_str_radix(bits, 8).ok()),
            },
            Verb::Pack => Self::Pack(path),
            Verb::Unpack => Self::Unpack(path),
            Verb::Hold => Self::Hold(path),
            Verb::Size => Self::Size(path),
            other => return Err(format!("`{}` works on no path", other.word())),
        })
    }
}

#[cfg(test)]
mod tests;
