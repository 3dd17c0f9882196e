//! How every verb of the guest ends: an end mark on both streams, and a trailer that says how it went.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::process::exit;

use crate::{ends, wire};

/// Longest message in a trailer, so that mark and trailer are written in one piece.
const LONGEST_MESSAGE: usize = 600;

/// Why a verb failed, in a word that the engine knows and a sentence for people.
pub(crate) struct Problem {
    kind: &'static str,
    message: String,
}

impl Problem {
    /// Describes a request that makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            kind: "invalid",
            message: message.into(),
        }
    }

    /// Describes a failure of the operating system on some path.
    pub(crate) fn on(path: &[u8], error: &io::Error) -> Self {
        let path = String::from_utf8_lossy(path);
        Self {
            kind: kind_of(error),
            message: format!("{path}: {}", words_for(error)),
        }
    }

    /// Describes a failure that has nothing to do with a path.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        Self {
            kind: kind_of(error),
            message: format!("{what}: {}", words_for(error)),
        }
    }
}

fn kind_of(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::NotFound => "not_found",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "denied",
        Kind::AlreadyExists | Kind::DirectoryNotEmpty | Kind::ResourceBusy => "conflict",
        Kind::StorageFull | Kind::QuotaExceeded => "no_space",
        Kind::IsADirectory | Kind::NotADirectory | Kind::InvalidInput | Kind::InvalidFilename => {
            "invalid"
        }
        _ => "internal",
    }
}

fn words_for(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::NotFound => "no such file or directory".to_owned(),
        Kind::PermissionDenied => "permission denied".to_owned(),
        Kind::ReadOnlyFilesystem => "the file system is read-only there".to_owned(),
        Kind::AlreadyExists => "exists already".to_owned(),
        Kind::DirectoryNotEmpty => "the directory is not empty".to_owned(),
        Kind::StorageFull | Kind::QuotaExceeded => "no space left".to_owned(),
        Kind::IsADirectory => "is a directory".to_owned(),
        Kind::NotADirectory => "is not a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// Ends the program with mark and trailer.
pub(crate) struct Finish {
    mark: Option<Vec<u8>>,
    /// The exec whose end is also left in the sandbox.
    exec: Option<String>,
}

impl Finish {
    /// Takes the end mark out of the environment, so that no child sees it.
    pub(crate) fn from_environment() -> Self {
        let secret = env::var(wire::MARK_VARIABLE).ok();
        // SAFETY: the guest has one thread; nobody reads the environment meanwhile.
        unsafe { env::remove_var(wire::MARK_VARIABLE) };
        Self {
            mark: secret.map(|s| wire::mark(&s)),
            exec: None,
        }
    }

    /// Says that this is the end of an exec, which somebody may ask for later.
    pub(crate) fn of_exec(mut self, id: &str) -> Self {
        self.exec = Some(id.to_owned());
        self
    }

    /// Ends after a verb on files or sessions.
    pub(crate) fn done(&self, outcome: Result<(), Problem>) -> ! {
        match outcome {
            Ok(()) => self.end(
                0,
                &BTreeMap::from([("cause", "exit".to_owned()), ("code", "0".to_owned())]),
            ),
            Err(problem) => self.failed(&problem),
        }
    }

    fn failed(&self, problem: &Problem) -> ! {
        let message: String = problem.message.chars().take(LONGEST_MESSAGE).collect();
        let fields = BTreeMap::from([
            ("cause", "exit".to_owned()),
            ("code", "1".to_owned()),
            ("error", problem.kind.to_owned()),
            ("message", message),
        ]);
        self.end(1, &fields)
    }

    /// Writes mark and trailer, and exits. A reader that is gone needs neither.
    pub(crate) fn end(&self, code: i32, fields: &BTreeMap<&str, String>) -> ! {
        if let Some(id) = &self.exec {
            ends::leave(id, fields);
        }
        if let Some(mark) = &self.mark {
            let mut out = io::stdout().lock();
            let _ = out.write_all(mark).and_then(|()| out.flush());
            let mut last = mark.clone();
            last.extend(wire::trailer_bytes(fields));
            let _ = io::stderr().lock().write_all(&last);
        }
        exit(code)
    }
}
