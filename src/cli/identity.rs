//! Who this process is, and words that nobody else makes.

use std::hash::{BuildHasher, RandomState};

use crate::domain::{ExecId, Owner, OwnerKind};

/// Describes this process as the owner of what it creates.
pub(super) fn owner(kind: OwnerKind) -> Owner {
    Owner {
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        pid: std::process::id(),
        started: start_time().unwrap_or(0),
        user: Some(user()),
        kind,
    }
}

/// Names the person; where nobody says a name, the number that the kernel knows.
fn user() -> String {
    let said = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let number = || format!("uid {}", rustix::process::geteuid().as_raw());
    said.filter(|name| !name.is_empty()).unwrap_or_else(number)
}

/// Reads when this process started, in the kernel's ticks: what tells a reused pid from it.
fn start_time() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(19)?.parse().ok()
}

/// Makes 32 hexadecimal digits; the standard library seeds its hashers from the system's random numbers.
pub(super) fn random_word() -> String {
    let word = || RandomState::new().hash_one(std::time::Instant::now());
    format!("{:016x}{:016x}", word(), word())
}

/// Makes the id of an exec.
pub(super) fn exec_id() -> ExecId {
    let word = random_word();
    ExecId::new(word.get(..16).unwrap_or(&word))
}
