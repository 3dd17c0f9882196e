//! Whether the process that made or holds something still lives.

use crate::domain::Owner;

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It runs.
    Alive,
    /// It has ended.
    Dead,
    /// It is of another machine.
    Elsewhere,
}

/// Looks whether a process lives; `here` is this process.
pub(super) fn is_alive(owner: &Owner, here: &Owner) -> Life {
    if owner.host != here.host {
        return Life::Elsewhere;
    }
    // A pid may belong to another process by now; the time it started tells.
    match start_of(owner.pid) {
        Some(start) if start == owner.started => Life::Alive,
        _ => Life::Dead,
    }
}

/// Reads when a process started, in the kernel's ticks; `None` if it is gone or only waits to be collected.
pub(super) fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let is_gone = fields.next()? == "Z";
    let ticks = fields.nth(18)?.parse().ok()?;
    (!is_gone).then_some(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::OwnerKind;

    #[test]
    fn processes_are_told_apart_by_their_start() {
        let me = Owner {
            host: "here".into(),
            pid: std::process::id(),
            started: start_of(std::process::id()).expect("this process runs"),
            user: None,
            kind: OwnerKind::Cli,
        };
        assert_eq!(is_alive(&me, &me), Life::Alive);
        let before = Owner {
            started: me.started - 1,
            ..me.clone()
        };
        assert_eq!(is_alive(&before, &me), Life::Dead);
        let other = Owner {
            host: "there".into(),
            ..me.clone()
        };
        assert_eq!(is_alive(&other, &me), Life::Elsewhere);
    }
}
