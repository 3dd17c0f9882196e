//! The open shells: which one is shown, and input that waits for its turn.

use std::collections::VecDeque;

use bytes::Bytes;

use super::shell::ShellState;
use crate::domain::StreamId;

/// Pieces of input that may be under way for one shell.
const UNDER_WAY: usize = 4;
/// Bytes of a piece of pasted text.
const PIECE: usize = 4096;

/// One shell with the input that waits.
pub struct Open {
    /// The terminal.
    pub shell: ShellState,
    waiting: VecDeque<Bytes>,
    under_way: usize,
    /// Has the program ended?
    pub over: bool,
}

/// All shells.
#[derive(Default)]
pub struct ShellsState {
    open: Vec<Open>,
    shown: Option<usize>,
}

impl ShellsState {
    /// Adds a shell and shows it.
    pub fn add(&mut self, shell: ShellState) {
        self.open.push(Open {
            shell,
            waiting: VecDeque::new(),
            under_way: 0,
            over: false,
        });
        self.shown = Some(self.open.len() - 1);
    }

    /// Returns the shell on screen.
    #[must_use]
    pub fn current(&self) -> Option<&Open> {
        self.open.get(self.shown?)
    }

    /// Returns the shell on screen, to be changed.
    pub fn current_mut(&mut self) -> Option<&mut Open> {
        self.open.get_mut(self.shown?)
    }

    /// Finds a shell by its stream.
    pub fn find(&mut self, stream: StreamId) -> Option<&mut Open> {
        self.open
            .iter_mut()
            .find(|open| open.shell.stream == stream)
    }

    /// Lists the shells with whether each is shown.
    pub fn tabs(&self) -> impl Iterator<Item = (&Open, bool)> {
        self.open
            .iter()
            .enumerate()
            .map(|(at, open)| (open, Some(at) == self.shown))
    }

    /// Counts shells that live.
    #[must_use]
    pub fn living(&self) -> usize {
        self.open.iter().filter(|open| !open.over).count()
    }

    /// Hides the shells, so that runs are shown.
    pub fn hide(&mut self) {
        self.shown = None;
    }

    /// Shows the first or last shell.
    pub fn show(&mut self, last: bool) {
        self.shown = if last {
            self.open.len().checked_sub(1)
        } else {
            (!self.open.is_empty()).then_some(0)
        };
    }

    /// Shows one of the shells.
    pub fn show_at(&mut self, at: usize) {
        self.shown = (at < self.open.len()).then_some(at).or(self.shown);
    }

    /// Goes to the next or previous shell; false at the end, where runs follow.
    pub fn step(&mut self, forward: bool) -> bool {
        let next = match (self.shown, forward) {
            (Some(at), true) => (at + 1 < self.open.len()).then_some(at + 1),
            (Some(at), false) => at.checked_sub(1),
            (None, _) => None,
        };
        self.shown = next;
        next.is_some()
    }

    /// Takes a shell away; false if it is gone.
    pub fn close_stream(&mut self, stream: StreamId) -> bool {
        let at = self
            .open
            .iter()
            .position(|open| open.shell.stream == stream);
        let Some(at) = at else { return false };
        let shown = self.shown.replace(at);
        self.close();
        if let Some(shown) = shown.filter(|shown| *shown != at) {
            self.shown = Some(shown - usize::from(shown > at));
        }
        true
    }

    /// Takes the shell on screen away.
    pub fn close(&mut self) {
        if let Some(at) = self.shown.filter(|at| *at < self.open.len()) {
            self.open.remove(at);
            self.shown = at
                .checked_sub(1)
                .filter(|_| !self.open.is_empty())
                .or((!self.open.is_empty()).then_some(0));
        }
    }
}

impl Open {
    /// Adds input and returns what can be sent now.
    pub fn input(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        self.waiting
            .extend(bytes.chunks(PIECE).map(Bytes::copy_from_slice));
        self.ready()
    }

    /// Notes that a piece was taken, and returns what can be sent now.
    pub fn taken(&mut self) -> Vec<Bytes> {
        self.under_way = self.under_way.saturating_sub(1);
        self.ready()
    }

    fn ready(&mut self) -> Vec<Bytes> {
        let count = UNDER_WAY
            .saturating_sub(self.under_way)
            .min(self.waiting.len());
        self.under_way += count;
        self.waiting.drain(..count).collect()
    }
}
