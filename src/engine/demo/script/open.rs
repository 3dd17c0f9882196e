//! Files as programs see them: by name, from where the shell is.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Mutex;

use super::super::files::FileTree;
use super::io::{Input, Sink};
use super::shell::Shell;
use crate::domain::{FileKind, SandboxPath};
use crate::engine::Result as EngineResult;
use crate::protocol::FailureKind;

/// Opens a file for reading; the error is what a shell would say.
pub(super) fn open(shell: &Shell, name: &str) -> Result<Input, String> {
    match name {
        "/dev/null" => Ok(Input::Empty),
        "/dev/zero" => Ok(Input::Zero),
        name => {
            let bytes = work(shell, name, |files, path| files.content(path));
            let bytes = bytes.map_err(|error| format!("{name}: {error}"))?;
            let bytes = Bytes::from_owner(Contents(bytes));
            Ok(Input::File(Arc::new(Mutex::new(bytes))))
        }
    }
}

/// Opens a file for writing at its end, empty first if wanted.
pub(super) fn create(shell: &Shell, name: &str, empty: bool) -> Result<Sink, String> {
    if name == "/dev/null" {
        return Ok(Sink::Null);
    }
    let path = locate(shell, name);
    let made = work(shell, name, |files, path| {
        if empty {
            files.put(path, None, Vec::new())
        } else {
            files.append(path, b"")
        }
    });
    made.map_err(|error| format!("{name}: {error}"))?;
    Ok(Sink::File {
        world: Arc::clone(&shell.site.world),
        id: shell.site.id.clone(),
        path,
    })
}

/// Reads a whole file as text.
pub(super) fn text(shell: &Shell, name: &str) -> Result<String, String> {
    let bytes = work(shell, name, |files, path| files.content(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Tells whether a file may be run; `None` if it is not there.
pub(super) fn is_executable(shell: &Shell, name: &str) -> Option<bool> {
    let entry = work(shell, name, |files, path| files.stat(path)).ok()?;
    Some(entry.kind == FileKind::File && entry.mode & 0o111 != 0)
}

/// Works on the file of that name; errors become what programs say.
pub(super) fn work<T>(
    shell: &Shell,
    name: &str,
    job: impl FnOnce(&mut FileTree, &SandboxPath) -> EngineResult<T>,
) -> Result<T, String> {
    let path = locate(shell, name);
    let site = &shell.site;
    let done = site
        .world
        .with(&site.id, |sandbox, _| job(&mut sandbox.files, &path));
    done.map_err(|error| match error.kind {
        FailureKind::NotFound => "No such file or directory".into(),
        FailureKind::NoSpace => "No space left on device".into(),
        _ => error.message,
    })
}

/// Turns a name into a path, resolving `..` by words.
pub(super) fn locate(shell: &Shell, name: &str) -> SandboxPath {
    let from_root = name.starts_with('/');
    let mut path = if from_root {
        SandboxPath::root()
    } else {
        shell.cwd.clone()
    };
    for part in name.split('/') {
        path = match part {
            ".." => path.parent().unwrap_or(path),
            // Only a NUL is refused here, and no shell word can hold one.
            part => path.join(part.as_bytes()).unwrap_or(path),
        };
    }
    path
}

/// Lets a stream of bytes share a file's content without a copy.
struct Contents(Arc<Vec<u8>>);

impl AsRef<[u8]> for Contents {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
