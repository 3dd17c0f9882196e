//! The places that give keys their meaning.

use std::iter;

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere but in text, shells and overlays.
    Global,
    /// The list of sandboxes.
    Sandboxes,
    /// The editor pane, before typing.
    Editor,
    /// Typing in the editor.
    Edit,
    /// The output pane.
    Output,
    /// The files pane.
    Files,
    /// A shell that has the keys.
    Terminal,
    /// A question with buttons.
    Dialog,
    /// A line of text that is asked for, or a form.
    Prompt,
    /// A list that is only looked at: help, events, log.
    Viewer,
    /// The view of one sandbox.
    Inspect,
    /// The list of recorded runs.
    History,
}

impl Context {
    /// All contexts, in the order of help.
    pub const ALL: [Self; 12] = [
        Self::Global,
        Self::Sandboxes,
        Self::Editor,
        Self::Edit,
        Self::Output,
        Self::Files,
        Self::Terminal,
        Self::Dialog,
        Self::Prompt,
        Self::Viewer,
        Self::Inspect,
        Self::History,
    ];

    /// Returns the word used in keymaps.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Sandboxes => "sandboxes",
            Self::Editor => "editor",
            Self::Edit => "edit",
            Self::Output => "output",
            Self::Files => "files",
            Self::Terminal => "terminal",
            Self::Dialog => "dialog",
            Self::Prompt => "prompt",
            Self::Viewer => "viewer",
            Self::Inspect => "inspect",
            Self::History => "history",
        }
    }

    /// Finds a context by its word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.word() == word)
    }

    /// Tells whether a character typed here is text.
    #[must_use]
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Edit | Self::Terminal | Self::Prompt)
    }

    /// Returns the contexts to look a key up in, in order.
    pub(super) fn layers(self) -> impl Iterator<Item = Self> {
        iter::once(self).chain(self.falls_back().then_some(Self::Global))
    }

    fn falls_back(self) -> bool {
        match self {
            Self::Sandboxes
            | Self::Editor
            | Self::Output
            | Self::Files
            | Self::Viewer
            | Self::Inspect
            | Self::History => true,
            Self::Global | Self::Edit | Self::Terminal | Self::Dialog | Self::Prompt => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_context_is_found_by_its_word() {
        for context in Context::ALL {
            assert_eq!(Context::by_word(context.word()), Some(context));
        }
        assert_eq!(Context::by_word("Files"), None);
    }

    #[test]
    fn text_and_overlays_do_not_fall_back() {
        let layers = |context: Context| context.layers().collect::<Vec<_>>();
        assert_eq!(layers(Context::Files), [Context::Files, Context::Global]);
        assert_eq!(layers(Context::Global), [Context::Global]);
        for context in [
            Context::Edit,
            Context::Terminal,
            Context::Dialog,
            Context::Prompt,
        ] {
            assert_eq!(layers(context), [context]);
        }
    }
}
