//! `files`: look at and change files of a sandbox.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Map, Value, json};

use super::file_args::FilesVerb;
use super::output::{Drawing, Kept, Writer};
use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::stream::{self, Follower, InputFrom, Output};
use super::{CliContext, exit, views};
use crate::domain::{FileEntry, FileKind, Sandbox, SandboxPath, StreamId};
use crate::protocol::{Command, Failure, FailureKind, FileOp, Reply};
use crate::text::{Table, human, safe_line};

/// Runs one of the file verbs.
pub(super) async fn run(cli: &mut CliContext, verb: &FilesVerb) -> Outcome<u8> {
    match verb {
        FilesVerb::Ls { name, path } => list(cli, name, path.as_deref()).await,
        FilesVerb::Cat { name, paths } => cat(cli, name, paths).await,
        FilesVerb::Put { name, path, mode } => put(cli, name, path, mode.as_deref()).await,
        FilesVerb::Rm {
            name,
            paths,
            recursive,
            force,
        } => {
            let removal = Removal {
                recursive: *recursive,
                missing_is_fine: *force,
            };
            remove(cli, name, paths, removal).await
        }
        FilesVerb::Mv { name, from, to } => rename(cli, name, from, to).await,
        FilesVerb::Mkdir { name, paths } => make_dirs(cli, name, paths).await,
        FilesVerb::Stat { name, path } => stat(cli, name, path).await,
    }
}

/// Reads a path of a sandbox; a relative one starts at its work directory.
pub(super) fn path_in(sandbox: &Sandbox, path: &OsStr) -> Result<SandboxPath, Failure> {
    let path = SandboxPath::resolve(path.as_bytes(), &sandbox.work_dir);
    path.map_err(|error| Failure::new(FailureKind::Invalid, error.to_string()))
}

async fn operate(cli: &mut CliContext, sandbox: &Sandbox, op: FileOp) -> Result<Reply, Failure> {
    cli.session
        .ask(Command::File {
            sandbox: sandbox.reference.clone(),
            op,
        })
        .await
}

async fn list(cli: &mut CliContext, name: &str, path: Option<&OsStr>) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let path = path_in(&sandbox, path.unwrap_or(OsStr::new(".")))?;
    let entries = match operate(cli, &sandbox, FileOp::List(path.clone())).await? {
        Reply::Entries(entries) => entries,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(
            &entries
                .iter()
                .map(|entry| in_directory(entry, &path))
                .collect::<Vec<_>>(),
        )?,
        Format::Text if entries.is_empty() => {}
        Format::Text => print::line(&table(&entries).to_string())?,
    }
    Ok(exit::OK)
}

fn in_directory(entry: &FileEntry, directory: &SandboxPath) -> Value {
    let path = directory
        .join(&entry.name)
        .unwrap_or_else(|_| directory.clone());
    views::file(entry, &path)
}

fn table(entries: &[FileEntry]) -> Table {
    let mut table = Table::new(&["MODE", "OWNER", "SIZE", "CHANGED", "NAME"]);
    for entry in entries {
        table.row(cells(entry));
    }
    table
}

fn cells(entry: &FileEntry) -> Vec<String> {
    let (letter, suffix) = match &entry.kind {
        FileKind::File => ('-', String::new()),
        FileKind::Directory => ('d', "/".to_owned()),
        FileKind::Symlink { target } => ('l', format!(" -> {}", safe_line(target))),
        FileKind::Special => ('?', String::new()),
    };
    vec![
        format!("{letter}{}", human::permissions(entry.mode)),
        format!("{}:{}", entry.uid, entry.gid),
        human::bytes(entry.size),
        entry.modified_at.format("%Y-%m-%d %H:%M").to_string(),
        format!("{}{suffix}", safe_line(&entry.name)),
    ]
}

async fn stat(cli: &mut CliContext, name: &str, path: &OsStr) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let path = path_in(&sandbox, path)?;
    let entry = match operate(cli, &sandbox, FileOp::Stat(path.clone())).await? {
        Reply::Entry(entry) => entry,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&views::file(&entry, &path))?,
        Format::Text => print::line(&table(std::slice::from_ref(&entry)).to_string())?,
    }
    Ok(exit::OK)
}

async fn cat(cli: &mut CliContext, name: &str, paths: &[std::ffi::OsString]) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let mut kept = Vec::new();
    for path in paths {
        let path = path_in(&sandbox, path)?;
        match cli.format {
            Format::Text => {
                drop(
                    read(
                        cli,
                        &sandbox,
                        &path,
                        Output::Through(Writer::new(Drawing::Text)),
                    )
                    .await?,
                );
            }
            Format::Json => kept.push(content(cli, &sandbox, &path).await?),
        }
    }
    if cli.format == Format::Json {
        match kept.as_slice() {
            [one] => print::json(one)?,
            many => print::json(&many)?,
        }
    }
    Ok(exit::OK)
}

async fn read(
    cli: &mut CliContext,
    sandbox: &Sandbox,
    path: &SandboxPath,
    output: Output,
) -> Outcome<Output> {
    let stream = cli.session.stream_id();
    let command = Command::ReadFile {
        sandbox: sandbox.reference.clone(),
        stream,
        path: path.clone(),
        limit: None,
    };
    cli.session.ask(command).await?;
    let followed = Follower::new(&mut cli.session, stream, output, InputFrom::Nothing)
        .follow(false)
        .await?;
    match followed.output {
        Output::Kept(_) | Output::Lines => Ok(followed.output),
        Output::Through(_) => stream::finish(followed)
            .await
            .map(|_| Output::Kept(Kept::new(0))),
    }
}

async fn content(cli: &mut CliContext, sandbox: &Sandbox, path: &SandboxPath) -> Outcome<Value> {
    let output = Output::Kept(Kept::new(cli.config.json_limit));
    let mut fields = Map::new();
    views::put_text(&mut fields, "path", path.as_bytes());
    if let Output::Kept(kept) = read(cli, sandbox, path, output).await? {
        let (bytes, cut) = kept.stdout();
        views::put_text(&mut fields, "content", bytes);
        fields.insert("truncated".into(), json!(cut));
    }
    Ok(Value::Object(fields))
}

async fn put(cli: &mut CliContext, name: &str, path: &OsStr, mode: Option<&str>) -> Outcome<u8> {
    cli.refuse_if_read_only("writing a file")?;
    let mode = mode.map(octal).transpose()?;
    let sandbox = cli.session.find(name).await?;
    let path = path_in(&sandbox, path)?;
    let stream: StreamId = cli.session.stream_id();
    let command = Command::WriteFile {
        sandbox: sandbox.reference.clone(),
        stream,
        path: path.clone(),
        mode,
    };
    cli.session.ask(command).await?;
    let output = Output::Kept(Kept::new(0));
    let followed = Follower::new(&mut cli.session, stream, output, InputFrom::Stdin)
        .follow(false)
        .await?;
    if followed.end.ended != crate::domain::Ended::Code(0) {
        return Err(Failure::new(
            FailureKind::Interrupted,
            format!("writing {path} was called off; nothing was changed"),
        )
        .into());
    }
    done(cli.format, "path", &path)
}

fn octal(text: &str) -> Result<u32, Failure> {
    let bits = u32::from_str_radix(text, 8)
        .ok()
        .filter(|bits| *bits <= 0o7777);
    bits.ok_or_else(|| {
        Failure::new(
            FailureKind::Invalid,
            format!("--mode: `{text}` is not a mode such as 644"),
        )
    })
}

fn done(format: Format, key: &str, path: &SandboxPath) -> Outcome<u8> {
    if format == Format::Json {
        let mut fields = Map::new();
        views::put_text(&mut fields, key, path.as_bytes());
        fields.insert("ok".into(), json!(true));
        print::json(&Value::Object(fields))?;
    }
    Ok(exit::OK)
}

/// How files are removed.
#[derive(Clone, Copy)]
struct Removal {
    recursive: bool,
    missing_is_fine: bool,
}

async fn remove(
    cli: &mut CliContext,
    name: &str,
    paths: &[std::ffi::OsString],
    removal: Removal,
) -> Outcome<u8> {
    cli.refuse_if_read_only("deleting files")?;
    let recursive = removal.recursive;
    let op = |path| FileOp::Delete { path, recursive };
    each(cli, name, paths, op, |outcome| match outcome {
        Err(failure) if removal.missing_is_fine && failure.kind == FailureKind::NotFound => Ok(()),
        Err(failure) if failure.message.contains("not empty") => {
            Err(failure.with_hint("use `files rm -r`"))
        }
        outcome => outcome,
    })
    .await
}

async fn make_dirs(cli: &mut CliContext, name: &str, paths: &[std::ffi::OsString]) -> Outcome<u8> {
    cli.refuse_if_read_only("making directories")?;
    each(cli, name, paths, FileOp::MakeDir, |outcome| outcome).await
}

/// Does the same to several paths, up to the first whose outcome is judged a failure.
async fn each(
    cli: &mut CliContext,
    name: &str,
    paths: &[std::ffi::OsString],
    op: impl Fn(SandboxPath) -> FileOp,
    judge: impl Fn(Result<(), Failure>) -> Result<(), Failure>,
) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?;
    let paths: Vec<SandboxPath> = paths
        .iter()
        .map(|path| path_in(&sandbox, path))
        .collect::<Result<_, _>>()?;
    for path in &paths {
        let done = operate(cli, &sandbox, op(path.clone())).await;
        judge(done.map(|_| ()))?;
    }
    if cli.format == Format::Json {
        print::json(&json!({"ok": true, "paths": paths}))?;
    }
    Ok(exit::OK)
}

async fn rename(cli: &mut CliContext, name: &str, from: &OsStr, to: &OsStr) -> Outcome<u8> {
    cli.refuse_if_read_only("moving files")?;
    let sandbox = cli.session.find(name).await?;
    let (from, to) = (path_in(&sandbox, from)?, path_in(&sandbox, to)?);
    operate(
        cli,
        &sandbox,
        FileOp::Rename {
            from,
            to: to.clone(),
        },
    )
    .await?;
    done(cli.format, "path", &to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal() {
        assert_eq!(octal("755").ok(), Some(0o755));
        assert!(octal("9").is_err() && octal("77777").is_err());
    }
}
