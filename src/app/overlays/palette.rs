//! Any action, found by its name.

use ratatui::layout::Rect;

use super::cx::Cx;
use super::layer::{Layer, Reaction};
use super::line::LineInput;
use crate::app::geometry::layout::palette_area;
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::Intent;
use crate::keymap::{Action, Context, Key};

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
    pub fn place(&self, screen: Rect, found: usize) -> ListBox {
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

impl Layer for Palette {
    fn context(&self) -> Context {
        Context::Prompt
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        let found = self.found(cx.settings.read_only);
        match action {
            Action::Accept => {
                let chosen = found.get(self.chosen).copied().map(Intent::Perform);
                return Reaction::close_and(chosen.into_iter().collect());
            }
            Action::Refuse | Action::Back => return Reaction::close(),
            Action::Down | Action::NextField => self.step(true, found.len()),
            Action::Up | Action::PreviousField => self.step(false, found.len()),
            _ => {}
        }
        Reaction::stay()
    }

    fn on_key(&mut self, key: Key, _cx: &Cx<'_>) -> Vec<Intent> {
        self.line.key(key);
        self.chosen = 0;
        Vec::new()
    }

    fn on_paste(&mut self, text: &str, _cx: &Cx<'_>) -> Vec<Intent> {
        self.line.insert(text);
        Vec::new()
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        let found = self.found(cx.settings.read_only);
        Some(self.place(cx.screen, found.len()))
    }

    fn select_row(&mut self, row: usize) {
        self.chosen = row;
    }

    fn row_action(&self, _again: bool) -> Option<Action> {
        Some(Action::Accept)
    }
}
