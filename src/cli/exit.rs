//! The exit codes that scripts rely on.

use crate::domain::Ended;
use crate::protocol::FailureKind;

/// All went well.
pub(super) const OK: u8 = 0;
/// The operation failed.
pub(super) const FAILED: u8 = 1;
/// Wrong usage or configuration.
pub(super) const USAGE: u8 = 2;
/// sandtop itself said no.
pub(super) const REFUSED: u8 = 5;
/// The process that ran was ended by Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// Gives the code of a failed verb.
pub(super) fn of_failure(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::Invalid => USAGE,
        FailureKind::Unreachable => 3,
        FailureKind::NotFound => 4,
        FailureKind::Refused | FailureKind::Denied => REFUSED,
        FailureKind::Interrupted => INTERRUPTED,
        FailureKind::Conflict
        | FailureKind::ImageMissing
        | FailureKind::Timeout
        | FailureKind::Unsupported
        | FailureKind::NoSpace
        | FailureKind::Busy
        | FailureKind::Packages
        | FailureKind::Internal => 1,
    }
}

/// Gives the code of an `exec` that could not run; its own failures stay clear of the codes programs use.
pub(super) fn of_exec_failure(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::Invalid
        | FailureKind::NotFound
        | FailureKind::Refused
        | FailureKind::Interrupted => of_failure(kind),
        _ => 125,
    }
}

/// Gives the code of a command that has ended.
pub(super) fn of_end(ended: Ended) -> u8 {
    match ended {
        Ended::Lost => 125,
        other => other
            .exit_code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones() {
        assert_eq!(of_failure(FailureKind::Invalid), 2);
        assert_eq!(of_failure(FailureKind::Unreachable), 3);
        assert_eq!(of_failure(FailureKind::NotFound), 4);
        assert_eq!(of_failure(FailureKind::Refused), 5);
        assert_eq!(of_exec_failure(FailureKind::Unreachable), 125);
        assert_eq!(of_exec_failure(FailureKind::NotFound), 4);
        assert_eq!(
            [
                Ended::Code(7),
                Ended::TimedOut,
                Ended::OutOfMemory,
                Ended::Signal(9),
                Ended::Lost
            ]
            .map(of_end),
            [7, 124, 137, 137, 125]
        );
    }
}
