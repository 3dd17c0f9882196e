//! The runs of a sandbox: listed, shown again, run again, opened in the editor, cancelled, compared.

#[cfg(test)]
pub(crate) mod tests;

use ratatui::layout::Rect;

use super::compare::{Comparing, Comparison};
use super::cx::Cx;
use super::layer::{Layer, Reaction, Wheel, move_choice};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::intent::{Intent, ReplyTo, RunsOf, Tone};
use crate::domain::{ExecId, HostName, OutputChunk, Run, StreamId};
use crate::keymap::{Action, Context};
use crate::protocol::{Command, RunFilter};

/// Runs that are listed at most.
const MOST: u32 = 500;

/// Letters of an id that tell runs apart for people.
const SHORT: usize = 8;

/// The list of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPanel {
    /// Whose runs.
    pub of: RunsOf,
    /// The runs, newest first.
    pub runs: Vec<Run>,
    /// The chosen one.
    pub at: usize,
    /// Those to be compared, at most two.
    pub marks: Vec<ExecId>,
    /// Two of them whose outputs are being read.
    comparing: Option<Comparing>,
    /// What came of that; until the next key.
    pub comparison: Option<Comparison>,
}

impl HistoryPanel {
    pub(crate) fn new(of: RunsOf, runs: Vec<Run>) -> Self {
        Self {
            of,
            runs,
            at: 0,
            marks: Vec::new(),
            comparing: None,
            comparison: None,
        }
    }

    /// Places it.
    #[must_use]
    pub fn place(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 110,
            head: 1,
            foot: 1,
        };
        ListBox::new(screen, shape, self.runs.len(), self.at)
    }

    /// Takes the list anew; the same run stays chosen.
    pub(crate) fn renew(&mut self, runs: Vec<Run>) {
        let chosen = self.runs.get(self.at).map(|run| run.id.clone());
        let place = chosen.and_then(|id| runs.iter().position(|run| run.id == id));
        self.at = place.unwrap_or(self.at).min(runs.len().saturating_sub(1));
        self.marks.retain(|id| runs.iter().any(|run| run.id == *id));
        self.runs = runs;
    }

    /// Turns the mark of the chosen run; a third mark takes the place of the first.
    fn mark(&mut self) {
        let Some(run) = self.runs.get(self.at) else {
            return;
        };
        if self.marks.contains(&run.id) {
            self.marks.retain(|id| *id != run.id);
            return;
        }
        if self.marks.len() > 1 {
            self.marks.remove(0);
        }
        self.marks.push(run.id.clone());
    }

    /// Returns the two marked runs, the older one first.
    fn pair(&self) -> Option<[Run; 2]> {
        let marked = self.runs.iter().filter(|run| self.marks.contains(&run.id));
        match marked.collect::<Vec<_>>()[..] {
            [newer, older] => Some([older.clone(), newer.clone()]),
            _ => None,
        }
    }
}

/// Returns the end of an id, enough for people; ids of one process begin alike.
#[must_use]
pub fn short(id: &ExecId) -> String {
    let letters: Vec<char> = id.as_str().chars().collect();
    let from = letters.len().saturating_sub(SHORT);
    letters.into_iter().skip(from).collect()
}

/// Asks for a list; `label` is empty if it is only for one that is open already.
#[must_use]
pub fn request(of: RunsOf, host: &HostName, label: &str) -> Intent {
    let of_host = of.as_ref().map(|(sandbox, _)| sandbox.host.clone());
    let sandbox = of.as_ref().map(|(sandbox, _)| sandbox.id.to_string());
    let command = Command::Runs {
        host: of_host.unwrap_or_else(|| host.clone()),
        filter: RunFilter {
            sandbox,
            under_way: false,
            limit: MOST,
        },
    };
    let opens = !label.is_empty();
    Intent::submit(command, label, ReplyTo::Runs { of, opens })
}

impl HistoryPanel {
    /// Reads two runs from streams, to compare them.
    pub fn compare(&mut self, comparing: Comparing) {
        self.comparing = Some(comparing);
    }

    /// Takes a piece of output; false if it is not for a comparison.
    pub fn on_output(&mut self, stream: StreamId, chunk: &OutputChunk) -> bool {
        let comparing = self.comparing.as_mut();
        comparing.is_some_and(|comparing| comparing.add(stream, chunk))
    }

    /// Takes that some output was not kept; false if it is not for a comparison.
    pub fn on_missing(&mut self, stream: StreamId) -> bool {
        let comparing = self.comparing.as_mut();
        comparing.is_some_and(|comparing| comparing.miss(stream))
    }

    /// Takes that a stream has ended; after both, the comparison is shown. False if it is not for one.
    pub fn on_end(&mut self, stream: StreamId) -> bool {
        let Some(comparing) = self.comparing.as_mut() else {
            return false;
        };
        let is_ours = comparing.end(stream);
        if let Some(outcome) = comparing.outcome() {
            (self.comparing, self.comparison) = (None, Some(outcome));
        }
        is_ours
    }

    /// Opens the code of a run as a buffer.
    fn edit(run: &Run, cx: &Cx<'_>) -> Reaction {
        let Some(code) = &run.code else {
            let words = "This run was a command, not code; there is nothing to edit.";
            return Reaction::stay_and(vec![Intent::Toast(Tone::Plain, words.to_owned())]);
        };
        let language = cx.settings.config.languages.by_word(&code.language);
        let extension = language.as_ref().map_or("txt", |known| known.extension());
        Reaction::close_and(vec![Intent::EditText {
            name: format!("run-{}.{extension}", short(&run.id)),
            text: code.text.clone(),
        }])
    }

    /// Asks before a run is ended, whoever holds it.
    fn cancel(run: &Run) -> Reaction {
        if run.result.is_some() {
            let words = "This run is over already.".to_owned();
            return Reaction::stay_and(vec![Intent::Toast(Tone::Plain, words)]);
        }
        let command = Command::CancelRun {
            host: run.sandbox.host.clone(),
            run: run.id.clone(),
        };
        let label = format!("stopping run {}", short(&run.id));
        Reaction::close_and(vec![Intent::Confirm {
            question: format!(
                "Stop {} in {}? All its processes are killed.",
                run.headline(),
                run.name
            ),
            button: "Stop it".to_owned(),
            then: vec![Intent::submit(command, label, ReplyTo::Quiet)],
        }])
    }

    fn compare_marked(&self) -> Reaction {
        let intent = match self.pair() {
            Some(pair) => Intent::CompareRuns(Box::new(pair)),
            None => Intent::Toast(Tone::Plain, "Mark two runs with Space first.".to_owned()),
        };
        Reaction::stay_and(vec![intent])
    }

    /// Goes from the runs of one sandbox to those of all, and back to the selected one's.
    fn toggle_all(&self, cx: &Cx<'_>) -> Reaction {
        let intent = match self.of {
            None => Intent::Perform(Action::History),
            Some(_) => request(None, &cx.settings.host, "looking for all runs"),
        };
        Reaction::stay_and(vec![intent])
    }
}

impl Layer for HistoryPanel {
    fn context(&self) -> Context {
        match self.comparison {
            Some(_) => Context::Viewer,
            None => Context::History,
        }
    }

    fn on_action(&mut self, action: Action, cx: &Cx<'_>) -> Reaction {
        if self.comparison.take().is_some() {
            return Reaction::stay();
        }
        let chosen = self.runs.get(self.at).cloned();
        match (action, chosen) {
            (Action::Open | Action::Accept, Some(run)) => {
                Reaction::close_and(vec![Intent::ShowRun(Box::new(run))])
            }
            (Action::RunAgain, Some(run)) => {
                Reaction::close_and(vec![Intent::RunAgain(Box::new(run))])
            }
            (Action::EditFile, Some(run)) => Self::edit(&run, cx),
            (Action::CancelRun, Some(run)) => Self::cancel(&run),
            (Action::CompareRuns, _) => self.compare_marked(),
            (Action::ToggleAll, _) => self.toggle_all(cx),
            (Action::Mark, _) => {
                self.mark();
                Reaction::stay()
            }
            (Action::Refresh, _) => {
                let again = request(self.of.clone(), &cx.settings.host, "");
                Reaction::stay_and(vec![again])
            }
            (other, _) => move_choice(&mut self.at, self.runs.len(), other, cx),
        }
    }

    fn wheel(&self) -> Wheel {
        match self.comparison {
            Some(_) => Wheel::Ignored,
            None => Wheel::Row,
        }
    }

    fn list_box(&self, cx: &Cx<'_>) -> Option<ListBox> {
        let is_list = self.comparison.is_none();
        is_list.then(|| self.place(cx.screen))
    }

    fn select_row(&mut self, row: usize) {
        self.at = row;
    }

    fn row_action(&self, again: bool) -> Option<Action> {
        again.then_some(Action::Open)
    }
}
