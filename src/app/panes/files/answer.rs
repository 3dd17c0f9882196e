//! What is done with the answers to the pane's questions.

use std::path::PathBuf;

use super::ask::{OpenQuestion, say, shown, submit, work};
use super::host::base_name;
use super::{FilesState, SandboxFolder};
use crate::app::intent::{Expect, Intent, PromptKind, Tone};
use crate::app::msg::{Download, Effect};
use crate::domain::SandboxPath;
use crate::protocol::{Command, FileOp};

impl FilesState {
    /// Takes the answer to a `Intent::Ask`; for the filter it may come with every key.
    pub fn answer(&mut self, kind: &PromptKind, text: &str) -> Vec<Intent> {
        if *kind == PromptKind::FilterFiles {
            return self.choose(|listing| listing.set_filter(text.trim()));
        }
        let Some(asked) = self.asked.take().or_else(|| self.asked_now()) else {
            return say("Select a running sandbox first.");
        };
        let outcome = match kind {
            PromptKind::NewFile => self.new_file(&asked.place, text),
            PromptKind::NewFolder => self.new_folder(&asked.place, text),
            PromptKind::RenameFile { path } => self.rename(&asked.place, path, text),
            PromptKind::Upload => self.upload(&asked.place, text),
            PromptKind::Download => self.download(&asked, text),
            _ => return Vec::new(),
        };
        outcome.unwrap_or_else(|sentence| vec![Intent::Toast(Tone::Bad, sentence)])
    }

    fn asked_now(&self) -> Option<OpenQuestion> {
        let place = self.place.clone()?;
        let targets = self.selected_path().into_iter().collect();
        Some(OpenQuestion { place, targets })
    }

    fn new_file(&mut self, place: &SandboxFolder, text: &str) -> Result<Vec<Intent>, String> {
        if text.contains('/') {
            return Err("A file name holds no `/`; go to its folder first.".to_owned());
        }
        let path = new_path(text, &place.folder)?;
        // An empty text over a file that is there would wipe it.
        if self.is_taken(place, &path) {
            return Err(format!("{} exists already.", shown(path.file_name())));
        }
        self.want(&path);
        Ok(vec![Intent::SaveFile {
            sandbox: Some(place.sandbox.clone()),
            path,
            text: String::new(),
            expect: Expect::Nothing,
        }])
    }

    fn new_folder(&mut self, place: &SandboxFolder, text: &str) -> Result<Vec<Intent>, String> {
        let path = new_path(text, &place.folder)?;
        if self.is_taken(place, &path) {
            return Err(format!("{} exists already.", shown(path.file_name())));
        }
        self.want(&path);
        let label = format!("making {}", shown(path.file_name()));
        Ok(vec![work(place, FileOp::MakeDir(path), label)])
    }

    fn rename(
        &mut self,
        place: &SandboxFolder,
        from: &SandboxPath,
        text: &str,
    ) -> Result<Vec<Intent>, String> {
        let to = new_path(text, &from.parent().unwrap_or_else(SandboxPath::root))?;
        if to == *from {
            return Ok(Vec::new());
        }
        let label = format!("renaming {}", shown(from.file_name()));
        let op = FileOp::Rename {
            from: from.clone(),
            to: to.clone(),
        };
        Ok(self.careful(place, &to, work(place, op, label)))
    }

    fn upload(&mut self, place: &SandboxFolder, text: &str) -> Result<Vec<Intent>, String> {
        let from = self.host.resolve(text)?;
        if let Some(intents) = self.upload_many(place, &from) {
            return Ok(intents);
        }
        let name = base_name(&from).ok_or("give the path of a file or folder")?;
        let to = place.folder.join(name).map_err(|e| e.to_string())?;
        let copy = copy_in(place, from, to.clone());
        Ok(self.careful(place, &to, copy))
    }

    fn download(&self, asked: &OpenQuestion, text: &str) -> Result<Vec<Intent>, String> {
        let download = Download {
            sandbox: asked.place.sandbox.clone(),
            targets: asked.targets.clone(),
            to: self.host.resolve(text)?,
            into: asked.targets.len() != 1 || text.trim_end().ends_with('/'),
        };
        Ok(vec![Intent::Effect(Effect::CheckHost(Box::new(download)))])
    }

    /// Asks first when something of that name would be replaced.
    fn careful(&mut self, place: &SandboxFolder, to: &SandboxPath, intent: Intent) -> Vec<Intent> {
        if !self.is_taken(place, to) {
            self.want(to);
            return vec![intent];
        }
        let name = shown(to.file_name());
        vec![Intent::Confirm {
            question: format!("{name} exists already. Replace it? This cannot be undone."),
            button: "Replace".to_owned(),
            then: vec![intent],
        }]
    }

    /// Tells whether something of that path is in the folder on screen.
    pub(super) fn is_taken(&self, place: &SandboxFolder, path: &SandboxPath) -> bool {
        let now = self.place.as_ref();
        now.is_some_and(|now| {
            now.sandbox == place.sandbox && path.parent() == Some(now.folder.clone())
        }) && self.listing.find(path.file_name()).is_some()
    }

    /// Selects a path as soon as it is listed, if it is in the folder on screen.
    pub(super) fn want(&mut self, path: &SandboxPath) {
        let folder = self.place.as_ref().map(|place| place.folder.clone());
        if path.parent() == folder {
            self.wanted = Some(path.file_name().to_vec());
        }
    }
}

/// Asks for a copy of something of this machine.
pub(super) fn copy_in(place: &SandboxFolder, from: PathBuf, to: SandboxPath) -> Intent {
    let label = format!("copying in {}", shown(to.file_name()));
    let sandbox = place.sandbox.clone();
    let command = Command::CopyIn {
        sandbox,
        from,
        to,
        max_bytes: None,
    };
    submit(command, label)
}

fn new_path(text: &str, base: &SandboxPath) -> Result<SandboxPath, String> {
    if text.trim().is_empty() {
        return Err("Nothing is made without a name.".to_owned());
    }
    let path = SandboxPath::resolve(text.as_bytes(), base).map_err(|error| error.to_string())?;
    if path == *base || path.is_root() {
        return Err("Nothing is made without a name.".to_owned());
    }
    Ok(path)
}
