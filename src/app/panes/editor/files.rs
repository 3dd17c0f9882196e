//! Buffers and the files behind them: opening, saving, and what to do when a file changed meanwhile.

use chrono::{DateTime, Utc};

use super::EditorState;
use super::buffer::{Buffer, Origin, ReadOnly, Saving, longest, split, too_big};
use crate::app::{Expect, Intent, Prompt, PromptKind, Tone};
use crate::code::Languages;
use crate::domain::{SandboxPath, SandboxRef};
use crate::protocol::{Failure, FailureKind};
use crate::text::{safe_block, safe_line};

/// Files with longer lines, in bytes, are opened read-only.
const LONG_LINE: usize = 10_000;
/// Where new files go.
const HOME: &[u8] = b"/workspace";

/// The content of a file, ready for a buffer.
struct Content {
    lines: Vec<String>,
    has_crlf: bool,
    read_only: Option<ReadOnly>,
}

impl EditorState {
    /// Takes a file that was read, or the reason why it was not: opens it, or goes to the buffer that shows it.
    pub fn loaded(
        &mut self,
        sandbox: SandboxRef,
        path: SandboxPath,
        modified_at: Option<DateTime<Utc>>,
        bytes: Result<Vec<u8>, Failure>,
    ) -> Vec<Intent> {
        let content = match bytes
            .map_err(|failure| failure.message)
            .and_then(|bytes| decode(&bytes))
        {
            Ok(content) => content,
            Err(why) => return bad(format!("{} was not opened: {why}", show(&path))),
        };
        let origin = Origin {
            sandbox,
            path,
            known: modified_at,
        };
        match self.find_file(&origin.sandbox, &origin.path) {
            Some(index) => self.reopen(index, origin, &content),
            None => self.open(origin, content),
        }
    }

    /// Takes the outcome of a save.
    pub fn saved(
        &mut self,
        sandbox: SandboxRef,
        path: SandboxPath,
        outcome: Result<DateTime<Utc>, Failure>,
    ) -> Vec<Intent> {
        let languages = self.languages.clone();
        let Some(buffer) = self.find_saving(&sandbox, &path) else {
            return Vec::new();
        };
        match outcome {
            Ok(at) => buffer.settle(&languages, sandbox, path, at),
            Err(failure) if failure.kind == FailureKind::Conflict => {
                buffer.ask_overwrite(sandbox, path)
            }
            Err(failure) => bad(format!("{} was not saved: {failure}", show(&path))),
        }
    }

    pub(super) fn save(&mut self) -> Vec<Intent> {
        let buffer = self.current_mut();
        if let Some(why) = buffer.read_only {
            return bad(format!("{} is read-only: {why}", buffer.name));
        }
        match buffer.origin.clone() {
            Some(origin) => {
                let expect = Expect::of(origin.known);
                vec![buffer.write(Some(origin.sandbox), origin.path, expect)]
            }
            None => vec![Intent::Ask(Prompt {
                kind: PromptKind::SaveBufferAs,
                label: "Save in the sandbox as".to_owned(),
                start: format!("{}/{}", String::from_utf8_lossy(HOME), buffer.name),
            })],
        }
    }

    pub(super) fn save_as(&mut self, path: &str) -> Vec<Intent> {
        let path = SandboxPath::parse(HOME)
            .and_then(|home| SandboxPath::resolve(path.trim().as_bytes(), &home));
        match path {
            Ok(path) => vec![self.current_mut().write(None, path, Expect::Nothing)],
            Err(error) => bad(error.to_string()),
        }
    }

    fn find_file(&self, sandbox: &SandboxRef, path: &SandboxPath) -> Option<usize> {
        let is_it = |origin: &Origin| origin.sandbox == *sandbox && origin.path == *path;
        self.buffers
            .iter()
            .position(|buffer| buffer.origin.as_ref().is_some_and(is_it))
    }

    /// Finds the buffer that is written to a file: the file's own, or one that gets its first path.
    fn find_saving(&mut self, sandbox: &SandboxRef, path: &SandboxPath) -> Option<&mut Buffer> {
        let is_it = |buffer: &&mut Buffer| {
            let is_path = buffer.saving.as_ref().is_some_and(|s| s.path == *path);
            let origin = buffer.origin.as_ref();
            is_path && origin.is_none_or(|origin| origin.sandbox == *sandbox)
        };
        self.buffers.iter_mut().find(is_it)
    }

    fn open(&mut self, origin: Origin, content: Content) -> Vec<Intent> {
        let name = safe_line(origin.path.file_name());
        let note = content.read_only.map(|why| read_only_note(&name, why));
        let id = self.next_id();
        let mut buffer = Buffer::new(id, name, content.lines);
        buffer.has_crlf = content.has_crlf;
        buffer.read_only = content.read_only;
        buffer.origin = Some(origin);
        let language = self.languages.guess(&buffer.name, buffer.text.line(0));
        buffer.set_language(language);
        self.add(buffer);
        note.into_iter().collect()
    }

    fn reopen(&mut self, index: usize, origin: Origin, content: &Content) -> Vec<Intent> {
        self.current = index;
        let buffer = self.current_mut();
        if buffer.is_dirty() {
            let words = format!("{} has unsaved changes; they were kept", buffer.name);
            return vec![Intent::Toast(Tone::Plain, words)];
        }
        buffer.has_crlf = content.has_crlf;
        buffer.read_only = content.read_only;
        buffer.origin = Some(origin);
        if buffer.text.lines() != content.lines {
            let last = buffer.text.lines().len();
            buffer.text.replace_rows(0, last, &content.lines);
            buffer.saved = Some(buffer.text.state());
            buffer.text.go((0, 0), super::text::Reach::Move);
        }
        Vec::new()
    }
}

impl Buffer {
    fn write(&mut self, sandbox: Option<SandboxRef>, path: SandboxPath, expect: Expect) -> Intent {
        self.saving = Some(Saving {
            path: path.clone(),
            state: self.text.state(),
        });
        Intent::SaveFile {
            sandbox,
            path,
            text: self.file_text(),
            expect,
        }
    }

    /// Learns that what was being saved is in the file now; what was typed since is still unsaved.
    fn settle(
        &mut self,
        languages: &Languages,
        sandbox: SandboxRef,
        path: SandboxPath,
        at: DateTime<Utc>,
    ) -> Vec<Intent> {
        let saving = self.saving.take();
        self.saved = saving.map(|saving| saving.state);
        let words = format!("Saved {}", show(&path));
        self.name = safe_line(path.file_name());
        self.origin = Some(Origin {
            sandbox,
            path,
            known: Some(at),
        });
        let language = languages.guess(&self.name, self.text.line(0));
        let language = language.or_else(|| self.language.clone());
        self.set_language(language);
        vec![Intent::Toast(Tone::Good, words)]
    }

    fn ask_overwrite(&mut self, sandbox: SandboxRef, path: SandboxPath) -> Vec<Intent> {
        let shown = show(&path);
        vec![Intent::Confirm {
            question: format!(
                "{shown} was changed in the sandbox meanwhile. Overwrite it and lose those changes?"
            ),
            button: "Overwrite".to_owned(),
            then: vec![self.write(Some(sandbox), path, Expect::Anything)],
        }]
    }
}

/// Turns the bytes of a file into lines, or says why it cannot be opened.
fn decode(bytes: &[u8]) -> Result<Content, String> {
    let (text, mut read_only) = match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (safe_block(bytes), Some(ReadOnly::NotText)),
    };
    let rows = text.matches('\n').count() + 1;
    if let Some(limit) = too_big(rows, text.len(), 0) {
        return Err(format!("the editor takes at most {limit}"));
    }
    if read_only.is_none() && longest(&text) > LONG_LINE {
        read_only = Some(ReadOnly::LongLines);
    }
    // Only a file in which all lines end so is written back so; in a mixed one each `\r` stays and shows.
    let has_crlf = rows > 1 && text.matches("\r\n").count() + 1 == rows;
    let text = if has_crlf {
        text.replace("\r\n", "\n")
    } else {
        text
    };
    Ok(Content {
        lines: split(&text),
        has_crlf,
        read_only,
    })
}

fn show(path: &SandboxPath) -> String {
    safe_line(path.as_bytes())
}

fn bad(words: String) -> Vec<Intent> {
    vec![Intent::Toast(Tone::Bad, words)]
}

fn read_only_note(name: &str, why: ReadOnly) -> Intent {
    Intent::Toast(Tone::Plain, format!("{name} is read-only: {why}"))
}
