//! The dashboard's state: what everybody needs of it, and the few verbs that all of the code above shares.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

use super::geometry::layout::{self, Pane};
use super::geometry::split;
use super::intent::Tone;
use super::overlays::compare;
use super::overlays::overlay::Overlay;
use super::panes::files::HostPlaces;
use super::panes::{editor, files, output, sandboxes, shells};
use super::pending::PendingSet;
use super::{engine, guards, status, transfers};
use crate::config::Config;
use crate::domain::{HostName, Owner};
use crate::keymap::{Context, Key, Keymap};

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
    pub comparing: Option<compare::Comparing>,
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
    pub(crate) fn page(&self, pane: Pane) -> usize {
        let inner = self.areas().and_then(|areas| areas.inner(pane));
        inner.map_or(1, |inner| match pane {
            Pane::Files => usize::from(layout::files_areas(inner).list.height.max(1)),
            Pane::Output => layout::output_page(inner),
            Pane::Sandboxes | Pane::Editor => usize::from(inner.height.max(1)),
        })
    }

    pub(crate) fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.status.say(tone, text, self.now);
    }
}
