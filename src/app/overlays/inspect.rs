//! The view of one sandbox: what is known of it, tab by tab, asked for when it is looked at.

#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};
use ratatui::layout::{Margin, Position};

use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel, scrolled};
use super::viewer::last_page;
use crate::app::geometry::layout::inspect_area;
use crate::app::intent::{InspectPart, Intent, ReplyTo};
use crate::describe::{changes_summary, facts};
use crate::domain::{Changes, Details, Process, SandboxRef};
use crate::keymap::{Action, Context};
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
pub struct Lookup<T> {
    /// The last answer.
    pub answer: Option<Result<T, Failure>>,
    waiting: bool,
    at: Option<DateTime<Utc>>,
}

impl<T> Default for Lookup<T> {
    fn default() -> Self {
        Self {
            answer: None,
            waiting: false,
            at: None,
        }
    }
}

impl<T> Lookup<T> {
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
    pub details: Lookup<Box<Details>>,
    /// What runs in it, busiest first.
    pub processes: Lookup<Vec<Seen>>,
    /// What it did to its files.
    pub changes: Lookup<Box<Changes>>,
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
            details: Lookup::default(),
            processes: Lookup::default(),
            changes: Lookup::default(),
        }
    }

    /// Goes to a tab.
    pub(crate) fn show(&mut self, tab: Tab) {
        (self.tab, self.scroll) = (tab, 0);
    }

    fn turn(&mut self, by: usize) {
        self.show(self.tab.step(by));
    }

    /// Asks for what is on screen, if it is time.
    fn requests(&mut self, now: DateTime<Utc>) -> Vec<Intent> {
        let (is_due, part, command): (_, _, fn(SandboxRef) -> Command) = match self.tab {
            Tab::Overview => (
                self.details.ask(now, None),
                InspectPart::Details,
                Command::Inspect,
            ),
            Tab::Processes => (
                self.processes.ask(now, Some(PROCESSES_EVERY)),
                InspectPart::Processes,
                Command::Processes,
            ),
            Tab::Changes => (
                self.changes.ask(now, None),
                InspectPart::Changes,
                Command::Changes,
            ),
            Tab::Charts | Tab::Events => return Vec::new(),
        };
        let sandbox = self.sandbox.clone();
        let reply_to = ReplyTo::Inspect { sandbox, part };
        let request = is_due.then(|| Intent::submit(command(self.sandbox.clone()), "", reply_to));
        request.into_iter().collect()
    }

    fn outdate(&mut self) {
        self.details.outdate();
        self.processes.outdate();
        self.changes.outdate();
    }

    /// Takes a reply.
    pub(crate) fn on_reply(&mut self, part: InspectPart, outcome: Result<Reply, Failure>) {
        match (part, outcome) {
            (InspectPart::Details, Ok(Reply::Details(details))) => self.details.take(Ok(details)),
            (InspectPart::Details, Err(failure)) => self.details.take(Err(failure)),
            (InspectPart::Processes, Ok(Reply::Processes(found))) => {
                let seen = self.compare(found);
                self.processes.take(Ok(seen));
            }
            (InspectPart::Processes, Err(failure)) => self.processes.take(Err(failure)),
            (InspectPart::Changes, Ok(Reply::Changes(changes))) => self.changes.take(Ok(changes)),
            (InspectPart::Changes, Err(failure)) => self.changes.take(Err(failure)),
            _ => {}
        }
    }

    /// Asks anew, because something happened to the sandbox.
    pub(crate) fn on_event(&mut self, now: DateTime<Utc>) -> Vec<Intent> {
        self.details.outdate();
        self.requests(now)
    }

    /// Counts the lines of the tab on screen.
    fn lines(&self, cx: &Cx<'_>) -> usize {
        match self.tab {
            Tab::Overview => answered(&self.details, |details| {
                let facts = facts(details);
                let own = facts.iter().filter(|fact| fact.key != "gap").count();
                own + details.posture.gaps.len().max(1)
            }),
            Tab::Processes => answered(&self.processes, |seen| seen.len() + 1),
            Tab::Changes => answered(&self.changes, |changes| {
                changes_summary(changes).len() + 1 + changes.files.len()
            }),
            Tab::Events => cx.engine.events(Some(&self.sandbox)).len(),
            Tab::Charts => 0,
        }
    }

    /// Finds the tab at a place.
    fn tab_at(at: Position, cx: &Cx<'_>) -> Option<Tab> {
        let inner = inspect_area(cx.screen).inner(Margin::new(1, 1));
        if at.y != inner.y || !inner.contains(at) {
            return None;
        }
        let column = usize::from(at.x - inner.x);
        let mut from = 0;
        Tab::ALL.into_iter().find(|tab| {
            let range = from..from + tab.title().len() + 2;
            from = range.end;
            range.contains(&column)
        })
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

fn answered<T>(asked: &Lookup<T>, lines: impl FnOnce(&T) -> usize) -> usize {
    match &asked.answer {
        Some(Ok(found)) => lines(found),
        Some(Err(failure)) => 1 + usize::from(failure.hint.is_some()),
        None => 1,
    }
}

impl Layer for InspectState {
    fn context(&self) -> Context {
        Context::Inspect
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        match action {
            Action::NextTab | Action::NextPane => self.turn(1),
            Action::PreviousTab | Action::PreviousPane => self.turn(Tab::ALL.len() - 1),
            Action::Refresh => self.outdate(),
            other => match scrolled(other, self.scroll, cx.page()) {
                Some(scroll) => {
                    let rows = usize::from(inspect_area(cx.screen).height).saturating_sub(3);
                    self.scroll = scroll.min(last_page(self.lines(cx), rows));
                }
                None => return Reaction::close(),
            },
        }
        Reaction::stay_and(self.requests(cx.now))
    }

    fn wheel(&self) -> Wheel {
        Wheel::Lines
    }

    fn on_press(&mut self, at: Position, cx: &Cx<'_>) -> Reaction {
        if let Some(tab) = Self::tab_at(at, cx) {
            self.show(tab);
        }
        Reaction::stay_and(self.requests(cx.now))
    }

    fn on_tick(&mut self, cx: &Cx<'_>) -> Vec<Intent> {
        self.requests(cx.now)
    }
}
