//! What is asked before files are made, moved, copied or deleted.

use super::{FilesState, SandboxFolder, Shows};
use crate::app::intent::{Intent, Prompt, PromptKind, Tone};
use crate::domain::{FileEntry, FileKind, SandboxPath};
use crate::keymap::Action;
use crate::protocol::{Command, FileOp};
use crate::text::{safe_line, truncate};

/// How many names a question about many files shows.
const NAMED: usize = 5;

/// The columns after which a name in a question is cut.
const LONGEST_NAME: usize = 80;

/// What an open question is about.
#[derive(Debug, Clone)]
pub(super) struct OpenQuestion {
    pub(super) place: SandboxFolder,
    pub(super) targets: Vec<SandboxPath>,
}

impl FilesState {
    /// Asks what an action needs to know.
    pub(super) fn ask(&mut self, action: Action) -> Vec<Intent> {
        if let Some(refusal) = self.refusal(action) {
            return refusal;
        }
        match action {
            Action::Filter => self.ask_filter(),
            Action::NewFile => self.ask_here(PromptKind::NewFile, "New file", String::new()),
            Action::NewFolder => self.ask_here(PromptKind::NewFolder, "New folder", String::new()),
            Action::Upload => {
                self.ask_here(PromptKind::Upload, "Copy in from", self.host.suggest(""))
            }
            Action::Download => self.ask_download(),
            Action::Rename => self.ask_rename(),
            Action::Delete => self.confirm_delete(),
            _ => Vec::new(),
        }
    }

    /// Asks something about the folder.
    fn ask_here(&mut self, kind: PromptKind, label: &str, start: String) -> Vec<Intent> {
        if self.place.is_none() {
            return say("Select a running sandbox first.");
        }
        // Without the listing nobody can tell whether a name is taken.
        if !self.is_listed() {
            return say("The folder is not listed yet; try again.");
        }
        self.question(kind, label.to_owned(), start, Vec::new())
    }

    fn ask_filter(&mut self) -> Vec<Intent> {
        let start = self.listing.filter().to_owned();
        self.ask_here(PromptKind::FilterFiles, "Filter", start)
    }

    fn ask_rename(&mut self) -> Vec<Intent> {
        let Some(path) = self.selected_path() else {
            return say("No file is selected.");
        };
        let name = safe_line(path.file_name());
        let label = format!("Rename {}", shown(path.file_name()));
        self.question(PromptKind::RenameFile { path }, label, name, Vec::new())
    }

    fn ask_download(&mut self) -> Vec<Intent> {
        let targets = self.targets();
        let paths: Vec<SandboxPath> = targets.iter().map(|(path, _)| path.clone()).collect();
        let (label, name) = match targets.as_slice() {
            [] => return say("No file is selected."),
            [(path, _)] => (
                format!("Copy {} to", shown(path.file_name())),
                safe_line(path.file_name()),
            ),
            many => (
                format!("Copy {} into the folder", count(many)),
                String::new(),
            ),
        };
        let start = self.host.suggest(&name);
        self.question(PromptKind::Download, label, start, paths)
    }

    fn question(
        &mut self,
        kind: PromptKind,
        label: String,
        start: String,
        targets: Vec<SandboxPath>,
    ) -> Vec<Intent> {
        self.asked = self
            .place
            .clone()
            .map(|place| OpenQuestion { place, targets });
        vec![Intent::Ask(Prompt { kind, label, start })]
    }

    fn confirm_delete(&self) -> Vec<Intent> {
        let targets = self.targets();
        let (Some(place), false) = (&self.place, targets.is_empty()) else {
            return say("No file is selected.");
        };
        let then = targets
            .iter()
            .map(|(path, entry)| delete(place, path, entry))
            .collect();
        let name = safe_line(&place.name);
        let from = match place.shows {
            Shows::Changes => name,
            Shows::Folder => format!("{name}:{}", shown(place.folder.as_bytes())),
        };
        let what = name_all(&targets);
        vec![Intent::Confirm {
            question: format!("Delete {what} from {from}? This cannot be undone."),
            button: "Delete".to_owned(),
            then,
        }]
    }

    /// Returns what is marked, shown or not, else what is selected.
    fn targets(&self) -> Vec<(SandboxPath, &FileEntry)> {
        let with_path = |entry| Some((self.path_of(entry)?, entry));
        match self.listing.marked_count() {
            0 => self.selected().and_then(with_path).into_iter().collect(),
            _ => self.listing.marked().filter_map(with_path).collect(),
        }
    }
}

/// Asks for a command for the place's sandbox.
pub(super) fn submit(command: Command, label: String) -> Intent {
    Intent::FileWork { command, label }
}

/// Asks for small work on files.
pub(super) fn work(place: &SandboxFolder, op: FileOp, label: String) -> Intent {
    let sandbox = place.sandbox.clone();
    submit(Command::File { sandbox, op }, label)
}

/// Asks for a short message.
pub(super) fn say(sentence: &str) -> Vec<Intent> {
    vec![Intent::Toast(Tone::Plain, sentence.to_owned())]
}

/// Makes a name or path fit for a sentence.
pub(super) fn shown(name: &[u8]) -> String {
    truncate(&safe_line(name), LONGEST_NAME).into_owned()
}

fn delete(place: &SandboxFolder, path: &SandboxPath, entry: &FileEntry) -> Intent {
    let op = FileOp::Delete {
        path: path.clone(),
        recursive: entry.kind == FileKind::Directory,
    };
    work(place, op, format!("deleting {}", shown(&entry.name)))
}

fn name_all(targets: &[(SandboxPath, &FileEntry)]) -> String {
    if let [(_, entry)] = targets {
        return name_one(entry);
    }
    let names: Vec<String> = targets
        .iter()
        .take(NAMED)
        .map(|(_, entry)| shown(&entry.name))
        .collect();
    let more = match targets.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} ({}{more})", count(targets), names.join(", "))
}

fn name_one(entry: &FileEntry) -> String {
    let name = shown(&entry.name);
    match entry.kind {
        FileKind::File => format!("the file {name}"),
        FileKind::Directory => format!("the folder {name} and all in it"),
        FileKind::Symlink { .. } => format!("the link {name}, not what it leads to,"),
        FileKind::Special => format!("the special file {name}"),
    }
}

/// Counts files and folders in words.
fn count(targets: &[(SandboxPath, &FileEntry)]) -> String {
    let is_folder = |(_, entry): &&(SandboxPath, &FileEntry)| entry.kind == FileKind::Directory;
    let folders = targets.iter().filter(is_folder).count();
    let files = targets.len() - folders;
    match (files, folders) {
        (_, 0) => plural(files, "file"),
        (0, _) => format!("{} with all in them", plural(folders, "folder")),
        (_, _) => format!(
            "{} and {} with all in them",
            plural(files, "file"),
            plural(folders, "folder")
        ),
    }
}

fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
