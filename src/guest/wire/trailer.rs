//! The guest's last words: how its command ended, or why its verb failed. They follow the end mark on standard error.

use std::collections::BTreeMap;

use super::words::{read_fields, write_fields};

/// Exit code of the guest when its command took too long.
pub const EXIT_TIMEOUT: i32 = 124;
/// Exit code of the guest when its command was cancelled.
pub const EXIT_CANCELLED: i32 = 130;

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// By itself, or by a signal from elsewhere.
    Exit,
    /// It took too long.
    Timeout,
    /// Somebody cancelled it.
    Cancelled,
}

impl Cause {
    const ALL: [Self; 3] = [Self::Exit, Self::Timeout, Self::Cancelled];

    fn word(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What kind of problem a verb had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// Something is not there.
    NotFound,
    /// It is not allowed.
    Denied,
    /// It is not possible as things are.
    Conflict,
    /// The disk is full.
    NoSpace,
    /// The request makes no sense.
    Invalid,
    /// Anything else.
    Internal,
}

impl ProblemKind {
    const ALL: [Self; 6] = [
        Self::NotFound,
        Self::Denied,
        Self::Conflict,
        Self::NoSpace,
        Self::Invalid,
        Self::Internal,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Denied => "denied",
            Self::Conflict => "conflict",
            Self::NoSpace => "no_space",
            Self::Invalid => "invalid",
            Self::Internal => "internal",
        }
    }

    /// Reads its word; one that is not known is some problem all the same.
    fn parse(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == word);
        known.unwrap_or(Self::Internal)
    }
}

const CAUSE: &str = "cause";
const CODE: &str = "code";
const SIGNAL: &str = "signal";
const OOM: &str = "oom";
const REFUSED: &str = "refused";
const PEAK: &str = "peak";
const CPU: &str = "cpu_us";
const ERROR: &str = "error";
const MESSAGE: &str = "message";
const AT: &str = "at_ms";

/// The last words. They come from inside a sandbox, so any of them may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trailer {
    /// Why the command ended.
    pub cause: Option<Cause>,
    /// The guest's own exit code.
    pub code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// Did the kernel kill for memory meanwhile? Only where the sandbox can know.
    pub saw_oom: Option<bool>,
    /// How many processes the kernel refused meanwhile. Only where the sandbox can know.
    pub refused_processes: Option<u64>,
    /// Largest memory of a process, in bytes.
    pub peak_bytes: Option<u64>,
    /// Processor time, in microseconds.
    pub cpu_micros: Option<u64>,
    /// Why a verb failed, and a sentence on it.
    pub problem: Option<(ProblemKind, String)>,
    /// When it ended, in milliseconds since 1970; only in what is left for later.
    pub at_millis: Option<i64>,
}

impl Trailer {
    /// Says that a verb is done, or a command ended by itself.
    #[must_use]
    pub fn exit(code: i32) -> Self {
        Self {
            cause: Some(Cause::Exit),
            code: Some(code),
            ..Self::default()
        }
    }

    /// Writes them as one line, without its end.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut fields: BTreeMap<&str, String> = BTreeMap::new();
        let mut field = |key, value: Option<String>| {
            if let Some(value) = value {
                fields.insert(key, value);
            }
        };
        field(CAUSE, self.cause.map(|cause| cause.word().to_owned()));
        field(CODE, self.code.map(|code| code.to_string()));
        field(SIGNAL, self.signal.map(|signal| signal.to_string()));
        field(OOM, self.saw_oom.map(|seen| u8::from(seen).to_string()));
        field(REFUSED, self.refused_processes.map(|n| n.to_string()));
        field(PEAK, self.peak_bytes.map(|bytes| bytes.to_string()));
        field(CPU, self.cpu_micros.map(|micros| micros.to_string()));
        field(AT, self.at_millis.map(|millis| millis.to_string()));
        if let Some((kind, message)) = &self.problem {
            field(ERROR, Some(kind.word().to_owned()));
            field(MESSAGE, Some(message.clone()));
        }
        write_fields(&fields)
    }

    /// Reads them; what is not understood is passed over.
    #[must_use]
    pub fn parse(line: &[u8]) -> Self {
        let mut fields = read_fields(line);
        let number = |key: &str| fields.get(key)?.parse::<i64>().ok();
        let positive = |key: &str| fields.get(key)?.parse::<u64>().ok();
        let small = |key: &str| i32::try_from(number(key)?).ok();
        let cause = |word: &String| Cause::ALL.into_iter().find(|cause| cause.word() == word);
        Self {
            cause: fields.get(CAUSE).and_then(cause),
            code: small(CODE),
            signal: small(SIGNAL),
            saw_oom: positive(OOM).map(|seen| seen == 1),
            refused_processes: positive(REFUSED),
            peak_bytes: positive(PEAK),
            cpu_micros: positive(CPU),
            at_millis: number(AT),
            problem: fields
                .get(ERROR)
                .map(|word| ProblemKind::parse(word))
                .map(|kind| (kind, fields.remove(MESSAGE).unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_survives() {
        for cause in Cause::ALL {
            for kind in ProblemKind::ALL {
                let trailer = Trailer {
                    cause: Some(cause),
                    code: Some(-1),
                    signal: Some(9),
                    saw_oom: Some(true),
                    refused_processes: Some(12),
                    peak_bytes: Some(u64::MAX),
                    cpu_micros: Some(0),
                    problem: Some((kind, "a b=c\n% error=no".into())),
                    at_millis: Some(1_700_000_000_123),
                };
                assert_eq!(Trailer::parse(trailer.encode().as_bytes()), trailer);
            }
        }
        let bare = Trailer::exit(3);
        assert_eq!(Trailer::parse(bare.encode().as_bytes()), bare);
        assert_eq!(bare.encode(), "cause=exit code=3");
    }

    #[test]
    fn rubbish_is_no_end() {
        for line in [
            &b""[..],
            b"\xff\xfe",
            b"cause=fly code=many oom=yes",
            b"=== = a=",
        ] {
            assert_eq!(Trailer::parse(line), Trailer::default(), "{line:?}");
        }
        let unknown = Trailer::parse(b"error=new_kind");
        assert_eq!(
            unknown.problem,
            Some((ProblemKind::Internal, String::new()))
        );
        assert_eq!(Trailer::parse(b"oom=0").saw_oom, Some(false));
    }
}
