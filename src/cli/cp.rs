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
pub(super) async fn copy(
    cli: &mut CliContext,
    from: &OsStr,
    to: &OsStr,
    max_size: Option<&str>,
) -> Outcome<u8> {
    let most = max_size.map(size).transpose()?;
    match (side(from), side(to)) {
        (Side::Here(from), Side::There(name, to)) => copy_in(cli, from, name, to, most).await,
        (Side::There(name, from), Side::Here(to)) => copy_out(cli, name, from, to, most).await,
        (Side::Here(_), Side::Here(_)) => Err(usage("neither side names a sandbox").into()),
        (Side::There(..), Side::There(..)) => Err(usage("both sides name a sandbox").into()),
    }
}

/// Reads the most that a copy may move; zero lifts the limit.
fn size(text: &str) -> Result<u64, Failure> {
    let bad = |why| Failure::new(FailureKind::Invalid, format!("--max-size: {why}"));
    let size = human::parse_bytes(text).map_err(bad)?;
    Ok(if size == 0 { u64::MAX } else { size })
}

fn usage(what: &str) -> Failure {
    Failure::new(
        FailureKind::Invalid,
        format!("{what}; write NAME:PATH on one side and a path of this machine on the other"),
    )
}

/// A copy into a sandbox whose exact target is still to be found.
#[derive(Clone, Copy)]
struct CopyIn<'a> {
    sandbox: &'a Sandbox,
    from: &'a Path,
    max_bytes: Option<u64>,
}

impl CopyIn<'_> {
    fn command(self, to: &SandboxPath) -> Command {
        Command::CopyIn {
            sandbox: self.sandbox.reference.clone(),
            from: self.from.to_path_buf(),
            to: to.clone(),
            max_bytes: self.max_bytes,
        }
    }
}

async fn copy_in(
    cli: &mut CliContext,
    from: &Path,
    name: &str,
    to: &OsStr,
    max_bytes: Option<u64>,
) -> Outcome<u8> {
    cli.refuse_if_read_only("copying into a sandbox")?;
    let source = std::fs::metadata(from).map_err(|error| not_readable(from, &error))?;
    let sandbox = cli.session.find(name).await?;
    let base = path_in(&sandbox, if to.is_empty() { OsStr::new(".") } else { to })?;
    let names_it = !to.is_empty() && !to.as_bytes().ends_with(b"/");
    let copy = CopyIn {
        sandbox: &sandbox,
        from,
        max_bytes,
    };
    let straight = if source.is_file() && names_it {
        copy_straight(cli, copy, &base).await?
    } else {
        None
    };
    let (target, copied) = match straight {
        Some(copied) => (base, copied),
        None => copy_by_look(cli, copy, to, base).await?,
    };
    report(
        cli.format,
        &from.display().to_string(),
        &format!("{name}:{target}"),
        &copied,
    )
}

/// Copies a file straight to its name: looking first costs as much as a small copy, and most names are free or files.
/// `None` if that was refused because the name is a folder's.
async fn copy_straight(
    cli: &mut CliContext,
    copy: CopyIn<'_>,
    target: &SandboxPath,
) -> Outcome<Option<Copied>> {
    match ask(cli, copy.command(target)).await {
        Err(Stop::Failed(failure)) if failure.kind == FailureKind::Invalid => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Looks at what is there: into a folder the copy goes under its own name, else exactly there.
async fn copy_by_look(
    cli: &mut CliContext,
    copy: CopyIn<'_>,
    to: &OsStr,
    base: SandboxPath,
) -> Outcome<(SandboxPath, Copied)> {
    let from = copy.from;
    let found = kind_of(cli, copy.sandbox, &base).await?;
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
    let copied = ask(cli, copy.command(&target)).await?;
    Ok((target, copied))
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

async fn copy_out(
    cli: &mut CliContext,
    name: &str,
    from: &OsStr,
    to: &Path,
    max_bytes: Option<u64>,
) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let path = path_in(&sandbox, from)?;
    let inside = goes_inside(cli, &sandbox, &path, to).await?;
    let target = local_target(from, &path, to, inside);
    let command = Command::CopyOut {
        sandbox: sandbox.reference.clone(),
        from: path.clone(),
        to: target.clone(),
        max_bytes,
    };
    let copied = ask(cli, command).await?;
    report(
        cli.format,
        &format!("{name}:{path}"),
        &target.display().to_string(),
        &copied,
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

/// Tells what was copied; what was left out unread makes it a failure.
fn report(format: Format, from: &str, to: &str, copied: &Copied) -> Outcome<u8> {
    match format {
        Format::Json => print::json(&json!({
            "from": from, "to": to, "entries": copied.entries, "bytes": copied.bytes, "skipped": copied.skipped,
            "unreadable": copied.unreadable, "unreadable_names": copied.unreadable_names,
        }))?,
        Format::Text => {
            print::note(&summary(to, copied));
            if copied.unreadable > 0 {
                print::note(&left_out(copied));
            }
        }
    }
    Ok(if copied.unreadable > 0 {
        exit::FAILED
    } else {
        exit::OK
    })
}

fn summary(to: &str, copied: &Copied) -> String {
    let entries = match copied.entries {
        1 => "1 entry".to_owned(),
        many => format!("{many} entries"),
    };
    let skipped = match copied.skipped {
        0 => String::new(),
        some => format!(", {some} special files left out"),
    };
    let (size, to) = (human::bytes(copied.bytes), safe_line(to));
    format!("{entries}, {size}{skipped} to {to}")
}

fn left_out(copied: &Copied) -> String {
    let names: Vec<String> = copied.unreadable_names.iter().map(safe_line).collect();
    let more = copied.unreadable.saturating_sub(names.len() as u64);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "error: {} could not be read and were left out: {}{more}",
        copied.unreadable,
        names.join(", ")
    )
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
