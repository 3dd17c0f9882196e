//! Which packages a program is to get.

use std::collections::BTreeSet;

use super::read_as;
use crate::code::{Report, Requirement, Wanted};
use crate::domain::{FileEntry, FileKind, Sandbox};
use crate::manager::Host;
use crate::manager::package_cache::PackageRequest;
use crate::protocol::{Failure, FailureKind, FileOp, Place, Program};

/// Tells which packages a program is to get.
pub(super) fn packages(
    host: &Host,
    program: &Program,
    report: &Report,
) -> Result<Vec<Requirement>, Failure> {
    let can = host.engine.caches_packages();
    let Some(installer) = program.language.installer().filter(|_| can) else {
        return match &program.wanted {
            Wanted::Also(own) if !own.is_empty() => Err(unsupported(host)),
            _ => Ok(Vec::new()),
        };
    };
    let merged = program.wanted.merge(installer, &report.packages);
    merged.map_err(|message| Failure::new(FailureKind::Invalid, message))
}

/// Leaves out what the sandbox has beside the program. It is asked only before something is installed: where such packages
/// are installed already, a program still finds what lies beside it first.
pub(super) async fn without_local(
    host: &Host,
    place: &Place,
    request: &PackageRequest<'_>,
    report: &Report,
) -> Result<Vec<Requirement>, Failure> {
    let Place::In(sandbox) = place else {
        return Ok(request.packages.clone());
    };
    if request.packages.is_empty() || report.packages.is_empty() {
        return Ok(request.packages.clone());
    }
    let mut around = request.program.around.clone();
    around.local.extend(local_modules(host, sandbox).await);
    let report = read_as(request.program, around).await?;
    packages(host, request.program, &report)
}

fn unsupported(host: &Host) -> Failure {
    let words = format!(
        "packages cannot be installed on the {} engine",
        host.engine.kind()
    );
    Failure::new(FailureKind::Unsupported, words).with_hint(
        "leave out --deps and use an image that has the packages, or use --engine docker",
    )
}

/// Lists what programs of a sandbox can import from its work directory.
async fn local_modules(host: &Host, sandbox: &Sandbox) -> BTreeSet<String> {
    let list = FileOp::List(sandbox.work_dir.clone());
    let listed = host.engine.file(&sandbox.reference.id, &list);
    let module = |entry: FileEntry| {
        let name = String::from_utf8(entry.name).ok()?;
        match name.strip_suffix(".py") {
            Some(module) => Some(module.to_owned()),
            None => (entry.kind == FileKind::Directory).then_some(name),
        }
    };
    listed
        .await
        .unwrap_or_default()
        .into_iter()
        .filter_map(module)
        .collect()
}
