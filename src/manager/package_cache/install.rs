//! Installs packages: in a worker sandbox, which has the network and is hardened like any other, into a new set.
//!
//! What goes wrong leaves nothing: the worker and the set are removed, also when the manager ends meanwhile. After a kill the
//! worker is an orphan and the set is incomplete; the next run with the same key, or the reaper, removes both.

use chrono::Utc;
use futures_util::StreamExt;

use super::installer_env;
use super::tail::OutputTail;
use super::worker::{self, LONGEST, WorkerId};
use super::{PackageCache, PackageRequest};
use crate::code::Installer;
use crate::domain::{
    Access, Ended, ExecId, ExecSpec, Network, PackageMount, PackageSet, RequestId, SandboxId,
    SandboxSpec, WorkerKind,
};
use crate::engine::ExecItem;
use crate::manager::alive::{Life, is_alive};
use crate::manager::lifecycle;
use crate::protocol::{Failure, FailureKind, LifecycleOp};

/// Installs; see the file.
const INSTALL: &str = include_str!("../../../assets/install.sh");
/// Measures what was installed, and marks it as whole; says nothing of an empty folder.
const FINISH: &str =
    r#"[ -n "$(ls -A "$0")" ] || exit 0; du -sk "$0" 2>/dev/null; : >"$0/.sandtop-complete""#;

/// What is to be installed.
pub(super) struct InstallJob<'a> {
    /// Who asks.
    request: RequestId,
    /// A word that nobody else has.
    token: &'a ExecId,
    /// The program that installs.
    installer: Installer,
    /// Whether the image has to have them where `import` looks.
    for_import: bool,
    /// What the new set is to be.
    set: PackageSet,
}

impl<'a> InstallJob<'a> {
    pub(super) fn new(request: &PackageRequest<'a>, installer: Installer, key: &str) -> Self {
        let token = &request.program.exec;
        let short = key.get(..16).unwrap_or(key);
        let packages = request.packages.iter();
        Self {
            request: request.request,
            token,
            installer,
            for_import: request.for_import(),
            set: PackageSet {
                name: format!("sandtop-packages-{short}-{token}"),
                key: key.to_owned(),
                language: request.program.language.name().to_owned(),
                image: request.image.to_owned(),
                packages: packages.map(|one| one.text.clone()).collect(),
                made_at: Utc::now(),
                size_bytes: 0,
                complete: false,
            },
        }
    }

    /// Installs, or leaves nothing; `None` if the image has it all.
    pub(super) async fn run(&self, cache: PackageCache<'_>) -> Result<Option<PackageSet>, Failure> {
        let spec = self.worker_spec(cache)?;
        self.remove_debris(cache, spec.name.as_str()).await?;
        let engine = &cache.host.engine;
        engine.create_package_set(&self.set).await?;
        let done = self.install_in_worker(cache, &spec).await;
        if !matches!(done, Ok(Some(_)))
            && let Err(error) = engine.remove_package_set(&self.set.name).await
        {
            tracing::warn!(%error, "unfinished packages are left; the reaper will find them");
        }
        done
    }

    /// Makes the worker, installs in it, and removes it whatever comes of it.
    async fn install_in_worker(
        &self,
        cache: PackageCache<'_>,
        spec: &SandboxSpec,
    ) -> Result<Option<PackageSet>, Failure> {
        let PackageCache { context, host } = cache;
        let made = lifecycle::create_sandbox(context, self.request, &host.name, spec).await;
        let sandbox = made.map_err(explain_network)?;
        let done = tokio::select! {
            done = self.install(cache, &sandbox.reference.id) => done,
            failure = context.interrupted() => Err(failure),
        };
        let removed = lifecycle::change_phase(context, &sandbox.reference, REMOVE).await;
        let size_bytes = done?;
        removed?;
        let Some(size_bytes) = size_bytes else {
            return Ok(None);
        };
        let set = PackageSet {
            size_bytes,
            complete: true,
            ..self.set.clone()
        };
        host.engine.complete_package_set(&set).await?;
        Ok(Some(set))
    }

    /// Removes what a killed process left of the same work, and packages that have become too old.
    async fn remove_debris(&self, cache: PackageCache<'_>, name: &str) -> Result<(), Failure> {
        let PackageCache { context, host } = cache;
        let found = host.engine.named(name).await?;
        for sandbox in found.iter().filter(|sandbox| sandbox.name == name) {
            let here = &context.options.owner;
            let life = sandbox.owner.as_ref().map(|owner| is_alive(owner, here));
            if life != Some(Life::Dead) {
                let words = format!("another process installs the same packages in {name}");
                return Err(Failure::new(FailureKind::Conflict, words).with_hint("try again later"));
            }
            lifecycle::change_phase(context, &sandbox.reference, REMOVE).await?;
        }
        let sets = host.engine.package_sets().await?.into_iter();
        for set in sets.filter(|set| set.key == self.set.key) {
            match host.engine.remove_package_set(&set.name).await {
                // What has become too old may still serve a sandbox; it goes with the next pruning.
                Err(error) if set.complete && error.kind == FailureKind::Conflict => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    /// Describes the worker.
    fn worker_spec(&self, cache: PackageCache<'_>) -> Result<SandboxSpec, Failure> {
        let key = self.set.key.get(..12).unwrap_or(&self.set.key);
        // One name for one key: on an engine that machines share, the name is the lock.
        let id = WorkerId {
            kind: WorkerKind::Install,
            suffix: key,
            image: &self.set.image,
            token: self.token,
        };
        let network = cache.context.options.deps.network.clone();
        Ok(SandboxSpec {
            network: network.map_or(Network::Default, Network::Named),
            packages: Some(PackageMount {
                name: self.set.name.clone(),
                target: worker::mount_point(self.installer)?,
                access: Access::ReadWrite,
            }),
            ..worker::spec(cache.context, &id)?
        })
    }

    /// Runs the package manager and returns how many bytes came of it, if any.
    async fn install(
        &self,
        cache: PackageCache<'_>,
        id: &SandboxId,
    ) -> Result<Option<u64>, Failure> {
        let target = worker::mount_point(self.installer)?.to_string();
        let index = &cache.context.options.deps.index;
        let script = ["sh", "-c", INSTALL, self.installer.word(), &target];
        let words = script.into_iter().chain([worker::WORK_DIR]);
        let words = words.chain(self.set.packages.iter().map(String::as_str));
        let mut spec = self.exec_spec("install", words);
        spec.env = installer_env::variables(index);
        if self.for_import {
            spec.env.push(("SANDTOP_FOR_IMPORT".into(), "1".into()));
        }
        spec.timeout = Some(LONGEST);
        if let Some(file) = &index.ca_file {
            let certificates = installer_env::copy_certificates(cache.host, id, file);
            spec.env.extend(certificates.await?);
        }
        let (ended, tail) = self.follow(cache, id, &spec).await?;
        if ended != Ended::Code(0) {
            let lines = tail.lines().map(|line| installer_env::masked(line, index));
            return Err(self.not_installed(ended, lines));
        }
        let finish = self.exec_spec("finish", ["sh", "-c", FINISH, &target].into_iter());
        let (_, tail) = self.follow(cache, id, &finish).await?;
        Ok(tail.first_number().map(|kib| kib.saturating_mul(1024)))
    }

    fn exec_spec<'w>(&self, word: &str, argv: impl Iterator<Item = &'w str>) -> ExecSpec {
        let id = ExecId::new(format!("{}-{word}", self.token));
        ExecSpec::new(id, argv.map(str::to_owned).collect())
    }

    /// Runs a command to its end; each line that it prints is told to whoever waits.
    async fn follow(
        &self,
        cache: PackageCache<'_>,
        id: &SandboxId,
        spec: &ExecSpec,
    ) -> Result<(Ended, OutputTail), Failure> {
        let mut tail = OutputTail::default();
        let mut running = cache.host.engine.exec(id, spec).await?;
        while let Some(item) = running.items.next().await {
            match item {
                ExecItem::Chunk(chunk) => {
                    for line in tail.add(chunk.stream, &chunk.bytes) {
                        let words = format!("{}: {line}", self.installer.word());
                        cache.context.tell(self.request, words);
                    }
                }
                ExecItem::End(end) => {
                    tail.flush();
                    return Ok((end.ended, tail));
                }
            }
        }
        Ok((Ended::Lost, tail))
    }

    /// Says why packages could not be installed, in the package manager's own words.
    fn not_installed(&self, ended: Ended, lines: impl Iterator<Item = String>) -> Failure {
        let installer = self.installer.word();
        let how = match ended {
            Ended::TimedOut => format!("{installer} took longer than {} s", LONGEST.as_secs()),
            Ended::OutOfMemory => format!("{installer} ran out of memory"),
            Ended::Code(127) => format!("the image {} has no {installer}", self.set.image),
            Ended::Code(code) => format!("{installer} ended with code {code}"),
            other => format!("{installer} was ended: {}", other.word()),
        };
        let mut words = format!("the packages were not installed: {how}");
        for line in lines {
            words.push('\n');
            words.push_str(&line);
        }
        let hint = hint(&words);
        Failure::new(FailureKind::Packages, words).with_hint(hint)
    }
}

/// What package managers say when no name of an index has an address.
const NO_NAMES: [&str; 6] = [
    "name resolution",
    "NameResolutionError",
    "Name or service not known",
    "getaddrinfo",
    "ENOTFOUND",
    "EAI_AGAIN",
];

/// Says what to do next, by what the package manager said.
fn hint(said: &str) -> &'static str {
    if NO_NAMES.iter().any(|words| said.contains(words)) {
        return "names of hosts have no address where packages are installed: `network` in [deps] names another network, such as \"host\"; `--deps none` installs nothing";
    }
    "`--deps none` runs the code without installing anything"
}

/// How workers go.
const REMOVE: LifecycleOp = LifecycleOp::Remove { force: true };

/// An engine without a network of its own can lend the machine's.
fn explain_network(failure: Failure) -> Failure {
    let is_network = failure.message.contains("network");
    if !is_network || failure.hint.is_some() {
        return failure;
    }
    failure.with_hint("packages are installed with a network; `network` in [deps] names another one, such as \"host\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_resolve_names_is_told_of_the_network() {
        for said in [
            "NewConnectionError(\"[Errno -3] Temporary failure in name resolution\")",
            "npm error code EAI_AGAIN",
            "npm error network request to https://index.example failed, reason: getaddrinfo ENOTFOUND",
        ] {
            assert!(hint(said).contains("`network` in [deps]"), "{said}");
        }
        assert!(!hint("No matching distribution found for x").contains("network"));
    }
}
