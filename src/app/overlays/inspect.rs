//! The view of one sandbox: what is known of it, tab by tab, asked for when it is looked at.

#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};

use super::overlay::Overlay;
use crate::app::input::on_action::submit;
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect, Tone};
use crate::domain::{Changes, Details, Process, SandboxRef};
use crate::keymap::Action;
use crate::protocol::{Command, Failure, Reply};

/// How often processes are looked at while they are on screen.
const PROCESSES_EVERY: TimeDelta = TimeDelta::seconds(2);

/// What can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// What it is and what isolates it.
    Overview,
    /// What runs in it.
    Processes,
    /// Its last minutes.
    Charts,
    /// What happened to it.
    Events,
    /// What it did to its files.
    Changes,
}

impl Tab {
    /// All tabs, in their order on screen.
    pub const ALL: [Self; 5] = [
        Self::Overview,
        Self::Processes,
        Self::Charts,
        Self::Events,
        Self::Changes,
    ];

    /// Returns its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Processes => "Processes",
            Self::Charts => "Charts",
            Self::Events => "Events",
            Self::Changes => "Changes",
        }
    }

    fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|tab| *tab == self).unwrap_or(0);
        let next = (at + by) % Self::ALL.len();
        Self::ALL.get(next).copied().unwrap_or(self)
    }
}

/// Something that is asked of the engine when it is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<T> {
    /// The last answer.
    pub answer: Option<Result<T, Failure>>,
    waiting: bool,
    at: Option<DateTime<Utc>>,
}

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Self {
            answer: None,
            waiting: false,
            at: None,
        }
    }
}

impl<T> Asked<T> {
    /// Tells whether it is time to ask, and books that it is done.
    fn ask(&mut self, now: DateTime<Utc>, every: Option<TimeDelta>) -> bool {
        let is_due = match (self.at, every) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(at), Some(every)) => now - at >= every,
        };
        let asks = is_due && !self.waiting;
        if asks {
            (self.waiting, self.at) = (true, Some(now));
        }
        asks
    }

    fn take(&mut self, answer: Result<T, Failure>) {
        (self.waiting, self.answer) = (false, Some(answer));
    }

    /// Asks again as soon as it is looked at.
    fn outdate(&mut self) {
        self.at = None;
    }
}

/// A process with its use of processors since the look before.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The process.
    pub process: Process,
    /// 100 is one core.
    pub cpu_percent: f64,
}

/// The view of one sandbox.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectState {
    /// Which.
    pub sandbox: SandboxRef,
    /// Its name.
    pub name: String,
    /// What is looked at.
    pub tab: Tab,
    /// Lines scrolled down.
    pub scroll: usize,
    /// What it is.
    pub details: Asked<Box<Details>>,
    /// What runs in it, busiest first.
    pub processes: Asked<Vec<Seen>>,
    /// What it did to its files.
    pub changes: Asked<Box<Changes>>,
}

impl InspectState {
    /// Starts without knowing anything.
    #[must_use]
    pub fn new(sandbox: SandboxRef, name: String) -> Self {
        Self {
            sandbox,
            name,
            tab: Tab::Overview,
            scroll: 0,
            details: Asked::default(),
            processes: Asked::default(),
            changes: Asked::default(),
        }
    }

    /// Goes to a tab.
    pub(crate) fn show(&mut self, tab: Tab) {
        (self.tab, self.scroll) = (tab, 0);
    }

    fn turn(&mut self, by: usize) {
        self.show(self.tab.step(by));
    }

    /// Returns what must be asked for what is on screen.
    fn wanted(&mut self, now: DateTime<Utc>) -> Option<Command> {
        let sandbox = || self.sandbox.clone();
        match self.tab {
            Tab::Overview => self
                .details
                .ask(now, None)
                .then(|| Command::Inspect(sandbox())),
            Tab::Processes => self
                .processes
                .ask(now, Some(PROCESSES_EVERY))
                .then(|| Command::Processes(sandbox())),
            Tab::Changes => self
                .changes
                .ask(now, None)
                .then(|| Command::Changes(sandbox())),
            Tab::Charts | Tab::Events => None,
        }
    }

    fn outdate(&mut self) {
        self.details.outdate();
        self.processes.outdate();
        self.changes.outdate();
    }

    fn take(&mut self, tab: Tab, outcome: Result<Reply, Failure>) {
        match (tab, outcome) {
            (Tab::Overview, Ok(Reply::Details(details))) => self.details.take(Ok(details)),
            (Tab::Overview, Err(failure)) => self.details.take(Err(failure)),
            (Tab::Processes, Ok(Reply::Processes(found))) => {
                let seen = self.compare(found);
                self.processes.take(Ok(seen));
            }
            (Tab::Processes, Err(failure)) => self.processes.take(Err(failure)),
            (Tab::Changes, Ok(Reply::Changes(changes))) => self.changes.take(Ok(changes)),
            (Tab::Changes, Err(failure)) => self.changes.take(Err(failure)),
            _ => {}
        }
    }

    /// Counts the use of processors since the look before; over the whole life at the first.
    fn compare(&self, found: Vec<Process>) -> Vec<Seen> {
        let before = match &self.processes.answer {
            Some(Ok(before)) => before.as_slice(),
            _ => &[],
        };
        let mut seen: Vec<Seen> = found
            .into_iter()
            .map(|process| {
                let mut before = before.iter().map(|seen| &seen.process);
                let before = before.find(|known| known.pid == process.pid);
                let cpu_percent = before.map_or_else(
                    || process.cpu_percent(),
                    |before| process.cpu_percent_since(before),
                );
                Seen {
                    process,
                    cpu_percent,
                }
            })
            .collect();
        seen.sort_by(|a, b| b.cpu_percent.total_cmp(&a.cpu_percent));
        seen
    }
}

/// Opens the view of the selected sandbox.
pub(crate) fn open(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected().map(|row| &row.sandbox);
    let Some(sandbox) = selected else {
        let words = "No sandbox is selected. Press c to create one.";
        state.say(Tone::Plain, words);
        return Vec::new();
    };
    let view = InspectState::new(sandbox.reference.clone(), sandbox.name.clone());
    show(state, Box::new(view))
}

fn show(state: &mut AppState, view: Box<InspectState>) -> Vec<Effect> {
    state.view.overlay = Some(Overlay::Inspect(view));
    ask(state)
}

/// Does what a key asks for.
pub(crate) fn run(
    state: &mut AppState,
    mut view: Box<InspectState>,
    action: Action,
) -> Vec<Effect> {
    match action {
        Action::NextTab | Action::NextPane => view.turn(1),
        Action::PreviousTab | Action::PreviousPane => view.turn(Tab::ALL.len() - 1),
        Action::Refresh => view.outdate(),
        other => match crate::app::input::on_overlay::scrolled(state, other, view.scroll) {
            Some(scroll) => view.scroll = scroll,
            None => return Vec::new(),
        },
    }
    show(state, view)
}

/// Asks for what is on screen, if it is time.
pub(crate) fn ask(state: &mut AppState) -> Vec<Effect> {
    let now = state.now;
    let Some(Overlay::Inspect(view)) = &mut state.view.overlay else {
        return Vec::new();
    };
    let (sandbox, tab) = (view.sandbox.clone(), view.tab);
    let wanted = view.wanted(now);
    wanted
        .map(|command| submit(state, command, "", ReplyTo::Look(sandbox, tab)))
        .into_iter()
        .collect()
}

/// Takes an answer; one for a view that was left is ignored.
pub(crate) fn answered(
    state: &mut AppState,
    sandbox: &SandboxRef,
    tab: Tab,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    if let Some(Overlay::Inspect(view)) = &mut state.view.overlay
        && view.sandbox == *sandbox
    {
        view.take(tab, outcome);
    }
    Vec::new()
}

/// Asks anew when something happened to the sandbox on screen.
pub(crate) fn happened(state: &mut AppState, sandbox: &SandboxRef) -> Vec<Effect> {
    match &mut state.view.overlay {
        Some(Overlay::Inspect(view)) if view.sandbox == *sandbox => view.details.outdate(),
        _ => return Vec::new(),
    }
    ask(state)
}
