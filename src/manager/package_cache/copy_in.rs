//! Copies packages into a sandbox that was made without them; nothing can be mounted into it any more.

use super::worker::{self, WorkerId};
use super::{PackageCache, PackageRequest, ReadyPackages};
use crate::code::Installer;
use crate::domain::{Sandbox, SandboxPath, SandboxSpec, WorkerKind};
use crate::engine::Notes;
use crate::manager::lifecycle;
use crate::protocol::{Failure, FailureKind, FileOp, LifecycleOp};

/// Where the packages of a sandbox lie that was made without them, below its work directory.
const COPIES: &str = ".sandtop-packages";
/// Written last into a set.
const COMPLETE: &str = ".sandtop-complete";

/// One copy of packages into a sandbox.
pub(in crate::manager) struct CopyJob<'a> {
    pub(in crate::manager) cache: PackageCache<'a>,
    pub(in crate::manager) request: &'a PackageRequest<'a>,
    pub(in crate::manager) packages: &'a ReadyPackages,
    pub(in crate::manager) sandbox: &'a Sandbox,
}

impl CopyJob<'_> {
    /// Copies the packages, unless they are there already, and returns where they are.
    pub(in crate::manager) async fn run(&self) -> Result<SandboxPath, Failure> {
        let (engine, id) = (&self.cache.host.engine, &self.sandbox.reference.id);
        let copy = self.copy_path()?;
        let _lock = self
            .cache
            .context
            .lock_sandbox(&self.sandbox.reference)
            .await;
        let mark = below(&copy, COMPLETE)?;
        if engine.has_file(id, &mark).await {
            return Ok(copy);
        }
        let words = "copying packages into the sandbox";
        self.cache.context.tell(self.request.request, words);
        let parent = copy.parent().unwrap_or_else(SandboxPath::root);
        engine.file(id, &FileOp::MakeDir(parent)).await?;
        // Another process may have been faster; its copy is as good.
        if let Err(failure) = self.copy_and_rename(&copy).await
            && !engine.has_file(id, &mark).await
        {
            return Err(failure);
        }
        Ok(copy)
    }

    /// Returns where the sandbox has its copy.
    fn copy_path(&self) -> Result<SandboxPath, Failure> {
        let key = &self.packages.set.key;
        let folder = below(&self.sandbox.work_dir, COPIES)?;
        let folder = below(&folder, key.get(..12).unwrap_or(key))?;
        match self.packages.installer {
            Installer::Pip => Ok(folder),
            // Packages of Node find each other by this name.
            Installer::Npm => below(&folder, "node_modules"),
        }
    }

    /// Copies under another name first, so that nobody takes a half for the whole.
    async fn copy_and_rename(&self, copy: &SandboxPath) -> Result<(), Failure> {
        let (engine, id) = (&self.cache.host.engine, &self.sandbox.reference.id);
        let new = format!("new-{}", self.request.program.exec);
        let new = below(&below(&self.sandbox.work_dir, COPIES)?, &new)?;
        let copied = async {
            self.copy_through_worker(&new).await?;
            let rename = FileOp::Rename {
                from: new.clone(),
                to: copy.clone(),
            };
            engine.file(id, &rename).await?;
            Ok(())
        };
        let copied = copied.await;
        if copied.is_err() {
            let clear = FileOp::Delete {
                path: new.clone(),
                recursive: true,
            };
            let _ = engine.file(id, &clear).await;
        }
        copied
    }

    /// Streams the set through a worker that sees it.
    async fn copy_through_worker(&self, to: &SandboxPath) -> Result<(), Failure> {
        let PackageCache { context, host } = self.cache;
        let spec = self.worker_spec()?;
        let worker = host.engine.create(&spec, &Notes::none()).await?;
        let copying = async {
            let source = worker::mount_point(self.packages.installer)?;
            let tree = host.engine.pack(&worker.reference.id, &source).await?;
            let sandbox = &self.sandbox.reference.id;
            host.engine.unpack(sandbox, to, tree).await?;
            Ok(())
        };
        let copied = tokio::select! {
            copied = copying => copied,
            failure = context.interrupted() => Err(failure),
        };
        let remove = LifecycleOp::Remove { force: true };
        lifecycle::change_phase(context, &worker.reference, remove).await?;
        copied
    }

    /// Describes a worker that does nothing but see the set.
    fn worker_spec(&self) -> Result<SandboxSpec, Failure> {
        let token = &self.request.program.exec;
        let id = WorkerId {
            kind: WorkerKind::Copy,
            suffix: token.as_str(),
            image: self.request.image,
            token,
        };
        Ok(SandboxSpec {
            packages: Some(self.packages.mount()?),
            ..worker::spec(self.cache.context, &id)?
        })
    }
}

fn below(folder: &SandboxPath, name: &str) -> Result<SandboxPath, Failure> {
    let joined = folder.join(name.as_bytes());
    joined.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))
}
