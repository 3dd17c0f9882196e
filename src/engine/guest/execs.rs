//! What the guest knows of the execs of its sandbox: which run, and how others ended.

use chrono::{DateTime, Utc};

use super::Guests;
use super::run::exec_end;
use crate::domain::{Ended, ExecEnd, ExecId, Execs, SandboxId};
use crate::engine::Result;
use crate::guest::wire::report::ExecLine;
use crate::guest::wire::{Call, Trailer};

/// Asks the guest.
pub(super) async fn list(guests: &Guests, id: &SandboxId) -> Result<Execs> {
    let text = guests.output(id, &Call::Execs).await?;
    Ok(read(&text))
}

fn read(text: &[u8]) -> Execs {
    let mut execs = Execs::default();
    for line in String::from_utf8_lossy(text).lines() {
        match ExecLine::parse(line) {
            Some(ExecLine::Running(id)) => execs.running.push(ExecId::new(id)),
            Some(ExecLine::Ended(id, trailer)) => execs.ended.extend(ended(id, &trailer)),
            None => {}
        }
    }
    execs
}

/// Reads the words that an exec left; they come from inside the sandbox, so nothing in them is taken for granted.
fn ended(id: String, trailer: &Trailer) -> Option<(ExecId, ExecEnd, DateTime<Utc>)> {
    let at = DateTime::from_timestamp_millis(trailer.at_millis?)?;
    let mut end = exec_end(trailer);
    let killed = matches!(end.ended, Ended::Signal(9) | Ended::Code(137));
    if killed && trailer.saw_oom == Some(true) {
        end.ended = Ended::OutOfMemory;
    }
    Some((ExecId::new(id), end, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_guest_are_read_and_rubbish_is_passed_over() {
        let text = b"run a1\nend b2 at_ms=1000 cause=exit code=137 oom=1 peak=5 signal=9\nend c3\nend d4 x=y\n\xff\n";
        let execs = read(text);
        assert_eq!(execs.running, [ExecId::new("a1")]);
        let [(id, end, at)] = execs.ended.as_slice() else {
            unreachable!("one end, not {:?}", execs.ended)
        };
        assert_eq!((id.as_str(), end.ended), ("b2", Ended::OutOfMemory));
        assert_eq!((end.peak_memory_bytes, at.timestamp()), (Some(5), 1));
    }
}
