//! `cp`: files and folders between this machine and a sandbox.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::files::path_in;
use super::print::{self, Format, Outcome, Stop};
use super::session::unexpected;
use super::{CliContext, exit};
use crate::domain::{FileKind, Sandbox, SandboxPath};
use crate::protocol::{Command, Copied, Failure, FailureKind, FileOp, Reply};
use crate::text::{human, safe_line};

/// One side of a copy.
enum Side<'a> {
    /// A path of this machine.
    Here(&'a Path),
    /// A path in a sandbox.
    There(&'a str, &'a OsStr),
}

/// Reads a side as the docker command does: a path that starts with `/` or `.` is of this machine, else `NAME:PATH`.
fn side(text: &OsStr) -> Side<'_> {
    let bytes = text.as_bytes();
    let colon = bytes
        .iter()
        .position(|b| *b == b':')
        .filter(|_| !matches!(bytes.first(), Some(b'/' | b'.')));
    let split = colon.and_then(|at| {
        Some((
            std::str::from_utf8(bytes.get(..at)?).ok()?,
            bytes.get(at + 1..)?,
        ))
    });
    match split {
        Some((name, path)) if !name.is_empty() => Side::There(name, OsStr::from_bytes(path)),
        _ => Side::Here(Path::new(text)),
    }
}

/// `cp`.
pub(super) async fn copy(cli: &mut CliContext, from: &OsStr, to: &OsStr) -> Outcome<u8> {
    match (side(from), side(to)) {
        (Side::Here(from), Side::There(name, to)) => copy_in(cli, from, name, to).await,
        (Side::There(name, from), Side::Here(to)) => copy_out(cli, name, from, to).await,
        (Side::Here(_), Side::Here(_)) => Err(usage("neither side names a sandbox").into()),
        (Side::There(..), Side::There(..)) => Err(usage("both sides name a sandbox").into()),
    }
}

fn usage(what: &str) -> Failure {
    Failure::new(
        FailureKind::Invalid,
        format!("{what}; write NAME:PATH on one side and a path of this machine on the other"),
    )
}

async fn copy_in(cli: &mut CliContext, from: &Path, name: &str, to: &OsStr) -> Outcome<u8> {
    cli.refuse_if_read_only("copying into a sandbox")?;
    let source = std::fs::metadata(from).map_err(|error| not_readable(from, &error))?;
    let sandbox = cli.session.find(name).await?;
    let base = path_in(&sandbox, if to.is_empty() { OsStr::new(".") } else { to })?;
    let names_it = !to.is_empty() && !to.as_bytes().ends_with(b"/");
    let straight = if source.is_file() && names_it {
        copy_straight(cli, &sandbox, from, &base).await?
    } else {
        None
    };
    let (target, copied) = match straight {
        Some(copied) => (base, copied),
        None => copy_by_look(cli, &sandbox, from, to, base).await?,
    };
    report(
        cli.format,
        &from.display().to_string(),
        &format!("{name}:{target}"),
        copied,
    )
}

/// Copies a file straight to its name: looking first costs as much as a small copy, and most names are free or files.
/// `None` if that was refused because the name is a folder's.
async fn copy_straight(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    from: &Path,
    target: &SandboxPath,
) -> Outcome<Option<Copied>> {
    match ask(cli, copying(sandbox, from, target)).await {
        Err(Stop::Failed(failure)) if failure.kind == FailureKind::Invalid => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Looks at what is there: into a folder the copy goes under its own name, else exactly there.
async fn copy_by_look(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    from: &Path,
    to: &OsStr,
    base: SandboxPath,
) -> Outcome<(SandboxPath, Copied)> {
    let found = kind_of(cli, sandbox, &base).await?;
    let wants_folder = to.as_bytes().ends_with(b"/");
    if wants_folder
        && found
            .as_ref()
            .is_some_and(|kind| *kind != FileKind::Directory)
    {
        let message = format!("{base} is not a directory of the sandbox");
        return Err(Failure::new(FailureKind::NotFound, message).into());
    }
    // A file goes into a new folder; a folder becomes it.
    let inside = match found {
        Some(kind) => kind == FileKind::Directory,
        None => wants_folder && from.is_file(),
    };
    let target = match (
        inside && !copies_content(from.as_os_str()),
        from.file_name(),
    ) {
        (true, Some(name)) => base
            .join(name.as_bytes())
            .map_err(|error| usage(&error.to_string()))?,
        _ => base,
    };
    let copied = ask(cli, copying(sandbox, from, &target)).await?;
    Ok((target, copied))
}

fn copying(sandbox: &Sandbox, from: &Path, to: &SandboxPath) -> Command {
    Command::CopyIn {
        sandbox: sandbox.reference.clone(),
        from: from.to_path_buf(),
        to: to.clone(),
    }
}

fn not_readable(path: &Path, error: &std::io::Error) -> Failure {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => FailureKind::NotFound,
        std::io::ErrorKind::PermissionDenied => FailureKind::Denied,
        _ => FailureKind::Internal,
    };
    Failure::new(kind, format!("{}: {error}", path.display()))
}

/// `DIR/.` means what is in it, not the folder itself.
fn copies_content(from: &OsStr) -> bool {
    from.as_bytes().ends_with(b"/.") || from == OsStr::new(".")
}

async fn kind_of(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    path: &SandboxPath,
) -> Outcome<Option<FileKind>> {
    let op = FileOp::Stat(path.clone());
    match cli
        .session
        .ask(Command::File {
            sandbox: sandbox.reference.clone(),
            op,
        })
        .await
    {
        Ok(Reply::Entry(entry)) => Ok(Some(entry.kind)),
        Ok(other) => Err(unexpected(&other).into()),
        Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

async fn copy_out(cli: &mut CliContext, name: &str, from: &OsStr, to: &Path) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let path = path_in(&sandbox, from)?;
    let inside = goes_inside(cli, &sandbox, &path, to).await?;
    let target = local_target(from, &path, to, inside);
    let command = Command::CopyOut {
        sandbox: sandbox.reference.clone(),
        from: path.clone(),
        to: target.clone(),
    };
    let copied = ask(cli, command).await?;
    report(
        cli.format,
        &format!("{name}:{path}"),
        &target.display().to_string(),
        copied,
    )
}

/// Tells whether a copy goes into `to` under its own name, else it becomes `to`: into a folder, and a file into a new one.
async fn goes_inside(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    from: &SandboxPath,
    to: &Path,
) -> Outcome<bool> {
    if to.is_dir() || !to.as_os_str().as_bytes().ends_with(b"/") {
        return Ok(to.is_dir());
    }
    let plain: PathBuf = to.components().collect();
    if plain.exists() {
        let message = format!("{} is not a directory", plain.display());
        return Err(Failure::new(FailureKind::NotFound, message).into());
    }
    Ok(kind_of(cli, sandbox, from).await? != Some(FileKind::Directory))
}

/// Returns where the root of a copy goes.
fn local_target(from: &OsStr, path: &SandboxPath, to: &Path, inside: bool) -> PathBuf {
    if inside && !copies_content(from) && !path.is_root() {
        to.join(OsStr::from_bytes(path.file_name()))
    } else {
        to.to_path_buf()
    }
}

async fn ask(cli: &mut CliContext, command: Command) -> Outcome<Copied> {
    match cli.session.ask(command).await? {
        Reply::Copied(copied) => Ok(copied),
        other => Err(unexpected(&other).into()),
    }
}

fn report(format: Format, from: &str, to: &str, copied: Copied) -> Outcome<u8> {
    match format {
        Format::Json => print::json(&json!({
            "from": from, "to": to, "entries": copied.entries, "bytes": copied.bytes, "skipped": copied.skipped,
        }))?,
        Format::Text => {
            let skipped = if copied.skipped > 0 {
                format!(", {} special files left out", copied.skipped)
            } else {
                String::new()
            };
            print::note(&format!(
                "{} {}, {}{skipped} to {}",
                copied.entries,
                if copied.entries == 1 {
                    "entry"
                } else {
                    "entries"
                },
                human::bytes(copied.bytes),
                safe_line(to)
            ));
        }
    }
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_apart_as_docker_does() {
        let named = |text: &str| matches!(side(OsStr::new(text)), Side::There(..));
        assert!(named("a:/x") && named("a:x") && named("host/a:/x") && named("a:"));
        assert!(!named("/tmp/a:b") && !named("./a:b") && !named("plain") && !named(":x"));
    }

    #[test]
    fn a_copy_goes_into_a_folder_under_its_own_name() {
        let path = SandboxPath::parse(b"/workspace/src").expect("a path");
        let target =
            |from: &str, inside| local_target(OsStr::new(from), &path, Path::new("to"), inside);
        assert_eq!(target("src", true), Path::new("to/src"));
        assert_eq!(target("src/.", true), Path::new("to"));
        assert_eq!(target("src", false), Path::new("to"));
    }
}
