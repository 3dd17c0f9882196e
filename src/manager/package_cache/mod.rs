//! The package cache of a host: programs find their packages in it, or have them installed into it.
//!
//! * This file leads from a request to packages that a sandbox can use.
//! * [`key`] names a set of packages; [`key_files`] holds a lock and a note on use for each key.
//! * [`install`] fills a new set in a [`worker`] sandbox with pip or npm; [`installer_env`] passes the settings on, and
//!   [`tail`] keeps its last lines.
//! * [`copy_in`] copies a set into a sandbox that was made without it.
//! * [`entries`] lists, removes and prunes what is there.

mod copy_in;
mod entries;
mod install;
mod installer_env;
mod key;
mod key_files;
mod tail;
mod worker;

use chrono::Utc;

use super::Host;
use super::context::Context;
use crate::code::{Installer, Requirement};
use crate::domain::{Access, PackageMount, PackageSet, RequestId};
use crate::engine::Notes;
use crate::protocol::{CacheUse, Failure, Program};
pub(super) use copy_in::CopyJob;
pub(super) use entries::{list, prune, remove};
use install::InstallJob;
use key_files::{KeyFiles, KeyLock, LockMode};

/// The packages that a program is to get.
pub(super) struct PackageRequest<'a> {
    pub(super) request: RequestId,
    pub(super) program: &'a Program,
    /// The image it runs in.
    pub(super) image: &'a str,
    pub(super) packages: Vec<Requirement>,
    /// Does it load them by `import`?
    pub(super) is_module: bool,
}

impl PackageRequest<'_> {
    /// Tells whether packages must lie where `import` of Node looks, which is not where an image has its own.
    fn for_import(&self) -> bool {
        self.is_module && self.program.language.installer() == Some(Installer::Npm)
    }
}

/// Packages that are installed and can be used.
pub(super) struct ReadyPackages {
    pub(super) cache_use: CacheUse,
    pub(super) installer: Installer,
    set: PackageSet,
    /// Nobody removes the set as long as this is held.
    _lock: KeyLock,
}

/// What came of looking for packages.
pub(super) enum FoundPackages {
    /// There are none to be had.
    Nothing,
    /// The image has them all; whether that was known before.
    InImage(CacheUse),
    /// They are installed.
    Ready(ReadyPackages),
}

impl ReadyPackages {
    /// Describes the mount through which a new sandbox sees the packages.
    pub(super) fn mount(&self) -> Result<PackageMount, Failure> {
        Ok(PackageMount {
            name: self.set.name.clone(),
            target: worker::mount_point(self.installer)?,
            access: Access::ReadOnly,
        })
    }
}

/// The cache of one host.
#[derive(Clone, Copy)]
pub(super) struct PackageCache<'a> {
    context: &'a Context,
    host: &'a Host,
}

/// Everything that is known before anything is done.
struct Lookup {
    installer: Installer,
    files: KeyFiles,
    key: String,
    /// The image is known to have them all.
    is_provided: bool,
}

impl<'a> PackageCache<'a> {
    pub(super) fn new(context: &'a Context, host: &'a Host) -> Self {
        Self { context, host }
    }

    /// Tells whether packages are there; `None` if there is nothing to have or nobody knows.
    pub(super) async fn has(self, request: &PackageRequest<'_>) -> Option<bool> {
        let lookup = self.look_up(request).await.ok()??;
        let found = self.find_usable(&lookup.key, None).await.ok()?;
        Some(found.is_some() || lookup.is_provided)
    }

    /// Finds packages that are there.
    pub(super) async fn find(
        self,
        request: &PackageRequest<'_>,
    ) -> Result<Option<ReadyPackages>, Failure> {
        match self.look_up(request).await? {
            Some(lookup) => self.take(request, &lookup, None).await,
            None => Ok(None),
        }
    }

    /// Finds or installs packages.
    pub(super) async fn find_or_install(
        self,
        request: &PackageRequest<'_>,
    ) -> Result<FoundPackages, Failure> {
        let Some(lookup) = self.look_up(request).await? else {
            return Ok(FoundPackages::Nothing);
        };
        let mut installed = None;
        loop {
            if let Some(ready) = self.take(request, &lookup, installed.as_deref()).await? {
                return Ok(FoundPackages::Ready(ready));
            }
            if lookup.is_provided {
                return Ok(FoundPackages::InImage(CacheUse::Hit));
            }
            let _lock = self.lock(request, &lookup, LockMode::Exclusive).await?;
            // Somebody else may have installed them while we waited.
            if self.find_usable(&lookup.key, None).await?.is_none() {
                let job = InstallJob::new(request, lookup.installer, &lookup.key);
                let Some(set) = job.run(self).await? else {
                    lookup.files.note_provided(&lookup.key);
                    return Ok(FoundPackages::InImage(CacheUse::Miss));
                };
                installed = Some(set.name);
                self.make_room(&lookup.key).await;
            }
        }
    }

    /// Finds out the key of the set that would do; `None` if there is nothing to have.
    async fn look_up(self, request: &PackageRequest<'_>) -> Result<Option<Lookup>, Failure> {
        let language = &request.program.language;
        let installer = language.installer();
        let Some(installer) = installer.filter(|_| !request.packages.is_empty()) else {
            return Ok(None);
        };
        let image_key = self.image_key(request).await?;
        let index = &self.context.options.deps.index;
        let files = KeyFiles::open(self)?;
        let key = key::cache_key(language, &image_key, index, &request.packages);
        let ttl = self.context.options.deps.ttl;
        Ok(Some(Lookup {
            installer,
            is_provided: !request.for_import() && files.is_provided(&key, ttl),
            files,
            key,
        }))
    }

    /// Takes a set that is there, and keeps others from removing it.
    async fn take(
        self,
        request: &PackageRequest<'_>,
        lookup: &Lookup,
        installed: Option<&str>,
    ) -> Result<Option<ReadyPackages>, Failure> {
        let lock = self.lock(request, lookup, LockMode::Shared).await?;
        let Some(set) = self.find_usable(&lookup.key, installed).await? else {
            return Ok(None);
        };
        lookup.files.record_use(&lookup.key, installed.is_none());
        Ok(Some(ReadyPackages {
            cache_use: installed.map_or(CacheUse::Hit, |_| CacheUse::Miss),
            installer: lookup.installer,
            set,
            _lock: lock,
        }))
    }

    async fn lock(
        self,
        request: &PackageRequest<'_>,
        lookup: &Lookup,
        mode: LockMode,
    ) -> Result<KeyLock, Failure> {
        let words = "waiting for another run that installs the same";
        let on_wait = || self.context.tell(request.request, words);
        let locking = lookup.files.lock(&lookup.key, mode, on_wait);
        tokio::select! {
            biased;
            lock = locking => lock,
            failure = self.context.interrupted() => Err(failure),
        }
    }

    /// Asks the engine what the image is; one that is missing is pulled.
    async fn image_key(self, request: &PackageRequest<'_>) -> Result<String, Failure> {
        let (sender, mut notes) = tokio::sync::mpsc::channel(16);
        let sender = Notes::to(sender);
        let mut asking = self.host.engine.image_key(request.image, &sender);
        loop {
            tokio::select! {
                key = &mut asking => return key.map_err(Failure::from),
                Some(note) = notes.recv() => self.context.progress(request.request, note),
                failure = self.context.interrupted() => return Err(failure),
            }
        }
    }

    /// Finds a set that is complete and not too old; one that was installed for this run cannot be too old.
    async fn find_usable(
        self,
        key: &str,
        installed: Option<&str>,
    ) -> Result<Option<PackageSet>, Failure> {
        let mut all = self.host.engine.package_sets().await?;
        let is_usable = |set: &PackageSet| {
            let is_young = installed == Some(set.name.as_str()) || !self.is_expired(set);
            set.key == key && set.complete && is_young
        };
        // The newest is the last; an older one may be left of a rebuild.
        let found = all.iter().rposition(is_usable);
        Ok(found.map(|at| all.swap_remove(at)))
    }

    /// Tells whether a set is too old to be used.
    fn is_expired(self, set: &PackageSet) -> bool {
        let age = (Utc::now() - set.made_at).to_std();
        age.is_ok_and(|age| age >= self.context.options.deps.ttl)
    }

    /// Removes what is too old or too much; a failure of that fails no run.
    async fn make_room(self, needed: &str) {
        if let Err(failure) = entries::prune_except(self, needed).await {
            tracing::warn!(%failure, "old packages were not removed");
        }
    }
}
