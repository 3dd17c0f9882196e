//! Programs about files: `cat`, `head`, `ls`, `cd` and what makes and deletes them.

use std::ops::ControlFlow::Continue;

use super::super::files::FileTree;
use super::Flow;
use super::io::{Input, Io, PIECE};
use super::open::{locate, open, work};
use super::programs::{fail, put};
use super::shell::Shell;
use crate::domain::{FileEntry, FileKind, SandboxPath};
use crate::engine::{EngineError, Result as EngineResult};
use crate::protocol::FailureKind;

pub(super) async fn cat(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let mut status = 0;
    let inputs = if args.is_empty() {
        &["-".to_owned()][..]
    } else {
        args
    };
    for name in inputs {
        let input = match name.as_str() {
            "-" => Ok(io.input.clone()),
            name => open(shell, name),
        };
        match input {
            Ok(input) => copy(&input, usize::MAX, io).await?,
            Err(message) => {
                status = 1;
                fail(io, "cat", &message, 1).await?
            }
        };
    }
    Continue(status)
}

pub(super) async fn head(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let (flag, count, files) = match args {
        [flag, count, files @ ..] if flag == "-c" || flag == "-n" => {
            (flag.as_str(), count.parse().ok(), files)
        }
        files => ("-n", Some(10), files),
    };
    let Some(count) = count else {
        return fail(io, "head", "invalid number", 1).await;
    };
    let input = match files.first() {
        Some(name) => open(shell, name),
        None => Ok(io.input.clone()),
    };
    match input {
        Ok(input) if flag == "-c" => copy(&input, count, io).await,
        Ok(input) => lines(&input, count, io).await,
        Err(message) => fail(io, "head", &message, 1).await,
    }
}

pub(super) async fn ls(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let all = args
        .iter()
        .any(|arg| arg.starts_with('-') && arg.to_lowercase().contains('a'));
    let mut names: Vec<&str> = args.iter().map(String::as_str).collect();
    names.retain(|name| !name.starts_with('-'));
    if names.is_empty() {
        names.push(".");
    }
    let mut status = 0;
    for name in names {
        match work(shell, name, |files, path| look(files, path, name)) {
            Ok(entries) => put(io, &names_of(&entries, all)).await?,
            Err(message) => {
                status = 2;
                fail(io, "ls", &format!("{name}: {message}"), 2).await?
            }
        };
    }
    Continue(status)
}

pub(super) async fn cd(shell: &mut Shell, args: &[String], io: &Io) -> Flow {
    let home = shell.lookup("HOME");
    let name = args.first().map_or(home.as_str(), String::as_str);
    let path = locate(shell, name);
    match work(shell, name, |files, path| files.list(path)) {
        Ok(_) => shell.enter(path),
        Err(message) => return fail(io, "cd", &format!("{name}: {message}"), 1).await,
    }
    Continue(0)
}

/// Makes or deletes files.
pub(super) async fn change(shell: &Shell, program: &str, args: &[String], io: &Io) -> Flow {
    let flags: String = args
        .iter()
        .filter(|arg| arg.starts_with('-'))
        .map(String::as_str)
        .collect();
    let names = args.iter().filter(|arg| !arg.starts_with('-'));
    let mut status = 0;
    for name in names {
        let done = work(shell, name, |files, path| match program {
            "mkdir" => make(files, path, flags.contains('p')),
            "rm" => remove(files, path, &flags),
            _ => files.append(path, b""),
        });
        if let Err(message) = done {
            status = 1;
            fail(io, program, &format!("{name}: {message}"), 1).await?;
        }
    }
    Continue(status)
}

fn make(files: &mut FileTree, path: &SandboxPath, parents: bool) -> EngineResult<()> {
    if parents {
        return files.make_dir(path);
    }
    if files.stat(path).is_ok() {
        return Err(EngineError::new(FailureKind::Conflict, "File exists"));
    }
    if let Some(parent) = path.parent() {
        files.list(&parent)?;
    }
    files.make_dir(path)
}

fn remove(files: &mut FileTree, path: &SandboxPath, flags: &str) -> EngineResult<()> {
    let recursive = flags.contains('r') || flags.contains('R');
    match files.stat(path) {
        Err(_) if flags.contains('f') => Ok(()),
        Ok(entry) if entry.kind == FileKind::Directory && !recursive => {
            Err(EngineError::new(FailureKind::Invalid, "Is a directory"))
        }
        Ok(_) | Err(_) => files.delete(path, recursive),
    }
}

/// Lists a directory, or one file under the name it was given.
fn look(files: &FileTree, path: &SandboxPath, name: &str) -> EngineResult<Vec<FileEntry>> {
    let mut entry = files.stat(path)?;
    if entry.kind == FileKind::File {
        entry.name = name.as_bytes().to_vec();
        return Ok(vec![entry]);
    }
    files.list(path)
}

fn names_of(entries: &[FileEntry], all: bool) -> Vec<u8> {
    let shown = entries
        .iter()
        .filter(|entry| all || !entry.name.starts_with(b"."));
    let lines = shown.flat_map(|entry| entry.name.iter().copied().chain([b'\n']));
    lines.collect()
}

async fn copy(input: &Input, most: usize, io: &Io) -> Flow {
    let mut left = most;
    while left > 0 {
        let piece = input.read(left.min(PIECE)).await;
        if piece.is_empty() {
            break;
        }
        left -= piece.len();
        let status = put(io, &piece).await?;
        if status != 0 {
            return Continue(status);
        }
    }
    Continue(0)
}

async fn lines(input: &Input, count: usize, io: &Io) -> Flow {
    for _ in 0..count {
        let Some(line) = input.line().await else {
            break;
        };
        put(io, format!("{line}\n").as_bytes()).await?;
    }
    Continue(0)
}
