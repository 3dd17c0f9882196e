//! Carries packages into a sandbox that was made without them.

use super::context::Context;
use super::packages::{Provided, Wish, order, tell};
use super::{Host, lifecycle, workshop};
use crate::code::Installer;
use crate::domain::{CARRYING, Sandbox, SandboxPath, SandboxSpec};
use crate::engine::Notes;
use crate::protocol::{Action, Failure, FailureKind, FileOp};

/// Where the packages of a sandbox lie that was made without them, below its work directory.
const COPIES: &str = ".sandtop-packages";
/// Written last onto a shelf.
const MARK: &str = ".sandtop-complete";

impl Provided {
    /// Returns where a sandbox has a copy of them.
    fn copy_place(&self, sandbox: &Sandbox) -> Result<SandboxPath, Failure> {
        let key = self.shelf.key.get(..12).unwrap_or(&self.shelf.key);
        let below = below(&below(&sandbox.work_dir, COPIES)?, key)?;
        match self.installer {
            Installer::Pip => Ok(below),
            // Packages of Node find each other by this name.
            Installer::Npm => self::below(&below, "node_modules"),
        }
    }

    /// Copies the packages into a sandbox that was made without them, once; nothing can be mounted into it any more.
    pub(super) async fn carry(
        &self,
        context: &Context,
        host: &Host,
        wish: &Wish<'_>,
        sandbox: &Sandbox,
    ) -> Result<SandboxPath, Failure> {
        let (id, place) = (&sandbox.reference.id, self.copy_place(sandbox)?);
        let _turn = context.turn(&sandbox.reference).await;
        let mark = below(&place, MARK)?;
        if host.engine.has_file(id, &mark).await {
            return Ok(place);
        }
        tell(context, wish.request, "copying packages into the sandbox");
        let token = &wish.program.exec;
        let fresh = below(&below(&sandbox.work_dir, COPIES)?, &format!("new-{token}"))?;
        let parent = place.parent().unwrap_or_else(SandboxPath::root);
        host.engine.file(id, &FileOp::MakeDir(parent)).await?;
        let filled = self.fill(context, host, wish, (sandbox, &fresh)).await;
        let rename = FileOp::Rename {
            from: fresh.clone(),
            to: place.clone(),
        };
        let moved = match filled {
            Ok(()) => host
                .engine
                .file(id, &rename)
                .await
                .map(drop)
                .map_err(Failure::from),
            Err(failure) => Err(failure),
        };
        let clear = FileOp::Delete {
            path: fresh,
            recursive: true,
        };
        // Another process may have been faster; its copy is as good.
        if moved.is_err() {
            let _ = host.engine.file(id, &clear).await;
            if !host.engine.has_file(id, &mark).await {
                moved?;
            }
        }
        Ok(place)
    }

    /// Streams the shelf through a sandbox that sees it.
    async fn fill(
        &self,
        context: &Context,
        host: &Host,
        wish: &Wish<'_>,
        (sandbox, to): (&Sandbox, &SandboxPath),
    ) -> Result<(), Failure> {
        let porter = self.porter(context, wish)?;
        let made = host.engine.create(&porter, &Notes::none()).await?;
        let copying = async {
            let tree = host
                .engine
                .pack(&made.reference.id, &workshop::place(self.installer)?)
                .await?;
            host.engine.unpack(&sandbox.reference.id, to, tree).await?;
            Ok(())
        };
        let copied = tokio::select! {
            copied = copying => copied,
            () = context.closing() => Err(Failure::new(FailureKind::Interrupted, "interrupted")),
        };
        let action = Action::Remove { force: true };
        lifecycle::act(context, &made.reference, action).await?;
        copied
    }

    /// Describes a sandbox that does nothing but see the shelf.
    fn porter(&self, context: &Context, wish: &Wish<'_>) -> Result<SandboxSpec, Failure> {
        let order = order(wish, self.installer, &self.shelf.key);
        let spec = workshop::quiet(context, &order, &format!("{CARRYING}{}", wish.program.exec))?;
        Ok(SandboxSpec {
            shelf: Some(self.mount()?),
            ..spec
        })
    }
}

fn below(folder: &SandboxPath, name: &str) -> Result<SandboxPath, Failure> {
    let joined = folder.join(name.as_bytes());
    joined.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))
}
