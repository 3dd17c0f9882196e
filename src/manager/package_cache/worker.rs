//! Sandboxes that only work for others: in one packages are installed, through another they are copied.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Context;
use crate::code::Installer;
use crate::domain::{
    ExecId, Limits, Network, Owner, OwnerKind, SandboxName, SandboxPath, SandboxSpec, WORKER_LABEL,
    WorkerKind,
};
use crate::protocol::{Failure, FailureKind};

/// Where the work is done.
pub(super) const WORK_DIR: &str = "/workspace";
/// Nothing takes longer.
pub(super) const LONGEST: Duration = Duration::from_mins(15);
/// Compilers are hungry.
const MEMORY: u64 = 2 << 30;
const TMP: u64 = 64 << 20;
const PIDS: u64 = 512;

/// What tells one worker from another.
pub(super) struct WorkerId<'a> {
    pub(super) kind: WorkerKind,
    /// What its name ends with.
    pub(super) suffix: &'a str,
    pub(super) image: &'a str,
    /// A word that nobody else has.
    pub(super) token: &'a ExecId,
}

/// Returns where programs see the packages of an installer; Node looks for this name in every folder above a program.
pub(super) fn mount_point(installer: Installer) -> Result<SandboxPath, Failure> {
    sandbox_path(match installer {
        Installer::Pip => "/.sandtop-packages",
        Installer::Npm => "/node_modules",
    })
}

/// Reads a path that is written in this program.
pub(super) fn sandbox_path(path: &str) -> Result<SandboxPath, Failure> {
    let parsed = SandboxPath::parse(path.as_bytes());
    parsed.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))
}

/// Describes a worker that has neither network nor packages.
pub(super) fn spec(context: &Context, id: &WorkerId<'_>) -> Result<SandboxSpec, Failure> {
    let name = SandboxName::parse(&format!("{}{}", id.kind.name_prefix(), id.suffix));
    Ok(SandboxSpec {
        token: format!("{}-packages", id.token),
        name: name.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))?,
        image: id.image.to_owned(),
        profile: "packages".to_owned(),
        limits: Limits {
            memory_bytes: Some(MEMORY),
            cpus: None,
            pids: Some(PIDS),
            timeout_s: Some(LONGEST.as_secs()),
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        packages: None,
        work_dir: sandbox_path(WORK_DIR)?,
        user: "65534:65534".to_owned(),
        tmp_bytes: TMP,
        labels: BTreeMap::from([(WORKER_LABEL.to_owned(), id.kind.word().to_owned())]),
        owner: Owner {
            kind: OwnerKind::Run,
            ..context.options.owner.clone()
        },
    })
}
