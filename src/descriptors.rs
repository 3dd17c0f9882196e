//! Room for open files and connections: looked for at the start, because libraries end the program where there is none.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::protocol::{Failure, FailureKind};

/// What a verb or the dashboard needs at once, with some room for streams.
const NEEDED: u64 = 64;

/// Raises our own limit if it is too low, as far as we may.
///
/// # Errors
/// There is still too little room; the error says how to get more.
pub(crate) fn make_room() -> Result<(), Failure> {
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else {
        return Ok(());
    };
    // If not even this can be opened, nothing can.
    let open = std::fs::read_dir("/proc/self/fd").map_or(current, |open| open.count() as u64);
    let wanted = open + NEEDED;
    if current >= wanted {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(wanted),
        ..limit
    };
    let may = limit.maximum.is_none_or(|most| most >= wanted);
    if may && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let message = format!(
        "only {current} files may be open at once here, and {open} are; sandtop needs {wanted}"
    );
    Err(Failure::new(FailureKind::Internal, message)
        .with_hint("allow more, for example by `ulimit -n 1024`"))
}
