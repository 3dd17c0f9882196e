//! A question with two buttons; the cautious one is chosen first.

use ratatui::layout::{Margin, Position};

use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel};
use crate::app::geometry::layout::confirm_area;
use crate::app::intent::Intent;
use crate::keymap::{Action, Context};
use crate::text::display_width;

/// A question with two buttons.
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

impl Confirm {
    /// Finds the button at a place: `[ Cancel ]  [ Remove ]` in the last row.
    fn button_at(&self, at: Position, cx: &Cx<'_>) -> Option<Action> {
        let inner = confirm_area(cx.screen).inner(Margin::new(1, 1));
        if !inner.contains(at) || at.y + 1 != inner.bottom() {
            return None;
        }
        let column = usize::from(at.x - inner.x);
        let cancel = "[ Cancel ]".len();
        let from = cancel + 2;
        let to = from + display_width(&self.button) + 4;
        match column {
            column if column < cancel => Some(Action::Refuse),
            column if (from..to).contains(&column) => Some(Action::Accept),
            _ => None,
        }
    }
}

impl Layer for Confirm {
    fn context(&self) -> Context {
        Context::Dialog
    }

    fn on_action(&mut self, action: Action, _cx: &Cx<'_>) -> Reaction {
        match action {
            Action::Accept => Reaction::close_and(std::mem::take(&mut self.then)),
            Action::Open if self.chosen => Reaction::close_and(std::mem::take(&mut self.then)),
            Action::NextField | Action::PreviousField => {
                self.chosen = !self.chosen;
                Reaction::stay()
            }
            _ => Reaction::close(),
        }
    }

    fn wheel(&self) -> Wheel {
        Wheel::Ignored
    }

    fn on_press(&mut self, at: Position, cx: &Cx<'_>) -> Reaction {
        match self.button_at(at, cx) {
            Some(action) => self.on_action(action, cx),
            None => Reaction::stay(),
        }
    }
}
