//! Creates and starts sandboxes.

use std::fs;
use std::io;

use chrono::Utc;

use super::super::cgroups::Cgroups;
use super::super::hierarchies::Hierarchies;
use super::super::image::ImageRoot;
use super::super::index::IndexEntry;
use super::super::plan::{self, Parts};
use super::super::record::{Run, SandboxRecord, SpecRecord};
use super::super::state_dir::{self, NEW, ScopeLock, WORKSPACE};
use super::super::systemd_scope::{SystemdManager, SystemdScope};
use super::super::{checks, doctor, keeper, limits, package_sets, unpacked, users};
use super::{Lifecycle, conflict, failure};
use crate::domain::{EngineEventKind, SandboxSpec};
use crate::engine::{Notes, Result, host_mounts};
use crate::guest::wire;

impl Lifecycle {
    /// Makes and starts a sandbox, or leaves nothing.
    pub(in crate::engine::local) fn create(
        &self,
        spec: &SandboxSpec,
        notes: &Notes,
    ) -> Result<SandboxRecord> {
        let found = ImageRoot::resolve(&spec.image)?;
        checks::check(spec)?;
        // Before the lock is taken, since it may take long.
        let usable = unpacked::prepare(&self.state_dir, found, notes)?;
        let (uid, gid) = users::find(&spec.user, &usable.image)?;
        let lock = self.lock_scope()?;
        self.clean_up_folders(&lock);
        let others = self.state_dir.index();
        if self.is_taken(spec.name.as_str(), &others, &lock) {
            return Err(conflict(
                format!("the name {} is in use on this engine", spec.name),
                "choose another name, or remove that one first",
            ));
        }
        let packages = spec.packages.as_ref();
        let packages = packages.map(|set| package_sets::files(&self.state_dir, &set.name));
        let record = SandboxRecord {
            id: state_dir::new_id(),
            created_at: Utc::now(),
            uid,
            gid,
            block: users::free_block(&others),
            unpacked: usable.unpacked.clone(),
            asked: SpecRecord::of(spec, packages),
        };
        package_sets::give_to_user(&self.state_dir, spec, &record)?;
        let created = self.create_and_start(&record, &usable.image, &lock);
        if created.is_err() {
            self.delete_files(&record)?;
        }
        created.map(|()| record)
    }

    /// Tells whether a name is in use, and not by what a crash has left.
    fn is_taken(&self, name: &str, others: &[IndexEntry], lock: &ScopeLock) -> bool {
        let same = others.iter().filter(|other| other.name == name);
        let mut records = same.filter_map(|other| self.state_dir.record(&other.id));
        records.any(|record| {
            self.clean_up_one(&record, lock);
            self.state_dir.record(&record.id).is_some()
        })
    }

    fn create_and_start(
        &self,
        record: &SandboxRecord,
        image: &ImageRoot,
        lock: &ScopeLock,
    ) -> Result<()> {
        let name = &record.asked.name;
        let failed = |error: io::Error| failure(&format!("creating {name}"), &error);
        let folder = self.state_dir.prepare_sandbox(record).map_err(failed)?;
        users::give_to_user(record, &folder.join(WORKSPACE)).map_err(failed)?;
        self.journal
            .append(&record.id, name, &EngineEventKind::Created);
        self.start_keeper(record, image, lock)?;
        fs::remove_file(folder.join(NEW)).map_err(failed)?;
        // Whoever hears of it looks at once, and must find it finished.
        self.journal
            .append(&record.id, name, &EngineEventKind::Started);
        Ok(())
    }

    /// Starts the keeper of a sandbox and gives it its plan.
    pub(super) fn start_keeper(
        &self,
        record: &SandboxRecord,
        image: &ImageRoot,
        _lock: &ScopeLock,
    ) -> Result<()> {
        let name = &record.asked.name;
        let failed = |error: io::Error| failure(&format!("starting {name}"), &error);
        let folder = self.state_dir.folder(&record.id);
        for mount in &record.asked.mounts {
            host_mounts::check(&mount.source)?;
        }
        Cgroups::of(&record.id).remove();
        let program = self.state_dir.keeper_program().map_err(failed)?;
        let guest = self.state_dir.guest_program().map_err(failed)?;
        fs::write(plan::memory_counter(&folder), wire::oom_kills_text(0)).map_err(failed)?;
        let scope = SystemdManager::find_if_needed();
        let scope = scope.and_then(|manager| manager.start_keeper(&program, &folder, &record.id));
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
            let keeper = waiting.map_or_else(|| keeper::start(&program, &folder), Ok)?;
            keeper::send_plan(keeper, &plan)
        });
        if let Err(error) = started {
            cgroups.remove();
            return Err(doctor::explain(&format!("starting {name}"), &error));
        }
        Ok(())
    }
}
