//! Making, starting, ending and removing sandboxes, and cleaning up after processes that were killed in the middle of it.
//!
//! All of it may block; the engine runs it off the main threads. A call that was begun is seen to its end, under one lock, so
//! that being dropped cannot leave half a sandbox.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use chrono::Utc;

use super::cgroups::Cgroups;
use super::hierarchies::Hierarchies;
use super::image::ImageRoot;
use super::journal::Journal;
use super::keeper;
use super::plan::{self, Parts};
use super::record::{Asked, Record, Run};
use super::state_dir::{self, NEW, ScopeLock, StateDir, WORKSPACE};
use super::systemd_scope::{SystemdManager, SystemdScope};
use super::{checks, doctor, limits, package_sets, unpacked, users};
use crate::domain::{EngineEventKind, Phase, SandboxSpec};
use crate::engine::{EngineError, Notes, Result};
use crate::guest::wire::{self, KeeperAnswer, KeeperRequest};
use crate::protocol::{FailureKind, LifecycleOp};

/// The sandboxes of a state_dir.
#[derive(Debug, Clone)]
pub(super) struct Lifecycle {
    pub(super) state_dir: StateDir,
    pub(super) journal: Journal,
}

/// One of them, as it stands.
pub(super) struct SandboxState {
    pub(super) record: Record,
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
    pub(super) fn list(&self) -> Vec<SandboxState> {
        if self.needs_clean_up()
            && let Ok(Some(lock)) = self.state_dir.try_lock_scope()
        {
            self.clean_up(&lock);
        }
        let records = self.state_dir.records().into_iter();
        records.map(|record| self.state_of(record)).collect()
    }

    /// Finds one sandbox.
    pub(super) fn find(&self, id: &str) -> Result<SandboxState> {
        let record = self.state_dir.record(id);
        let record = record.ok_or_else(|| EngineError::not_found(format!("the sandbox {id}")))?;
        Ok(self.state_of(record))
    }

    fn state_of(&self, record: Record) -> SandboxState {
        let phase = self.phase(&record.id);
        let run = self.state_dir.run(&record.id);
        SandboxState { record, phase, run }
    }

    fn phase(&self, id: &str) -> Phase {
        if self.state_dir.is_new(id) {
            return Phase::Creating;
        }
        match keeper::ask(&self.state_dir.folder(id), &KeeperRequest::Hello) {
            Ok(Some(KeeperAnswer::Status { paused: true, .. })) => Phase::Paused,
            Ok(Some(_)) => Phase::Running,
            Ok(None) => Phase::Stopped,
            Err(_) => Phase::Dead,
        }
    }

    fn needs_clean_up(&self) -> bool {
        let unfinished = |record: &Record| {
            self.state_dir.is_new(&record.id)
                || keeper::was_killed(&self.state_dir.folder(&record.id))
        };
        !self.state_dir.removed_dirs().is_empty()
            || !self.state_dir.partial_dirs().is_empty()
            || unpacked::has_partial(&self.state_dir)
            || self.state_dir.records().iter().any(unfinished)
    }

    /// Cleans up. Who holds the lock knows that nobody else is making or removing anything.
    fn clean_up(&self, _lock: &ScopeLock) {
        for record in self.state_dir.records() {
            let folder = self.state_dir.folder(&record.id);
            if self.state_dir.is_new(&record.id) {
                let _ = keeper::end(&folder, &KeeperRequest::Kill);
                let _ = self.delete_files(&record);
            } else if keeper::was_killed(&folder) {
                self.mark_dead(&record);
            }
        }
        for folder in self
            .state_dir
            .removed_dirs()
            .into_iter()
            .chain(self.state_dir.partial_dirs())
        {
            let _ = state_dir::remove_all(&folder);
        }
        unpacked::remove_partial(&self.state_dir);
    }

    /// Clears up after a keeper that was killed; its sandbox is stopped, with its workspace.
    fn mark_dead(&self, record: &Record) {
        let folder = self.state_dir.folder(&record.id);
        Cgroups::of(&record.id).remove();
        let _ = fs::remove_file(folder.join(wire::KEEPER_SOCKET));
        let _ = fs::write(
            folder.join(wire::KEEPER_DEATH),
            Utc::now().timestamp_millis().to_string(),
        );
        let died = EngineEventKind::Died {
            exit_code: Some(137),
        };
        self.journal.append(&record.id, &record.asked.name, &died);
    }

    /// Makes and starts a sandbox, or leaves nothing.
    pub(super) fn create(&self, spec: &SandboxSpec, notes: &Notes) -> Result<Record> {
        let found = ImageRoot::resolve(&spec.image)?;
        checks::check(spec)?;
        // Before the lock is taken, since it may take long.
        let usable = unpacked::prepare(&self.state_dir, found, notes)?;
        let (uid, gid) = users::find(&spec.user, &usable.image)?;
        let lock = self.lock_scope()?;
        self.clean_up(&lock);
        let records = self.state_dir.records();
        if records
            .iter()
            .any(|known| known.asked.name == spec.name.as_str())
        {
            return Err(conflict(
                format!("the name {} is in use on this engine", spec.name),
                "choose another name, or remove that one first",
            ));
        }
        let record = Record {
            id: state_dir::new_id(),
            created_at: Utc::now(),
            uid,
            gid,
            block: users::free_block(&records),
            unpacked: usable.unpacked.clone(),
            asked: Asked::of(spec, &self.state_dir),
        };
        package_sets::give_to_user(&self.state_dir, spec, &record)?;
        let created = self.create_and_start(&record, &usable.image, &lock);
        if created.is_err() {
            self.delete_files(&record)?;
        }
        created.map(|()| record)
    }

    fn create_and_start(&self, record: &Record, image: &ImageRoot, lock: &ScopeLock) -> Result<()> {
        let name = &record.asked.name;
        let failed = |error: io::Error| failure(&format!("creating {name}"), &error);
        let folder = self.state_dir.prepare_sandbox(record).map_err(failed)?;
        give_to_user(record, &folder.join(WORKSPACE)).map_err(failed)?;
        self.journal
            .append(&record.id, name, &EngineEventKind::Created);
        self.start_keeper(record, image, lock)?;
        fs::remove_file(folder.join(NEW)).map_err(failed)?;
        // Whoever hears of it looks at once, and must find it finished.
        self.journal
            .append(&record.id, name, &EngineEventKind::Started);
        Ok(())
    }

    fn start_keeper(&self, record: &Record, image: &ImageRoot, _lock: &ScopeLock) -> Result<()> {
        let name = &record.asked.name;
        let failed = |error: io::Error| failure(&format!("starting {name}"), &error);
        let folder = self.state_dir.folder(&record.id);
        Cgroups::of(&record.id).remove();
        let guest = self.state_dir.guest().map_err(failed)?;
        fs::write(plan::memory_counter(&folder), wire::oom_kills_text(0)).map_err(failed)?;
        let scope = SystemdManager::find_if_needed();
        let scope = scope.and_then(|manager| manager.start_keeper(&guest, &folder, &record.id));
        let cgroups = match &scope {
            Some(scope) => Cgroups::make(&scope.hierarchies, &record.id, &record.asked.limits),
            None => Cgroups::make(&Hierarchies::read(), &record.id, &record.asked.limits),
        };
        let cgroups = cgroups.map_err(failed)?;
        let run = Run {
            started_at: Utc::now(),
            gaps: limits::gaps(record, &cgroups),
            cgroups: cgroups.clone(),
        };
        let parts = Parts {
            record,
            image,
            cgroups: &cgroups,
            folder: &folder,
            guest: &guest,
        };
        let plan = plan::plan(&parts);
        let started = self.state_dir.write_run(&record.id, &run).and_then(|()| {
            let waiting = scope.and_then(SystemdScope::into_keeper);
            let keeper = waiting.map_or_else(|| keeper::start(&guest, &folder), Ok)?;
            keeper::send_plan(keeper, &plan)
        });
        if let Err(error) = started {
            cgroups.remove();
            return Err(doctor::explain(&format!("starting {name}"), &error));
        }
        Ok(())
    }

    /// Removes all of a sandbox, whose keeper has ended.
    fn delete_files(&self, record: &Record) -> Result<()> {
        let failed = |error: io::Error| failure(&format!("removing {}", record.asked.name), &error);
        Cgroups::of(&record.id).remove();
        match self.state_dir.mark_removed(&record.id) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            gone => state_dir::remove_all(&gone.map_err(failed)?).map_err(failed)?,
        }
        self.journal
            .append(&record.id, &record.asked.name, &EngineEventKind::Removed);
        Ok(())
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

    fn kill_and_delete(&self, record: &Record) -> Result<()> {
        self.end_keeper(record, &KeeperRequest::Kill)?;
        self.delete_files(record)
    }

    fn end_keeper(&self, record: &Record, how: &KeeperRequest) -> Result<()> {
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

    fn start(&self, record: &Record, phase: Phase) -> Result<()> {
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
        self.clean_up(&lock);
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
        record: &Record,
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

    fn restart(&self, record: &Record, phase: Phase) -> Result<()> {
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

    fn set_paused(&self, record: &Record, phase: Phase, wanted: Phase) -> Result<()> {
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

    fn remove(&self, record: &Record, phase: Phase, force: bool) -> Result<()> {
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

/// Gives a folder to the sandbox's user.
pub(super) fn give_to_user(record: &Record, folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    match record.block {
        Some(base) => chown(folder, Some(base + record.uid), Some(base + record.gid)),
        None => Ok(()),
    }
}
