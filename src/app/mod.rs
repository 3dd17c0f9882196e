//! The dashboard's state and its one pure `update`: no clock, no terminal, no engine.

pub mod cache;
pub mod capacity;
pub mod comparing;
mod completion;
mod copies;
pub mod cursor;
pub mod editor;
pub mod engine;
pub mod files;
pub mod form;
mod fulfil;
pub mod guards;
pub mod hints;
pub mod history;
pub mod inspect;
pub mod layout;
pub mod line;
mod live;
pub mod msg;
mod on_action;
mod on_event;
mod on_key;
mod on_mouse;
mod on_overlay;
pub mod output;
pub mod overlay;
pub mod pending;
pub mod reap;
pub mod remembered;
pub mod run_form;
mod running;
pub mod sandboxes;
pub mod scrolling;
pub mod sheet;
pub mod shell;
pub mod shells;
pub mod snippets;
pub mod split;
pub mod status;
mod streams;
pub mod tabs;
#[cfg(test)]
pub(crate) mod testing;
pub mod transfers;
mod wish;

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

pub use layout::Pane;
pub use msg::{Effect, Mouse, MouseKind, Msg, NotSaved};
pub use wish::{Expect, Purpose, Question, Tone, Wish};

use crate::config::Config;
use crate::domain::{HostName, Owner, RequestId};
use crate::keymap::{Context, Key, Keymap};
use crate::protocol::{Failure, FailureKind};
use files::HostPlaces;
use overlay::Overlay;
use pending::PendingSet;

/// Who has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Letters are commands.
    Nav,
    /// Letters are text.
    Edit,
    /// Every key goes to the shell.
    Term,
}

impl Mode {
    /// Returns the word on the badge.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nav => "NAV",
            Self::Edit => "EDIT",
            Self::Term => "TERM",
        }
    }
}

/// What does not change while the dashboard runs.
pub struct Settings {
    /// Keys.
    pub keymap: Keymap,
    /// Configuration.
    pub config: Config,
    /// Who creates sandboxes.
    pub owner: Owner,
    /// The host that new sandboxes go to.
    pub host: HostName,
    /// Nothing may be changed.
    pub read_only: bool,
    /// Nothing here is real.
    pub demo: bool,
}

/// Where the person is.
pub struct ViewState {
    /// The pane that has the keys.
    pub focus: Pane,
    /// Who has the keys in it.
    pub mode: Mode,
    /// Does the pane have the whole screen?
    pub zoom: bool,
    /// Where the panes meet.
    pub split: split::Split,
    /// The screen.
    pub size: Rect,
    /// What lies over the panes.
    pub overlay: Option<Overlay>,
    /// Keys of a chord that is not complete.
    pub chord: Vec<Key>,
    /// Is the mouse ours?
    pub mouse: bool,
}

/// Everything the dashboard knows.
pub struct AppState {
    /// The list.
    pub sandboxes: sandboxes::SandboxesState,
    /// The editor.
    pub editor: editor::EditorState,
    /// Runs.
    pub output: output::OutputState,
    /// Shells.
    pub shells: shells::ShellsState,
    /// Files.
    pub files: files::FilesState,
    /// Where the person is.
    pub view: ViewState,
    /// Messages.
    pub status: status::StatusState,
    /// Requests under way.
    pub pending: PendingSet,
    /// What was typed into the form of the last run.
    pub last_run: Vec<String>,
    /// Runs that are being compared.
    pub comparing: Option<comparing::Comparing>,
    /// Guards.
    pub guards: guards::GuardsState,
    /// Files under way.
    pub transfers: transfers::Transfers,
    /// What is known of the engines.
    pub engine: engine::EngineState,
    /// The time.
    pub now: DateTime<Utc>,
    /// What does not change.
    pub settings: Arc<Settings>,
}

impl AppState {
    /// Starts empty; `seed` makes ids unique among processes.
    #[must_use]
    pub fn new(
        settings: Settings,
        seed: String,
        host: HostPlaces,
        size: Rect,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            sandboxes: sandboxes::SandboxesState::default(),
            editor: editor::EditorState::with_languages(settings.config.languages.clone()),
            output: output::OutputState::new(),
            shells: shells::ShellsState::default(),
            files: files::FilesState::new(host),
            view: ViewState {
                focus: Pane::Sandboxes,
                mode: Mode::Nav,
                zoom: false,
                split: split::Split::default(),
                size,
                overlay: None,
                chord: Vec::new(),
                mouse: settings.config.ui.mouse,
            },
            status: status::StatusState::default(),
            pending: PendingSet::new(seed),
            last_run: Vec::new(),
            comparing: None,
            guards: guards::GuardsState::default(),
            transfers: transfers::Transfers::default(),
            engine: engine::EngineState::default(),
            now,
            settings: Arc::new(settings),
        }
    }

    /// Tells who has the keys now: text that is asked for has them as the editor does.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match (&self.view.overlay, self.context()) {
            (Some(_), Context::Prompt) => Mode::Edit,
            (Some(_), _) => Mode::Nav,
            (None, _) => self.view.mode,
        }
    }

    /// Tells where a key would be pressed now.
    #[must_use]
    pub fn context(&self) -> Context {
        match (&self.view.overlay, self.view.mode) {
            (Some(Overlay::Confirm(_)), _) => Context::Dialog,
            (
                Some(Overlay::Ask(_) | Overlay::Create(_) | Overlay::Palette(_) | Overlay::Run(_)),
                _,
            ) => Context::Prompt,
            (Some(Overlay::Inspect(_)), _) => Context::Inspect,
            (Some(Overlay::History(_)), _) => Context::History,
            (
                Some(
                    Overlay::Help { .. }
                    | Overlay::Log { .. }
                    | Overlay::Events { .. }
                    | Overlay::Columns { .. }
                    | Overlay::Findings { .. }
                    | Overlay::Cache(_)
                    | Overlay::Comparison(_)
                    | Overlay::Snippets(_)
                    | Overlay::Reap(_),
                ),
                _,
            ) => Context::Viewer,
            (None, Mode::Edit) => Context::Edit,
            (None, Mode::Term) => Context::Terminal,
            (None, Mode::Nav) => self.pane_context(),
        }
    }

    /// Tells the context of the pane that has the keys.
    #[must_use]
    pub fn pane_context(&self) -> Context {
        match self.view.focus {
            Pane::Sandboxes => Context::Sandboxes,
            Pane::Editor => Context::Editor,
            Pane::Output => Context::Output,
            Pane::Files => Context::Files,
        }
    }

    /// Returns how many lines of a pane are seen.
    fn page(&self, pane: Pane) -> usize {
        let inner = self.areas().and_then(|areas| areas.inner(pane));
        inner.map_or(1, |inner| match pane {
            Pane::Files => usize::from(layout::files_areas(inner).list.height.max(1)),
            Pane::Output => layout::output_page(inner),
            Pane::Sandboxes | Pane::Editor => usize::from(inner.height.max(1)),
        })
    }

    fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.status.say(tone, text, self.now);
    }
}

/// Takes in what happened and returns what must be done.
pub fn update(state: &mut AppState, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => on_key::key(state, key),
        Msg::Paste(text) => on_key::paste(state, &text),
        Msg::Mouse(mouse) => on_mouse::mouse(state, mouse),
        Msg::Resize { width, height } => resize(state, width, height),
        Msg::Tick(now) => tick(state, now),
        Msg::Engine(event) => on_event::event(state, event),
        Msg::Busy(id) => busy(state, id),
        Msg::Edited(text) => edited(state, text),
        Msg::SavedLocal(outcome) => saved_local(state, outcome),
        Msg::HostListed { folder, outcome } => completion::listed(state, &folder, outcome),
        Msg::HostChecked { download, found } => host_checked(state, *download, &found),
        Msg::Snippet(news) => snippets::news(state, news),
        Msg::Recovered(buffers) => recovered(state, buffers),
        Msg::Quit => vec![Effect::Quit],
    }
}

fn resize(state: &mut AppState, width: u16, height: u16) -> Vec<Effect> {
    state.view.size = Rect::new(0, 0, width, height);
    streams::fit(state)
}

/// Moves the clock, lets messages go, keeps unsaved work safe and shows the files of what is selected.
fn tick(state: &mut AppState, now: DateTime<Utc>) -> Vec<Effect> {
    state.now = now;
    state.files.tick(now);
    state.status.tick(now);
    state.sandboxes.arrange();
    let mut effects = on_action::follow_selection(state);
    effects.extend(guards::tick(state));
    effects.extend(inspect::ask(state));
    effects.extend(running::look(state));
    if state.editor.changed_since_recovery() {
        effects.push(Effect::Recovery(state.editor.recovery()));
    }
    effects
}

fn busy(state: &mut AppState, id: RequestId) -> Vec<Effect> {
    let Some(pending) = state.pending.take(id) else {
        return Vec::new();
    };
    if let pending::Purpose::Look(sandbox, tab) = &pending.purpose {
        let words = "too much at once; it is tried again";
        let failure = Failure::new(FailureKind::Busy, words);
        return inspect::answered(state, sandbox, *tab, Err(failure));
    }
    let is_work = matches!(pending.purpose, pending::Purpose::Work(_));
    let label = pending.label;
    // What is asked for by itself has no name, and is asked for again.
    if !label.is_empty() {
        let words = format!("Too much at once; {label} was not started. Try again.");
        state.say(Tone::Bad, words);
    }
    if is_work {
        return copies::next(state);
    }
    Vec::new()
}

fn edited(state: &mut AppState, text: Result<String, String>) -> Vec<Effect> {
    match text {
        Ok(text) => {
            let wishes = state.editor.replace_current(&text);
            if state.editor.current().is_dirty() {
                state.say(
                    Tone::Plain,
                    "Back from $EDITOR. Save writes it into the sandbox.",
                );
            }
            fulfil::all(state, wishes)
        }
        Err(reason) => {
            state.say(Tone::Bad, format!("The editor could not be used: {reason}"));
            Vec::new()
        }
    }
}

fn saved_local(state: &mut AppState, outcome: Result<String, NotSaved>) -> Vec<Effect> {
    match outcome {
        Ok(path) => state.say(Tone::Good, format!("Saved to {path}.")),
        Err(NotSaved::Exists { path, bytes }) => return ask_to_replace(state, path, bytes),
        Err(NotSaved::Failed(reason)) => state.say(Tone::Bad, reason),
    }
    Vec::new()
}

fn host_checked(
    state: &mut AppState,
    download: files::Download,
    found: &[files::HostKind],
) -> Vec<Effect> {
    let wishes = files::host_checked(download, found);
    fulfil::all(state, wishes)
}

fn ask_to_replace(state: &mut AppState, path: String, bytes: Bytes) -> Vec<Effect> {
    let ask = Wish::Confirm {
        question: format!("{path} exists on this machine. Replace it? What it holds is lost."),
        button: "Replace".to_owned(),
        then: vec![Wish::SaveLocal {
            path,
            bytes,
            replace: true,
        }],
    };
    fulfil::all(state, vec![ask])
}

fn recovered(state: &mut AppState, buffers: Vec<editor::RecoveredBuffer>) -> Vec<Effect> {
    if !buffers.is_empty() {
        state.say(
            Tone::Good,
            match buffers.len() {
                1 => "An unsaved buffer of an earlier session is back in the editor.".to_owned(),
                many => {
                    format!("{many} unsaved buffers of an earlier session are back in the editor.")
                }
            },
        );
        state.editor.restore(buffers);
    }
    Vec::new()
}
