//! Judges the folders of the host that a new sandbox is to see: by what they really are, and not by a link's name.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use super::Host;
use crate::domain::{Access, Mount, MountError, Sandbox, SandboxSpec};
use crate::protocol::{Failure, FailureKind};

const READ: u32 = 4;
const WRITE: u32 = 2;
/// To enter a folder.
const ENTER: u32 = 1;

/// Returns the specification with the real paths of its mounts.
pub(super) async fn resolve(host: &Host, spec: &SandboxSpec) -> Result<SandboxSpec, Failure> {
    let mut spec = spec.clone();
    for mount in &mut spec.mounts {
        // What is not there is told by the engine, which may be on another machine.
        if let Ok(real) = tokio::fs::canonicalize(&mount.source).await {
            mount.source = real;
        }
        judge(host, mount).map_err(|error| refuse(&error))?;
    }
    Ok(spec)
}

fn judge(host: &Host, mount: &Mount) -> Result<(), MountError> {
    mount.check()?;
    mount.check_against(&host.protected)
}

fn refuse(error: &MountError) -> Failure {
    let kind = match error {
        MountError::Dangerous(_) | MountError::Holds { .. } => FailureKind::Refused,
        MountError::Form(_) | MountError::Target(_) => FailureKind::Invalid,
    };
    Failure::new(kind, format!("mount: {error}"))
}

/// Names mounts that the programs of a new sandbox cannot use as they were asked for, with what helps.
pub(super) async fn unusable(host: &Host, spec: &SandboxSpec, made: &Sandbox) -> Vec<Failure> {
    if spec.mounts.is_empty() {
        return Vec::new();
    }
    let id = &made.reference.id;
    let Some(user) = host.engine.host_user(id, &spec.user).await else {
        return Vec::new();
    };
    let mounts = spec.mounts.iter();
    mounts.filter_map(|mount| trouble(mount, user)).collect()
}

fn trouble(mount: &Mount, user: (u32, u32)) -> Option<Failure> {
    let about = std::fs::metadata(&mount.source).ok()?;
    let rights = rights(&about, user);
    let enter = if about.is_dir() { ENTER } else { 0 };
    let (source, target) = (mount.source.display(), &mount.target);
    let told = |verb: &str, mend: String| {
        let message = format!("{target}: the sandbox's programs cannot {verb} what is in {source}");
        Some(Failure::new(FailureKind::Denied, message).with_hint(mend))
    };
    if rights & (READ | enter) != READ | enter {
        return told(
            "read",
            format!("let others read it: chmod -R o+rX {source}"),
        );
    }
    if mount.access == Access::ReadWrite && rights & WRITE == 0 {
        let mend = format!("mount it with `:ro`, or let others write: chmod -R o+rwX {source}");
        return told("write", mend);
    }
    None
}

/// Returns what the kernel lets somebody do.
fn rights(about: &Metadata, (uid, gid): (u32, u32)) -> u32 {
    let mode = about.mode();
    match () {
        () if uid == 0 => READ | WRITE | ENTER,
        () if uid == about.uid() => mode >> 6 & 7,
        () if gid == about.gid() => mode >> 3 & 7,
        () => mode & 7,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::domain::SandboxPath;

    #[test]
    fn what_cannot_be_used_is_told_with_what_helps() {
        let dir = tempfile::tempdir().expect("a folder");
        let about = fs::metadata(dir.path()).expect("about it");
        let (owner, group) = (about.uid(), about.gid());
        let other = (owner + 7, group + 7);
        let hint = |mode, access, user| {
            fs::set_permissions(dir.path(), Permissions::from_mode(mode)).expect("rights");
            let mount = Mount {
                source: dir.path().to_owned(),
                target: SandboxPath::parse(b"/m").expect("a path"),
                access,
            };
            trouble(&mount, user).map(|failure| failure.hint.unwrap_or_default())
        };
        let says = |hint: Option<String>, part: &str| hint.is_some_and(|hint| hint.contains(part));
        assert!(says(hint(0o700, Access::ReadOnly, other), "chmod -R o+rX"));
        assert!(says(hint(0o704, Access::ReadOnly, other), "chmod -R o+rX"));
        assert!(says(hint(0o755, Access::ReadWrite, other), "`:ro`"));
        assert_eq!(hint(0o755, Access::ReadOnly, other), None);
        assert_eq!(hint(0o777, Access::ReadWrite, other), None);
        assert_eq!(hint(0o070, Access::ReadWrite, (other.0, group)), None);
        assert_eq!(hint(0o000, Access::ReadWrite, (0, 0)), None);
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).expect("rights");
    }
}
