//! Folders of the host that sandboxes see. They were judged when the sandbox was made; programs in it, or others, may have
//! put a link in their place since, and a link could lead anywhere.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::{EngineError, Result};
use crate::domain::{Access, MountInfo};
use crate::protocol::FailureKind;

/// Refuses a path that has become a link or lies behind one.
///
/// The local engine opens what it mounts in the same way. Docker opens it by itself a moment later: a program that writes to
/// the folder above may win that race, which [`gaps`] names.
pub(super) fn check(source: &Path) -> Result<()> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = openat2(CWD, source, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    if !matches!(opened, Err(Errno::LOOP)) {
        return Ok(());
    }
    let message = format!(
        "mounting {}: it is a link now or lies behind one, which may lead anywhere",
        source.display()
    );
    Err(EngineError::new(FailureKind::Refused, message)
        .with_hint("look who put it there; put the folder back, or remove the sandbox"))
}

/// Names mounts that programs can exchange or change through another one.
pub(super) fn gaps(mounts: &[MountInfo]) -> Vec<String> {
    let binds = || mounts.iter().filter(|mount| mount.kind == "bind");
    let holder = |inner: &MountInfo| {
        let is_above = |outer: &&MountInfo| {
            outer.access == Access::ReadWrite
                && outer.target != inner.target
                && Path::new(&inner.source).starts_with(&outer.source)
        };
        binds().find(is_above).map(|outer| outer.target.clone())
    };
    let nested = binds().filter_map(|inner| Some((&inner.target, holder(inner)?)));
    nested
        .map(|(inner, outer)| format!("what {inner} shows can be exchanged through {outer}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_refused_wherever_they_are_on_the_way() {
        let top = tempfile::tempdir().expect("a folder");
        let real = top.path().canonicalize().expect("a path").join("real");
        std::fs::create_dir_all(real.join("below")).expect("a folder");
        assert!(check(&real.join("below")).is_ok());
        let link = real.with_file_name("link");
        symlink("real", &link).expect("a link");
        for path in [link.clone(), link.join("below")] {
            let error = check(&path).expect_err("a refusal");
            assert_eq!(error.kind, FailureKind::Refused);
        }
        // What is missing is told by whoever mounts it.
        assert!(check(&real.join("none")).is_ok());
    }

    #[test]
    fn a_mount_inside_a_writable_one_is_named() {
        let mount = |source: &str, target: &str, access| MountInfo {
            kind: "bind".into(),
            source: source.into(),
            target: target.into(),
            access,
        };
        let outer = mount("/home/p", "/p", Access::ReadWrite);
        let inner = mount("/home/p/sub", "/m", Access::ReadOnly);
        let beside = mount("/home/pp", "/q", Access::ReadWrite);
        let all = [outer, inner.clone(), beside];
        assert_eq!(gaps(&all), ["what /m shows can be exchanged through /p"]);
        let outer = mount("/home/p", "/p", Access::ReadOnly);
        assert!(gaps(&[outer, inner]).is_empty());
    }
}
