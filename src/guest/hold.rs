//! Keeps a place for a file that the engine brings, which passes big ones on faster than any process inside could.
//!
//! The sandbox's own user makes the place, so that nothing is written where that user could not write. The file gets its name
//! when we are told that it is whole; if whoever brings it goes away instead, it is taken away.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::files::{describe, for_each_record, part, path};
use crate::finish::Problem;
use crate::parents::Parents;
use crate::tree::{open_new, settle};
use crate::wire::{self, Decoder};

/// How long an engine that was cut off may take to notice it.
const LAST_WRITE: Duration = Duration::from_millis(300);

/// `guest hold PATH`: makes a file beside PATH, tells its name and owner, and waits for the word.
pub(crate) fn hold(target: &[u8]) -> Result<(), Problem> {
    let place = path(target);
    if place.is_dir() {
        return Err(Problem::on(target, &io::ErrorKind::IsADirectory.into()));
    }
    let parents = Parents::make(place).map_err(|error| Problem::on(target, &error))?;
    let held = part(place);
    announce(&held).map_err(|error| {
        parents.give_up();
        Problem::on(target, &error)
    })?;
    let done = for_each_record(&mut Decoder::default(), |_| Ok(()))
        .and_then(|()| settle(&held, place).map_err(|error| Problem::on(target, &error)));
    match done {
        // What was replaced goes with this process; nobody has to wait for that.
        Ok(replaced) => std::mem::forget(replaced),
        Err(problem) => {
            give_up(&held);
            parents.give_up();
            return Err(problem);
        }
    }
    Ok(())
}

fn announce(held: &Path) -> io::Result<()> {
    let meta = open_new(held)?.metadata()?;
    let name = held.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    let mut out = io::stdout().lock();
    out.write_all(&wire::entry_bytes(&describe(name, held, &meta)))?;
    out.flush()
}

/// Takes away what came so far, and what an engine still writes that has not noticed its own end.
fn give_up(held: &Path) {
    let _ = fs::remove_file(held);
    std::thread::sleep(LAST_WRITE);
    let _ = fs::remove_file(held);
}
