//! The dashboard's state: what everybody needs of it, and the few verbs that all of the code above shares.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ratatui::layout::Rect;

use super::geometry::layout::{self, Areas, Banner, Pane};
use super::geometry::split;
use super::intent::{Intent, ReplyTo, Tone};
use super::msg::Effect;
use super::overlays::confirm::Confirm;
use super::overlays::{Cx, Overlay};
use super::panes::files::HostPlaces;
use super::panes::{editor, files, output, sandboxes, shells};
use super::pending::{Pending, PendingSet};
use super::settings::Settings;
use super::{engine, guards, status, transfers};
use crate::keymap::{Context, Key};
use crate::protocol::{Command, Failure};

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
    /// What panes and overlays want and was not done yet; `update` leaves none.
    pub(crate) intents: VecDeque<Intent>,
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
            intents: VecDeque::new(),
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
            (Some(overlay), _) => overlay.layer().context(),
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

    /// Divides the screen as it is now.
    #[must_use]
    pub fn areas(&self) -> Option<Areas> {
        let banner = match self.engine.down() {
            Some(_) => Banner::Shown,
            None => Banner::Hidden,
        };
        let view = &self.view;
        layout::divide(view.size, view.focus, view.zoom, view.split, banner)
    }

    /// Returns what an overlay may look at.
    #[must_use]
    pub fn cx(&self) -> Cx<'_> {
        Cx {
            now: self.now,
            screen: self.view.size,
            settings: &self.settings,
            editor: &self.editor,
            engine: &self.engine,
            status: &self.status,
            host_places: self.files.host(),
        }
    }

    /// Says what failed, and what to do.
    pub(crate) fn complain(&mut self, failure: &Failure) {
        let hint = failure.hint.as_ref();
        let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
        // Words of a package manager come in lines; the first says what failed, the last mostly why.
        let mut lines = failure.message.lines();
        let first = lines.next().unwrap_or_default();
        let last = lines.next_back().map(|line| format!(": {line}"));
        let last = last.unwrap_or_default();
        self.say(Tone::Bad, format!("{first}{last}{hint}"));
    }

    /// Puts something over the panes.
    pub(crate) fn open(&mut self, overlay: Overlay) {
        self.view.overlay = Some(overlay);
    }

    /// Asks for a yes; the default is no.
    pub(crate) fn confirm(&mut self, question: String, button: &str, then: Vec<Intent>) {
        self.open(Overlay::Confirm(Confirm {
            question,
            button: button.to_owned(),
            then,
            chosen: false,
        }));
    }

    /// Notes what a pane or an overlay wants; it is done before `update` returns.
    pub(crate) fn want(&mut self, intents: impl IntoIterator<Item = Intent>) {
        self.intents.extend(intents);
    }

    /// Books a request and wraps it.
    pub(crate) fn submit(&mut self, command: Command, label: &str, reply_to: ReplyTo) -> Effect {
        let pending = Pending {
            label: label.to_owned(),
            since: self.now,
            reply_to,
            progress: None,
        };
        Effect::Submit(self.pending.request(command, pending))
    }
}
