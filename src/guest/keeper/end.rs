//! The end of a sandbox: its keeper takes down what is left and notes it in the journal.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Keeper, POLL_MILLIS};
use crate::abi::SIGKILL;
use crate::kernel::as_path;
use crate::sockets::{self, PollFd};
use crate::sys::{self, Wait};
use crate::wire::{self, JournalEvent, JournalLine};

impl Keeper {
    /// Takes down what is left. With init gone the kernel has ended every process of the sandbox.
    pub(super) fn end(&mut self) -> i32 {
        self.namespaces.clear();
        for pid in [self.init, self.zygote] {
            if let Ok(pid @ 1..) = u32::try_from(pid) {
                sys::kill(pid, SIGKILL);
            }
        }
        let give_up = Instant::now() + Duration::from_secs(5);
        while !matches!(sys::reap(), Wait::None) && Instant::now() < give_up {
            sockets::wait_for(&mut [PollFd::new(&self.children)], POLL_MILLIS);
            sys::drain(&self.children);
        }
        for folder in &self.plan.cgroups {
            remove_cgroup(as_path(folder), give_up);
        }
        let _ = fs::remove_file(self.folder.join(wire::KEEPER_SOCKET));
        self.journal_end();
        0
    }

    /// Notes in the journal that the sandbox has ended.
    fn journal_end(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = JournalLine {
            at_millis: now.map_or(0, |passed| passed.as_millis().try_into().unwrap_or(0)),
            id: String::from_utf8_lossy(&self.plan.id).into_owned(),
            name: String::from_utf8_lossy(&self.plan.name).into_owned(),
            event: JournalEvent::Died,
            detail: "137".to_owned(),
            exec: String::new(),
        };
        let death = self.folder.join(wire::KEEPER_DEATH);
        let _ = fs::write(death, line.at_millis.to_string());
        let journal = self.folder.join("..").join(wire::JOURNAL);
        if let Ok(mut journal) = File::options().append(true).open(journal) {
            let _ = journal.write_all(line.encode().as_bytes());
        }
    }
}

/// A cgroup can be removed a moment after its last process was reaped.
fn remove_cgroup(folder: &Path, give_up: Instant) {
    while fs::remove_dir(folder).is_err() && folder.exists() && Instant::now() < give_up {
        sockets::wait_for(&mut [], 2);
    }
}
