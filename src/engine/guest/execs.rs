//! What the guest knows of the execs of its sandbox: which run, and how others ended.

use chrono::DateTime;

use super::Guests;
use super::run::Trailer;
use crate::domain::{Ended, ExecId, Execs, SandboxId};
use crate::engine::Result;
use crate::guest::wire;

/// Asks the guest.
pub(super) async fn look(guests: &Guests, id: &SandboxId) -> Result<Execs> {
    let text = guests.output(id, vec!["execs".to_owned()]).await?;
    Ok(read(&text))
}

fn read(text: &[u8]) -> Execs {
    let mut execs = Execs::default();
    for line in String::from_utf8_lossy(text).lines() {
        match line.split_once(' ') {
            Some(("run", id)) => execs.running.push(ExecId::new(id)),
            Some(("end", rest)) => execs.ended.extend(ended(rest)),
            _ => {}
        }
    }
    execs
}

/// Reads the words that an exec left; they come from inside the sandbox, so nothing in them is taken for granted.
fn ended(line: &str) -> Option<(ExecId, crate::domain::ExecEnd, DateTime<chrono::Utc>)> {
    let (id, fields) = line.split_once(' ')?;
    let fields = wire::trailer_fields(fields.as_bytes());
    let at = DateTime::from_timestamp_millis(fields.get("at_ms")?.parse().ok()?)?;
    let trailer = Trailer::new(fields);
    let mut end = trailer.end();
    let killed = matches!(end.ended, Ended::Signal(9) | Ended::Code(137));
    if killed && trailer.saw_oom() == Some(true) {
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
