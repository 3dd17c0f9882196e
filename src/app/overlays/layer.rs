//! What every overlay can do: take actions, text and the mouse; most of it has a usual answer.

use ratatui::layout::Position;

use super::cx::Cx;
use crate::app::geometry::list_box::ListBox;
use crate::app::intent::Intent;
use crate::keymap::{Action, Context, Key};

/// What came of an action.
#[derive(Debug, Default, PartialEq)]
pub struct Reaction {
    /// What the overlay wants.
    pub intents: Vec<Intent>,
    /// Does it go away?
    pub closes: bool,
}

impl Reaction {
    /// Stays, and wants nothing.
    #[must_use]
    pub fn stay() -> Self {
        Self::default()
    }

    /// Stays, and wants something.
    #[must_use]
    pub fn stay_and(intents: Vec<Intent>) -> Self {
        Self {
            intents,
            closes: false,
        }
    }

    /// Goes away.
    #[must_use]
    pub fn close() -> Self {
        Self::close_and(Vec::new())
    }

    /// Goes away, and wants something.
    #[must_use]
    pub fn close_and(intents: Vec<Intent>) -> Self {
        Self {
            intents,
            closes: true,
        }
    }
}

/// What the wheel of the mouse does to an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wheel {
    /// Nothing.
    Ignored,
    /// It chooses the next row.
    Row,
    /// It scrolls by some lines.
    Lines,
}

/// Something that lies over the panes.
pub trait Layer {
    /// Tells which keys it has.
    fn context(&self) -> Context {
        Context::Viewer
    }

    /// Takes an action.
    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction;

    /// Takes a key that means no action.
    fn on_key(&mut self, _key: Key, _cx: &Cx<'_>) -> Vec<Intent> {
        Vec::new()
    }

    /// Takes pasted text.
    fn on_paste(&mut self, _text: &str, _cx: &Cx<'_>) -> Vec<Intent> {
        Vec::new()
    }

    /// Tells what the wheel does.
    fn wheel(&self) -> Wheel {
        Wheel::Row
    }

    /// Returns its rows, if it is a list.
    fn list_box(&self, _cx: &Cx<'_>) -> Option<ListBox> {
        None
    }

    /// Chooses a row of the list.
    fn select_row(&mut self, _row: usize) {}

    /// Tells what a click on a row does; `again` if the row was chosen already.
    fn row_action(&self, _again: bool) -> Option<Action> {
        None
    }

    /// Takes a click; on a row of a list by default.
    fn on_press(&mut self, at: Position, cx: &Cx<'_>) -> Reaction {
        let Some(list) = self.list_box(cx) else {
            return Reaction::stay();
        };
        let Some(row) = list.row_at(at) else {
            return Reaction::stay();
        };
        self.select_row(row);
        match self.row_action(row == list.at) {
            Some(action) => self.on_action(action, cx),
            None => Reaction::stay(),
        }
    }

    /// Asks for what it shows, if it is time.
    fn on_tick(&mut self, _cx: &Cx<'_>) -> Vec<Intent> {
        Vec::new()
    }
}

/// Moves through lines or rows; `None` if that closes the overlay.
#[must_use]
pub fn scrolled(action: Action, at: usize, page: usize) -> Option<usize> {
    Some(match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at + 1,
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at + page,
        Action::Top => 0,
        Action::Bottom => usize::MAX / 2,
        Action::Quit | Action::Back | Action::Leave | Action::Help | Action::Interrupt => {
            return None;
        }
        _ => at,
    })
}

/// Moves the choice in a list of some rows, or closes the overlay.
pub fn move_choice(at: &mut usize, rows: usize, action: Action, cx: &Cx<'_>) -> Reaction {
    match scrolled(action, *at, cx.page()) {
        Some(moved) => {
            *at = moved.min(rows.saturating_sub(1));
            Reaction::stay()
        }
        None => Reaction::close(),
    }
}
