//! Creates, starts, pauses, stops and removes sandboxes, and cleans up after processes that were killed in the middle of it.
//!
//! All of it may block; the engine runs it off the main threads. A call that was begun is seen to its end, under one lock, so
//! that being dropped cannot leave half a sandbox.

mod clean_up;
mod create;

use std::io;

use super::journal::Journal;
use super::record::{Run, SandboxRecord};
use super::state_dir::{ScopeLock, StateDir, is_shortage};
use super::{keeper, unpacked};
use crate::domain::{EngineEventKind, Phase};
use crate::engine::{EngineError, Result};
use crate::guest::wire::{KeeperAnswer, KeeperRequest};
use crate::protocol::{FailureKind, LifecycleOp};

/// The sandboxes of a scope.
#[derive(Debug, Clone)]
pub(super) struct Lifecycle {
    pub(super) state_dir: StateDir,
    pub(super) journal: Journal,
}

/// One of them, as it stands.
pub(super) struct SandboxState {
    pub(super) record: SandboxRecord,
    pub(super) phase: Phase,
    pub(super) run: Option<Run>,
}

fn failure(tried: &str, error: &io::Error) -> EngineError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull => FailureKind::NoSpace,
        io::ErrorKind::PermissionDenied => FailureKind::Denied,
        io::ErrorKind::TimedOut => FailureKind::Timeout,
        _ => FailureKind::Internal,
    };
    EngineError::new(kind, format!("{tried} failed: {error}"))
        .with_hint("`sandtop doctor` looks at the state directory and the kernel")
}

fn conflict(message: String, hint: &str) -> EngineError {
    EngineError::new(FailureKind::Conflict, message).with_hint(hint)
}

impl Lifecycle {
    /// Lists the sandboxes, and cleans up what a crash has left.
    pub(super) fn list(&self) -> Result<Vec<SandboxState>> {
        self.check_readable()?;
        self.rescan();
        let records = self.state_dir.records().into_iter();
        records.map(|record| self.state_of(record)).collect()
    }

    /// Cleans up what a crash has left, unless somebody else is at it.
    pub(super) fn rescan(&self) {
        if self.needs_clean_up()
            && let Ok(Some(lock)) = self.state_dir.try_lock_scope()
        {
            self.clean_up(&lock);
        }
    }

    /// Finds one sandbox, and cleans up what a crash has left of it.
    pub(super) fn find(&self, id: &str) -> Result<SandboxState> {
        self.check_readable()?;
        let missing = || EngineError::not_found(format!("the sandbox {id}"));
        let mut record = self.state_dir.record(id).ok_or_else(missing)?;
        if self.is_left(id)
            && let Ok(Some(lock)) = self.state_dir.try_lock_scope()
        {
            self.clean_up_one(&record, &lock);
            record = self.state_dir.record(id).ok_or_else(missing)?;
        }
        self.state_of(record)
    }

    /// Finds those of a name, or else those whose id begins so.
    pub(super) fn named(&self, word: &str) -> Result<Vec<SandboxState>> {
        self.check_readable()?;
        let mut index = self.state_dir.index();
        let by_name = index.iter().any(|entry| entry.name == word);
        index.retain(|entry| {
            if by_name {
                entry.name == word
            } else {
                entry.id.starts_with(word)
            }
        });
        let found = index.iter().filter_map(|entry| self.find(&entry.id).ok());
        Ok(found.collect())
    }

    fn check_readable(&self) -> Result<()> {
        let checked = self.state_dir.check_readable();
        checked.map_err(|error| failure("reading the sandboxes", &error))
    }

    fn state_of(&self, record: SandboxRecord) -> Result<SandboxState> {
        let phase = self.phase(&record.id);
        let phase = phase.map_err(|error| failure("asking a sandbox how it is", &error))?;
        let run = self.state_dir.run(&record.id);
        Ok(SandboxState { record, phase, run })
    }

    fn phase(&self, id: &str) -> io::Result<Phase> {
        if self.state_dir.is_new(id) {
            return Ok(Phase::Creating);
        }
        match keeper::ask(&self.state_dir.folder(id), &KeeperRequest::Hello) {
            Ok(Some(KeeperAnswer::Status { paused: true, .. })) => Ok(Phase::Paused),
            Ok(Some(_)) => Ok(Phase::Running),
            Ok(None) => Ok(Phase::Stopped),
            Err(error) if is_shortage(&error) => Err(error),
            Err(_) => Ok(Phase::Dead),
        }
    }

    fn lock_scope(&self) -> Result<ScopeLock> {
        let lock = self.state_dir.lock_scope();
        lock.map_err(|error| failure("waiting for other processes of sandtop", &error))
    }

    /// Removes what an interrupted create of exactly this specification left.
    pub(super) fn discard(&self, token: &str) -> Result<()> {
        let _lock = self.lock_scope()?;
        let records = self.state_dir.records().into_iter();
        for record in records.filter(|record| record.asked.token == token) {
            self.kill_and_delete(&record)?;
        }
        Ok(())
    }

    fn kill_and_delete(&self, record: &SandboxRecord) -> Result<()> {
        self.end_keeper(record, &KeeperRequest::Kill)?;
        self.delete_files(record)
    }

    fn end_keeper(&self, record: &SandboxRecord, how: &KeeperRequest) -> Result<()> {
        let ended = keeper::end(&self.state_dir.folder(&record.id), how);
        ended.map_err(|error| failure(&format!("ending {}", record.asked.name), &error))
    }

    /// Changes a phase; being there already is fine.
    pub(super) fn act(&self, id: &str, action: LifecycleOp) -> Result<()> {
        if matches!(action, LifecycleOp::Remove { .. }) && self.state_dir.record(id).is_none() {
            return Ok(());
        }
        let SandboxState { record, phase, .. } = self.find(id)?;
        match action {
            LifecycleOp::Start => self.start(&record, phase),
            LifecycleOp::Stop => self.stop(
                &record,
                phase,
                &KeeperRequest::Stop,
                &EngineEventKind::Stopped,
            ),
            LifecycleOp::Kill => {
                let signal = Some("9".to_owned());
                self.stop(
                    &record,
                    phase,
                    &KeeperRequest::Kill,
                    &EngineEventKind::Killed { signal },
                )
            }
            LifecycleOp::Restart => self.restart(&record, phase),
            LifecycleOp::Pause => self.set_paused(&record, phase, Phase::Paused),
            LifecycleOp::Resume => self.set_paused(&record, phase, Phase::Running),
            LifecycleOp::Remove { force } => self.remove(&record, phase, force),
        }
    }

    fn start(&self, record: &SandboxRecord, phase: Phase) -> Result<()> {
        match phase {
            Phase::Running => return Ok(()),
            Phase::Paused => {
                return Err(conflict(
                    "starting: it is paused".into(),
                    "use `sandtop resume`",
                ));
            }
            _ => {}
        }
        let image = unpacked::of_record(&self.state_dir, record)?;
        let lock = self.lock_scope()?;
        self.clean_up_one(record, &lock);
        // Somebody else may have started or removed it while we waited.
        if self.find(&record.id)?.phase.is_live() {
            return Ok(());
        }
        self.start_keeper(record, &image, &lock)?;
        let name = &record.asked.name;
        self.journal
            .append(&record.id, name, &EngineEventKind::Started);
        Ok(())
    }

    fn stop(
        &self,
        record: &SandboxRecord,
        phase: Phase,
        how: &KeeperRequest,
        what: &EngineEventKind,
    ) -> Result<()> {
        if !phase.is_live() {
            return Ok(());
        }
        self.end_keeper(record, how)?;
        self.journal.append(&record.id, &record.asked.name, what);
        Ok(())
    }

    fn restart(&self, record: &SandboxRecord, phase: Phase) -> Result<()> {
        self.stop(
            record,
            phase,
            &KeeperRequest::Stop,
            &EngineEventKind::Stopped,
        )?;
        self.start(record, Phase::Stopped)?;
        self.journal
            .append(&record.id, &record.asked.name, &EngineEventKind::Restarted);
        Ok(())
    }

    fn set_paused(&self, record: &SandboxRecord, phase: Phase, wanted: Phase) -> Result<()> {
        let (request, verb, what) = match wanted {
            Phase::Paused => (KeeperRequest::Pause, "pausing", EngineEventKind::Paused),
            _ => (KeeperRequest::Resume, "resuming", EngineEventKind::Resumed),
        };
        if phase == wanted {
            return Ok(());
        }
        if !phase.is_live() {
            return Err(conflict(
                format!("{verb}: it is {phase}"),
                "use `sandtop start`",
            ));
        }
        match keeper::ask(&self.state_dir.folder(&record.id), &request) {
            Ok(Some(KeeperAnswer::Done)) => {
                self.journal.append(&record.id, &record.asked.name, &what);
            }
            Ok(None) => {
                return Err(conflict(
                    format!("{verb}: it has just ended"),
                    "use `sandtop start`",
                ));
            }
            Ok(Some(KeeperAnswer::Refused(reason))) => {
                return Err(EngineError::internal(format!("{verb}: {reason}")));
            }
            Ok(Some(other)) => {
                return Err(EngineError::internal(format!(
                    "{verb}: it answered {other:?}"
                )));
            }
            Err(error) => return Err(failure(verb, &error)),
        }
        Ok(())
    }

    fn remove(&self, record: &SandboxRecord, phase: Phase, force: bool) -> Result<()> {
        if phase.is_live() && !force {
            return Err(conflict(
                format!("removing: it is {phase}"),
                "stop it first, or use `rm -f`",
            ));
        }
        let _lock = self.lock_scope()?;
        self.kill_and_delete(record)
    }
}
