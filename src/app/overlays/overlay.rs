//! What lies over the panes: help, questions, the palette, forms and viewers. One at a time has the keys.

use ratatui::layout::Rect;

use super::cache::CachePanel;
use super::history::HistoryPanel;
use super::inspect::InspectState;
use super::line::LineInput;
use super::reap::ReapPreview;
use super::run_form::RunForm;
use super::snippets::SnippetPanel;
use crate::app::geometry::layout::palette_area;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, Question};
use crate::app::overlays::compare::Comparison;
use crate::app::overlays::create_form::CreateForm;
use crate::keymap::Action;

/// Something that lies over the panes.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// All keys.
    Help {
        /// Lines scrolled down.
        scroll: usize,
    },
    /// Any action by its name.
    Palette(Palette),
    /// A yes or no.
    Confirm(Confirm),
    /// A line of text.
    Ask(Ask),
    /// A new sandbox.
    Create(Box<CreateForm>),
    /// Everything about a sandbox.
    Inspect(Box<InspectState>),
    /// What happened to all sandboxes.
    Events {
        /// Lines scrolled down.
        scroll: usize,
    },
    /// Which columns the list has.
    Columns {
        /// The one that is chosen.
        at: usize,
    },
    /// What is known of the code before it runs.
    Findings {
        /// Lines scrolled down.
        scroll: usize,
    },
    /// How code is to run.
    Run(Box<RunForm>),
    /// Programs that can be opened.
    Snippets(Box<SnippetPanel>),
    /// Installed packages.
    Cache(Box<CachePanel>),
    /// Recorded runs.
    History(Box<HistoryPanel>),
    /// Two runs side by side.
    Comparison(Box<Comparison>),
    /// What reaping would do.
    Reap(Box<ReapPreview>),
    /// What was done.
    Log {
        /// Lines scrolled down.
        scroll: usize,
    },
}

/// A question with two buttons; the cautious one is chosen first.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirm {
    /// The question.
    pub question: String,
    /// The word on the button that does it.
    pub button: String,
    /// What to do on yes.
    pub then: Vec<Intent>,
    /// Is the button that does it chosen?
    pub chosen: bool,
}

/// A line of text that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What for.
    pub question: Question,
    /// What was typed so far.
    pub line: LineInput,
    /// What it may become, or why nothing is known of that; until the next key.
    pub offers: Vec<String>,
}

/// Actions found by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Palette {
    /// What was typed so far.
    pub line: LineInput,
    /// Which of the found ones is chosen.
    pub chosen: usize,
}

impl Palette {
    /// Lists the actions whose word or sentence holds what was typed, and which may be done.
    #[must_use]
    pub fn found(&self, read_only: bool) -> Vec<Action> {
        let wanted = self.line.text().to_lowercase();
        let holds = |action: &Action| {
            let text = format!("{} {}", action.word(), action.sentence().to_lowercase());
            wanted.split_whitespace().all(|part| text.contains(part))
        };
        Action::ALL
            .iter()
            .copied()
            .filter(|action| !(read_only && action.mutates()))
            .filter(holds)
            .collect()
    }

    /// Places it, with what was typed above so many found actions.
    #[must_use]
    pub fn list_box(&self, screen: Rect, found: usize) -> ListBox {
        let shape = Shape {
            width: 72,
            head: 1,
            foot: 0,
        };
        ListBox::within(palette_area(screen), shape, found, self.chosen)
    }

    /// Moves the choice.
    pub fn step(&mut self, down: bool, count: usize) {
        self.chosen = if down {
            (self.chosen + 1).min(count.saturating_sub(1))
        } else {
            self.chosen.saturating_sub(1)
        };
    }
}
