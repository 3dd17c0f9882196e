//! What the editor's actions do, besides files and searches.

use super::buffer::{Buffer, longest, too_big};
use super::keys::Motion;
use super::{EditorState, FIRST_SCREEN, Grammars, ReadOnly, Text};
use crate::app::{Intent, Prompt, PromptKind, Tone};
use crate::code::Language;
use crate::keymap::Action;

impl EditorState {
    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Adds a buffer and goes to it.
    pub(super) fn add(&mut self, buffer: Buffer) {
        self.buffers.push(buffer);
        self.current = self.buffers.len() - 1;
        self.goal = None;
    }

    pub(super) fn run(&mut self) -> Vec<Intent> {
        let buffer = self.current();
        if buffer
            .text
            .lines()
            .iter()
            .all(|line| line.trim().is_empty())
        {
            return say(Tone::Plain, "There is no code to run yet");
        }
        if buffer.read_only == Some(ReadOnly::NotText) {
            return say(
                Tone::Bad,
                "This is not text, so that it cannot be run from here",
            );
        }
        let Some(language) = buffer.language.clone() else {
            self.run_once_known = true;
            return self.ask_language();
        };
        let code = self.current_text();
        let options = Box::default();
        vec![Intent::Run {
            code,
            language,
            options,
        }]
    }

    /// The same as a run, but how is asked first.
    pub(super) fn run_options(&mut self) -> Vec<Intent> {
        let ask = |intent| match intent {
            Intent::Run { code, language, .. } => Intent::AskHowToRun { code, language },
            other => other,
        };
        self.run().into_iter().map(ask).collect()
    }

    pub(super) fn ask_language(&self) -> Vec<Intent> {
        let names = self.languages.names();
        let now = self.current().language.as_ref();
        vec![Intent::Ask(Prompt {
            kind: PromptKind::Language,
            label: format!("Language ({names})"),
            start: now.map_or("", Language::name).to_owned(),
        })]
    }

    pub(super) fn choose_language(&mut self, answer: &str) -> Vec<Intent> {
        let run = std::mem::take(&mut self.run_once_known);
        let Some(language) = self.languages.by_word(answer.trim()) else {
            let names = self.languages.names();
            return say(Tone::Bad, &format!("Choose one of: {names}"));
        };
        self.current_mut().set_language(Some(language));
        if run { self.run() } else { Vec::new() }
    }

    pub(super) fn open_untitled(&mut self) -> Vec<Intent> {
        let language = self.current().language.clone();
        let language = language.or_else(|| self.languages.first());
        let id = self.next_id();
        self.add(Buffer::untitled(id, language, ""));
        Vec::new()
    }

    /// Opens a text that lies in no sandbox.
    pub fn open_text(&mut self, name: &str, text: &str) -> Vec<Intent> {
        let text = clean(text);
        if let Some(limit) = too_big(text.matches('\n').count() + 1, text.len(), longest(&text)) {
            let words = format!("{name} was not opened: the editor takes at most {limit}");
            return say(Tone::Bad, &words);
        }
        let first = text.lines().next().unwrap_or_default();
        let language = self.languages.guess(name, first);
        let id = self.next_id();
        let mut buffer = Buffer::untitled(id, language, &text);
        name.clone_into(&mut buffer.name);
        self.add(buffer);
        Vec::new()
    }

    pub(super) fn close_or_ask(&mut self) -> Vec<Intent> {
        let buffer = self.current();
        if buffer.is_dirty() {
            return vec![Intent::Confirm {
                question: format!("Close {} and lose its unsaved changes?", buffer.name),
                button: "Close".to_owned(),
                then: vec![Intent::CloseBuffer],
            }];
        }
        self.close_current();
        Vec::new()
    }

    pub(super) fn turn(&mut self, tabs: usize) -> Vec<Intent> {
        self.show_tab((self.current + tabs) % self.buffers.len());
        Vec::new()
    }

    pub(super) fn walk(&mut self, step: impl FnOnce(&mut Text) -> bool, word: &str) -> Vec<Intent> {
        self.goal = None;
        let buffer = self.current_mut();
        buffer.follow();
        if step(&mut buffer.text) {
            return Vec::new();
        }
        say(Tone::Plain, &format!("Nothing to {word}"))
    }

    pub(super) fn copy(&mut self, text: Option<String>) -> Vec<Intent> {
        let Some(text) = text else {
            return Vec::new();
        };
        self.clip.clone_from(&text);
        vec![Intent::Copy(text)]
    }

    /// Gives up the selection and the marks of a search.
    pub(super) fn clear_marks(&mut self) -> Vec<Intent> {
        let text = &mut self.current_mut().text;
        text.deselect();
        text.search_for(None);
        Vec::new()
    }
}

impl Buffer {
    /// Tells whether something that is seen waits to be coloured.
    pub(super) fn is_uncoloured(&self) -> bool {
        self.text.is_uncoloured(self.seen_until())
    }

    pub(super) fn advance_highlighting(&mut self, grammars: &Grammars) -> bool {
        let until = self.seen_until();
        self.text.advance_highlighting(grammars, until)
    }

    fn seen_until(&self) -> usize {
        let (top, height) = self.seen_next();
        top + height.max(FIRST_SCREEN)
    }
}

/// Returns where an action moves the cursor.
pub(super) fn motion(action: Action) -> Option<Motion> {
    Some(match action {
        Action::Up => Motion::Up(1),
        Action::Down => Motion::Down(1),
        Action::PageUp => Motion::PageUp,
        Action::PageDown => Motion::PageDown,
        Action::Top => Motion::Top,
        Action::Bottom => Motion::Bottom,
        _ => return None,
    })
}

/// Makes line ends of one kind and drops what is not text.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_text).collect()
}

fn say(tone: Tone, words: &str) -> Vec<Intent> {
    vec![Intent::Toast(tone, words.to_owned())]
}
