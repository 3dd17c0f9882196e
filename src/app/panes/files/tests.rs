//! Flows through the files pane: actions in, intents out.

mod changes;
mod moves;
mod since;

use super::*;
use crate::domain::{FileKind, HostName, SandboxId};
use crate::text::safe_line;

const PAGE: usize = 10;

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text.as_bytes()).expect("a valid path")
}

pub(crate) fn sandbox(id: &str) -> SandboxRef {
    SandboxRef::new(HostName::new("local"), SandboxId::new(id))
}

pub(crate) fn entry(name: impl AsRef<[u8]>, kind: FileKind) -> FileEntry {
    FileEntry {
        name: name.as_ref().to_vec(),
        kind,
        size: 1536,
        mode: 0o644,
        uid: 1000,
        gid: 1000,
        modified_at: DateTime::from_timestamp(1_000_000, 0).unwrap_or_default(),
    }
}

pub(crate) fn file(name: impl AsRef<[u8]>) -> FileEntry {
    entry(name, FileKind::File)
}

pub(crate) fn folder(name: impl AsRef<[u8]>) -> FileEntry {
    entry(name, FileKind::Directory)
}

pub(crate) fn link(name: &str, target: &str) -> FileEntry {
    let target = target.as_bytes().to_vec();
    entry(name, FileKind::Symlink { target })
}

/// A pane that shows `/workspace` of the sandbox `py`.
pub(crate) fn pane(entries: Vec<FileEntry>) -> FilesState {
    let mut state = FilesState::new(HostPlaces {
        home: Some("/home/me".into()),
        here: "/here".into(),
    });
    state.set_page(PAGE);
    let intents = state.show(Some((sandbox("py"), "py".into(), path("/workspace"))));
    assert_eq!(intents, [list("/workspace")]);
    state.listed(&sandbox("py"), &path("/workspace"), Ok(entries));
    state
}

fn usual() -> FilesState {
    pane(vec![folder("src"), file("b"), file("a"), link("l", "b")])
}

fn list(folder: &str) -> Intent {
    travel::list_folder(sandbox("py"), path(folder))
}

fn edit(file: &str) -> Intent {
    Intent::EditFile {
        sandbox: sandbox("py"),
        path: path(file),
    }
}

fn acts(state: &mut FilesState, actions: &[Action]) -> Vec<Intent> {
    actions
        .iter()
        .map(|action| state.on_action(*action, PAGE))
        .last()
        .unwrap_or_default()
}

fn name(state: &FilesState) -> String {
    let name = state.selected().map(|entry| safe_line(&entry.name));
    name.unwrap_or_default()
}
