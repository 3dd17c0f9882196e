//! Unsaved buffers as data, so that they survive a crash.

use super::EditorState;
use super::buffer::{Buffer, Origin, split};
use crate::app::msg::{RecoveredBuffer, RecoveredOrigin};
use crate::code::Languages;
use crate::domain::SandboxPath;

impl EditorState {
    /// Returns all unsaved buffers and remembers that they were asked for.
    #[must_use]
    pub fn recovery(&self) -> Vec<RecoveredBuffer> {
        self.recovered.replace(self.unsaved());
        let dirty = self.buffers.iter().filter(|buffer| buffer.is_dirty());
        dirty.map(describe).collect()
    }

    /// Tells whether `recovery` would return something else than the last time.
    #[must_use]
    pub fn changed_since_recovery(&self) -> bool {
        *self.recovered.borrow() != self.unsaved()
    }

    /// Opens unsaved buffers of an earlier run, as unsaved ones.
    pub fn restore(&mut self, recovered: Vec<RecoveredBuffer>) {
        if recovered.is_empty() {
            return;
        }
        // Nobody misses the first program when their own is back.
        if self.buffers.iter().all(Buffer::is_pristine) {
            self.buffers.clear();
        }
        for one in recovered {
            let buffer = revive(self.next_id(), one, &self.languages);
            self.add(buffer);
        }
    }

    /// Names the state of all unsaved buffers.
    fn unsaved(&self) -> Vec<(u64, u64)> {
        let dirty = self.buffers.iter().filter(|buffer| buffer.is_dirty());
        dirty
            .map(|buffer| (buffer.id, buffer.text.state()))
            .collect()
    }
}

impl Buffer {
    fn is_pristine(&self) -> bool {
        self.origin.is_none() && !self.is_dirty()
    }
}

fn describe(buffer: &Buffer) -> RecoveredBuffer {
    let origin = buffer.origin.as_ref().map(|origin| RecoveredOrigin {
        sandbox: origin.sandbox.clone(),
        path: origin.path.as_bytes().to_vec(),
        known: origin.known,
    });
    RecoveredBuffer {
        name: buffer.name.clone(),
        language: buffer
            .language
            .as_ref()
            .map(|language| language.name().to_owned()),
        text: buffer.text.joined(),
        origin,
        has_crlf: buffer.has_crlf,
    }
}

fn revive(id: u64, recovered: RecoveredBuffer, languages: &Languages) -> Buffer {
    let name = crate::text::safe_line(&recovered.name);
    let mut buffer = Buffer::new(id, name.clone(), split(&recovered.text));
    buffer.origin = recovered.origin.and_then(|origin| {
        Some(Origin {
            sandbox: origin.sandbox,
            path: SandboxPath::parse(&origin.path).ok()?,
            known: origin.known,
        })
    });
    let language = recovered.language.as_deref();
    let language = language.and_then(|word| languages.by_word(word));
    buffer.set_language(language);
    buffer.name = name;
    buffer.has_crlf = recovered.has_crlf;
    buffer.saved = None;
    buffer
}
