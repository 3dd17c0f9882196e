//! The runs of a sandbox: listed, shown again, run again, opened in the editor, cancelled, compared.

#[cfg(test)]
pub(crate) mod tests;

use ratatui::layout::Rect;

use super::overlay::Overlay;
use super::run_form::{RunOptions, Target};
use crate::app::flows::{apply_intents, foreign_runs, run_program, streams};
use crate::app::geometry::list_box::{ListBox, Shape};
use crate::app::input::on_action::{focus, open, submit};
use crate::app::input::on_overlay::scrolled;
use crate::app::overlays::compare;
use crate::app::pending::ReplyTo;
use crate::app::{AppState, Effect, Intent, Mode, Pane, Tone};
use crate::domain::{Code, ExecId, ExecSpec, Run, SandboxRef, StdinMode};
use crate::keymap::Action;
use crate::protocol::{Command, RunFilter};

/// Runs that are listed at most.
const MOST: u32 = 500;

/// Letters of an id that tell runs apart for people.
const SHORT: usize = 8;

/// A sandbox and its name; `None` is all sandboxes, also those that are gone.
pub type Of = Option<(SandboxRef, String)>;

/// The list of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPanel {
    /// Whose runs.
    pub of: Of,
    /// The runs, newest first.
    pub runs: Vec<Run>,
    /// The chosen one.
    pub at: usize,
    /// Those to be compared, at most two.
    pub marks: Vec<ExecId>,
}

impl HistoryPanel {
    pub(crate) fn new(of: Of, runs: Vec<Run>) -> Self {
        Self {
            of,
            runs,
            at: 0,
            marks: Vec::new(),
        }
    }

    /// Places it.
    #[must_use]
    pub fn list_box(&self, screen: Rect) -> ListBox {
        let shape = Shape {
            width: 110,
            head: 1,
            foot: 1,
        };
        ListBox::new(screen, shape, self.runs.len(), self.at)
    }

    /// Takes the list anew; the same run stays chosen.
    fn renew(&mut self, runs: Vec<Run>) {
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

/// Returns what a run is called where there is one line for it: its code's first line, or its command.
#[must_use]
pub fn headline(run: &Run) -> String {
    let first = |code: &Code| {
        let mut lines = code.text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_owned)
    };
    let code = run.code.as_ref().and_then(first);
    code.unwrap_or_else(|| run.line())
}

/// Returns the end of an id, enough for people; ids of one process begin alike.
#[must_use]
pub fn short(id: &ExecId) -> String {
    let letters: Vec<char> = id.as_str().chars().collect();
    let from = letters.len().saturating_sub(SHORT);
    letters.into_iter().skip(from).collect()
}

/// Asks for the runs of the selected sandbox; without one, for all.
pub(crate) fn ask(state: &mut AppState) -> Vec<Effect> {
    let selected = state.sandboxes.selected();
    let of = selected.map(|row| (row.sandbox.reference.clone(), row.sandbox.name.clone()));
    request(state, of, "looking for runs")
}

/// Asks for the list that is shown anew, because time has passed.
pub(crate) fn renew(state: &mut AppState) -> Vec<Effect> {
    match &state.view.overlay {
        Some(Overlay::History(panel)) => {
            let of = panel.of.clone();
            request(state, of, "")
        }
        _ => Vec::new(),
    }
}

/// Asks for a list; without a word on it, it is only for one that is open already.
fn request(state: &mut AppState, of: Of, label: &str) -> Vec<Effect> {
    let host = of.as_ref().map(|(sandbox, _)| sandbox.host.clone());
    let sandbox = of.as_ref().map(|(sandbox, _)| sandbox.id.to_string());
    let command = Command::Runs {
        host: host.unwrap_or_else(|| state.settings.host.clone()),
        filter: RunFilter {
            sandbox,
            under_way: false,
            limit: MOST,
        },
    };
    let opens = !label.is_empty();
    vec![submit(state, command, label, ReplyTo::Runs { of, opens })]
}

/// Takes the list.
pub(crate) fn answered(state: &mut AppState, of: Of, opens: bool, runs: Vec<Run>) -> Vec<Effect> {
    match &mut state.view.overlay {
        Some(Overlay::History(panel)) if panel.of == of => panel.renew(runs),
        Some(Overlay::History(_)) | None if opens => {
            return open(
                state,
                Overlay::History(Box::new(HistoryPanel::new(of, runs))),
            );
        }
        _ => {}
    }
    Vec::new()
}

/// Gives an action to the list.
pub(crate) fn run(
    state: &mut AppState,
    mut panel: Box<HistoryPanel>,
    action: Action,
) -> Vec<Effect> {
    let chosen = panel.runs.get(panel.at).cloned();
    match (action, chosen) {
        (Action::Open | Action::Accept, Some(run)) => return show(state, &run),
        (Action::RunAgain, Some(run)) => return again(state, run),
        (Action::EditFile, Some(run)) => return edit(state, panel, &run),
        (Action::CancelRun, Some(run)) => return cancel(state, panel, &run),
        (Action::CompareRuns, _) => return compare(state, panel),
        (Action::ToggleAll, _) => return toggle_all(state, panel),
        (Action::Mark, _) => panel.mark(),
        (Action::Refresh, _) => {
            open(state, Overlay::History(panel));
            return renew(state);
        }
        (other, _) => match scrolled(state, other, panel.at) {
            Some(at) => panel.at = at.min(panel.runs.len().saturating_sub(1)),
            None => return Vec::new(),
        },
    }
    open(state, Overlay::History(panel))
}

/// Shows what a run printed, in the tab that it has or in a new one.
fn show(state: &mut AppState, run: &Run) -> Vec<Effect> {
    let mut effects = match state.output.of_exec(&run.id) {
        Some(stream) => {
            state.output.select(stream);
            Vec::new()
        }
        None => foreign_runs::watch(state, run, foreign_runs::Manner::Chosen),
    };
    if state.view.mode != Mode::Term {
        state.shells.hide();
    }
    effects.extend(focus(state, Pane::Output));
    effects
}

/// Runs the same once more in the same sandbox.
fn again(state: &mut AppState, run: Run) -> Vec<Effect> {
    let title = headline(&run);
    let Some(code) = run.code else {
        let words = (run.argv, run.session);
        return again_command(state, title, &run.sandbox, words);
    };
    let Some(language) = state.settings.config.languages.by_word(&code.language) else {
        let words = state.settings.config.languages.unknown(&code.language);
        state.say(Tone::Bad, words);
        return Vec::new();
    };
    let options = RunOptions {
        arguments: language.arguments(&run.argv),
        target: Some(Target {
            sandbox: run.sandbox,
            title,
        }),
        ..RunOptions::default()
    };
    run_program::run(state, code.text, language, options)
}

fn again_command(
    state: &mut AppState,
    title: String,
    sandbox: &SandboxRef,
    (argv, session): (Vec<String>, Option<String>),
) -> Vec<Effect> {
    let Some(sandbox) = streams::running(state, sandbox) else {
        return Vec::new();
    };
    let timeout = sandbox.limits.timeout_s.map(std::time::Duration::from_secs);
    let spec = ExecSpec {
        stdin: StdinMode::Piped,
        timeout,
        session,
        ..ExecSpec::new(state.pending.exec_id(), argv)
    };
    run_program::launch(state, title, sandbox, spec)
}

/// Opens the code of a run as a buffer.
fn edit(state: &mut AppState, panel: Box<HistoryPanel>, run: &Run) -> Vec<Effect> {
    let Some(code) = &run.code else {
        state.say(
            Tone::Plain,
            "This run was a command, not code; there is nothing to edit.",
        );
        return open(state, Overlay::History(panel));
    };
    let languages = &state.settings.config.languages;
    let language = languages.by_word(&code.language);
    let extension = language.as_ref().map_or("txt", |known| known.extension());
    let name = format!("run-{}.{extension}", short(&run.id));
    let intents = state.editor.open_text(&name, &code.text);
    let mut effects = apply_intents::all(state, intents);
    effects.extend(focus(state, Pane::Editor));
    effects
}

/// Asks before a run is ended, whoever holds it.
fn cancel(state: &mut AppState, panel: Box<HistoryPanel>, run: &Run) -> Vec<Effect> {
    if run.result.is_some() {
        state.say(Tone::Plain, "This run is over already.");
        return open(state, Overlay::History(panel));
    }
    let confirm = Intent::Confirm {
        question: format!(
            "Stop {} in {}? All its processes are killed.",
            headline(run),
            run.name
        ),
        button: "Stop it".to_owned(),
        then: vec![Intent::Submit {
            command: Command::CancelRun {
                host: run.sandbox.host.clone(),
                run: run.id.clone(),
            },
            label: format!("stopping run {}", short(&run.id)),
        }],
    };
    apply_intents::all(state, vec![confirm])
}

fn compare(state: &mut AppState, panel: Box<HistoryPanel>) -> Vec<Effect> {
    let pair = panel.pair();
    open(state, Overlay::History(panel));
    if let Some(pair) = pair {
        return compare::begin(state, pair);
    }
    state.say(Tone::Plain, "Mark two runs with Space first.");
    Vec::new()
}

/// Goes from the runs of one sandbox to those of all, and back to the selected one's.
fn toggle_all(state: &mut AppState, panel: Box<HistoryPanel>) -> Vec<Effect> {
    let is_all = panel.of.is_none();
    open(state, Overlay::History(panel));
    if is_all {
        return ask(state);
    }
    request(state, None, "looking for all runs")
}
