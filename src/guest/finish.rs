//! How every verb of the guest ends: an end mark on both streams, and a trailer that says how it went.

use std::env;
use std::io::{self, Write};
use std::process::exit;

use crate::ends;
use crate::wire::{self, ProblemKind, Secret, Trailer};

/// Longest message in a trailer, so that mark and trailer are written in one piece.
const LONGEST_MESSAGE: usize = 600;

/// Why a verb failed, in a word that the engine knows and a sentence for people.
pub(crate) struct Problem {
    kind: ProblemKind,
    message: String,
}

impl Problem {
    /// Describes a request that makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            kind: ProblemKind::Invalid,
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

fn kind_of(error: &io::Error) -> ProblemKind {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::NotFound => ProblemKind::NotFound,
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => ProblemKind::Denied,
        Kind::AlreadyExists | Kind::DirectoryNotEmpty | Kind::ResourceBusy => ProblemKind::Conflict,
        Kind::StorageFull | Kind::QuotaExceeded => ProblemKind::NoSpace,
        Kind::IsADirectory | Kind::NotADirectory | Kind::InvalidInput | Kind::InvalidFilename => {
            ProblemKind::Invalid
        }
        _ => ProblemKind::Internal,
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
    secret: Option<Secret>,
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
            secret: secret.and_then(|text| Secret::parse(&text)),
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
            Ok(()) => self.end(&Trailer::exit(0)),
            Err(Problem { kind, message }) => {
                let message = message.chars().take(LONGEST_MESSAGE).collect();
                self.end(&Trailer {
                    problem: Some((kind, message)),
                    ..Trailer::exit(1)
                })
            }
        }
    }

    /// Writes mark and trailer, and exits. A reader that is gone needs neither.
    pub(crate) fn end(&self, trailer: &Trailer) -> ! {
        if let Some(id) = &self.exec {
            ends::leave(id, trailer);
        }
        if let Some(secret) = &self.secret {
            let mut last = secret.mark();
            let mut out = io::stdout().lock();
            let _ = out.write_all(&last).and_then(|()| out.flush());
            last.extend(secret.seal(&trailer.encode()).into_bytes());
            last.push(b'\n');
            let _ = io::stderr().lock().write_all(&last);
        }
        exit(trailer.code.unwrap_or(0))
    }
}
