//! Folders of the host in a sandbox.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sandtop::domain::{Access, Ended, Mount};
use sandtop::protocol::{FailureKind, LifecycleOp};

use crate::support::{Fixture, refused, sandbox_path, soon};

fn folder(path: PathBuf) -> PathBuf {
    fs::create_dir(&path).expect("a folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("rights");
    path
}

fn mount(source: &Path, target: &[u8]) -> Mount {
    Mount {
        source: source.to_owned(),
        target: sandbox_path(target),
        access: Access::ReadWrite,
    }
}

/// A program puts a link in the place of a folder that is mounted; the next start must not follow it out.
pub async fn a_mount_that_became_a_link_is_not_followed(fixture: &Fixture) {
    let top = tempfile::tempdir().expect("a folder");
    fs::set_permissions(top.path(), fs::Permissions::from_mode(0o777)).expect("rights");
    let top_path = top.path().canonicalize().expect("a path");
    let outer = folder(top_path.join("p"));
    let inner = folder(outer.join("sub"));
    let mut spec = fixture.spec("mounts");
    spec.mounts = vec![mount(&outer, b"/p"), mount(&inner, b"/m")];
    let bench = fixture.create(&spec).await;
    let details = soon("details", fixture.engine.inspect(&bench.id)).await;
    let gaps = details.expect("details").posture.gaps;
    let nested = "what /m shows can be exchanged through /p".to_owned();
    assert!(gaps.contains(&nested), "{gaps:?}");
    let exchanged = bench.sh("rmdir /p/sub && ln -s .. /p/sub").await;
    assert_eq!(exchanged.end.ended, Ended::Code(0));

    refused(bench.act(LifecycleOp::Restart).await, FailureKind::Refused);
    refused(bench.act(LifecycleOp::Start).await, FailureKind::Refused);

    fs::remove_file(&inner).expect("a link");
    folder(inner.clone());
    bench.act(LifecycleOp::Start).await.expect("a start");
    // A link above it leads out as well.
    bench.act(LifecycleOp::Stop).await.expect("a stop");
    fs::rename(&outer, top_path.join("q")).expect("a move");
    symlink("q", &outer).expect("a link");
    refused(bench.act(LifecycleOp::Start).await, FailureKind::Refused);
}
