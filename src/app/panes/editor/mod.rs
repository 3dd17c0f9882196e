//! The editor: several buffers, one of which has the keys.

mod actions;
mod analysis;
mod buffer;
mod columns;
mod files;
mod find;
mod highlight;
mod history;
mod indent;
mod keys;
mod recovery;
#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::panic)]
mod tests;
mod text;
mod view;

use std::cell::RefCell;

pub use analysis::Known;
pub use buffer::{Buffer, MAX_BYTES, MAX_LINE, MAX_LINES, Origin, ReadOnly};
pub use columns::{Glyph, Glyphs, column_of, glyphs};
pub use highlight::{Code, Grammars, Highlight, Span};
pub use text::{Position, Reach, Text};
pub use view::View;

use crate::app::{Intent, PromptKind, Tone};
use crate::code::Languages;
use crate::keymap::Action;
use actions::{clean, motion};
use find::{SearchStep, ask_replacement};

/// The lines coloured before the pane was ever drawn.
const FIRST_SCREEN: usize = 100;

/// All buffers and what is shared by them.
#[derive(Debug)]
pub struct EditorState {
    /// Never empty.
    buffers: Vec<Buffer>,
    /// Never seen: it stands in where the compiler cannot know that there is a current buffer.
    spare: Buffer,
    current: usize,
    last_id: u64,
    grammars: Option<Grammars>,
    languages: Languages,
    /// What was copied or cut here last.
    clip: String,
    last_search: String,
    /// The column that the cursor keeps to while it goes up and down.
    goal: Option<usize>,
    /// Whether the language was asked for because the buffer is to be run.
    run_once_known: bool,
    intents: Vec<Intent>,
    /// The unsaved buffers and their states when they were last asked for.
    recovered: RefCell<Vec<(u64, u64)>>,
}

impl Default for EditorState {
    fn default() -> Self {
        Self::new()
    }
}

impl EditorState {
    /// Starts with a first program in one of the built-in languages.
    #[must_use]
    pub fn new() -> Self {
        Self::with_languages(Languages::default())
    }

    /// Starts with a first program in the first of these languages.
    #[must_use]
    pub fn with_languages(languages: Languages) -> Self {
        let language = languages.first();
        let starter = language.as_ref().map_or("", |first| first.starter());
        Self {
            buffers: vec![Buffer::untitled(1, language.clone(), starter)],
            spare: Buffer::untitled(0, language.clone(), ""),
            current: 0,
            last_id: 1,
            grammars: None,
            languages,
            clip: String::new(),
            last_search: String::new(),
            goal: None,
            run_once_known: false,
            intents: Vec::new(),
            recovered: RefCell::default(),
        }
    }

    /// Returns the buffers in the order of their tabs.
    #[must_use]
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Returns the number of the current buffer's tab, from 0.
    #[must_use]
    pub fn current_tab(&self) -> usize {
        self.current
    }

    /// Returns the buffer that has the keys.
    #[must_use]
    pub fn current(&self) -> &Buffer {
        self.buffers.get(self.current).unwrap_or(&self.spare)
    }

    fn current_mut(&mut self) -> &mut Buffer {
        self.buffers
            .get_mut(self.current)
            .unwrap_or(&mut self.spare)
    }

    /// Returns how many buffers have unsaved changes.
    #[must_use]
    pub fn dirty_count(&self) -> usize {
        self.buffers
            .iter()
            .filter(|buffer| buffer.is_dirty())
            .count()
    }

    /// Returns what keys asked for since the last call, such as a word why a buffer cannot be changed.
    #[must_use]
    pub fn take_intents(&mut self) -> Vec<Intent> {
        std::mem::take(&mut self.intents)
    }

    /// Returns the text of the current buffer.
    #[must_use]
    pub fn current_text(&self) -> String {
        self.current().text.joined()
    }

    /// Puts another text in the current buffer, as one step to undo.
    pub fn replace_current(&mut self, text: &str) -> Vec<Intent> {
        let text = text.replace("\r\n", "\n");
        let lines = buffer::split(&text);
        let buffer = self.current_mut();
        if buffer.text.lines() == lines {
            return Vec::new();
        }
        let limit = buffer::too_big(lines.len(), text.len(), buffer::longest(&text));
        let limit = limit.map(|limit| format!("the editor takes at most {limit}"));
        if let Some(why) = buffer.refusal("").or(limit) {
            return vec![Intent::Toast(
                Tone::Bad,
                format!("Nothing was changed: {why}"),
            )];
        }
        let (cursor, last) = (buffer.text.cursor(), buffer.text.lines().len());
        buffer.text.replace_rows(0, last, &lines);
        buffer.text.go(cursor, Reach::Move);
        Vec::new()
    }

    /// Puts pasted text in place of the selection, or nothing of it when it is too much.
    pub fn paste(&mut self, text: &str) -> Vec<Intent> {
        let text = clean(text);
        self.goal = None;
        let buffer = self.current_mut();
        if let Some(why) = buffer.refusal(&text) {
            return vec![Intent::Toast(Tone::Bad, why)];
        }
        buffer.follow();
        buffer.text.insert(&text);
        Vec::new()
    }

    /// Does what a key outside of typing asks for.
    pub fn on_action(&mut self, action: Action) -> Vec<Intent> {
        self.run_once_known = false;
        if let Some(motion) = motion(action) {
            self.go(motion, Reach::Move);
            return Vec::new();
        }
        match action {
            Action::Run => self.run(),
            Action::RunOptions => self.run_options(),
            Action::Save => self.save(),
            Action::Language => self.ask_language(),
            Action::NewBuffer => self.open_untitled(),
            Action::CloseBuffer => self.close_or_ask(),
            Action::NextTab => self.turn(1),
            Action::PreviousTab => self.turn(self.buffers.len() - 1),
            Action::Undo => self.walk(Text::undo, "undo"),
            Action::Redo => self.walk(Text::redo, "redo"),
            Action::Find | Action::Filter => self.ask_find(),
            Action::Replace => self.ask_replace(),
            Action::NextMatch => self.next_match(SearchStep::Ahead),
            Action::PreviousMatch => self.next_match(SearchStep::Back),
            Action::Copy => self.copy(self.current().text.selected()),
            Action::CopyAll => self.copy(Some(self.current_text())),
            Action::Back => self.clear_marks(),
            _ => Vec::new(),
        }
    }

    /// Takes the answer to a question of this pane's.
    pub fn answer(&mut self, kind: &PromptKind, answer: &str) -> Vec<Intent> {
        match kind {
            PromptKind::FindInEditor => self.find(answer),
            PromptKind::ReplaceInEditor => ask_replacement(answer),
            PromptKind::ReplaceBy { what } => self.replace(what, answer),
            PromptKind::SaveBufferAs => self.save_as(answer),
            PromptKind::Language => self.choose_language(answer),
            _ => Vec::new(),
        }
    }

    /// Closes the current buffer without asking; this is what the editor's `Intent::CloseBuffer` is for.
    pub fn close_current(&mut self) {
        let language = self.current().language.clone();
        self.buffers.remove(self.current);
        if self.buffers.is_empty() {
            let id = self.next_id();
            let language = language.or_else(|| self.languages.first());
            self.buffers.push(Buffer::untitled(id, language, ""));
        }
        self.current = self.current.min(self.buffers.len() - 1);
    }

    /// Goes to a tab, for the mouse.
    pub fn show_tab(&mut self, tab: usize) {
        self.current = tab.min(self.buffers.len() - 1);
        self.goal = None;
    }

    /// Puts the cursor at a place of the area that the pane was last drawn in.
    pub fn click(&mut self, column: u16, row: u16) {
        self.goal = None;
        self.current_mut().point(column, row, Reach::Move);
    }

    /// Selects up to a place of the area that the pane was last drawn in.
    pub fn drag(&mut self, column: u16, row: u16) {
        self.goal = None;
        self.current_mut().point(column, row, Reach::Select);
    }

    /// Scrolls down, or up by a negative number, and leaves the cursor where it is.
    pub fn scroll(&mut self, lines: isize) {
        self.current().scroll(lines);
    }

    /// Colours some more of what is seen; tells whether to call again and draw again soon.
    pub fn advance_highlighting(&mut self) -> bool {
        match self.buffers.get_mut(self.current) {
            Some(buffer) if buffer.is_uncoloured() => {
                buffer.advance_highlighting(self.grammars.get_or_insert_with(Grammars::load))
            }
            _ => false,
        }
    }

    /// Tells whether what is seen is only a suggestion of ours that nobody has touched.
    #[must_use]
    pub fn shows_suggestion(&self) -> bool {
        let buffer = self.current();
        buffer.origin.is_none() && !buffer.is_dirty()
    }

    /// Lets go of the grammars; what is coloured stays so, and the next edit brings them back.
    pub fn forget_grammars(&mut self) {
        self.grammars = None;
    }
}
