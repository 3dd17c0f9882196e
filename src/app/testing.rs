//! What tests of the whole dashboard share: a state, sandboxes in it, keys, answers and the screen.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;

use super::{AppState, Effect, Msg, Settings, update};
use crate::app::panes::files::HostPlaces;
use crate::config::{Config, Environment, LoadOptions};
use crate::domain::{
    EngineInfo, EngineKind, HostName, Limits, Owner, Phase, Sample, Sandbox, SandboxId,
    SandboxPath, SandboxRef,
};
use crate::keymap::{Key, Keymap};
use crate::protocol::{Command, Event, Failure, FailureKind, Link, Reply, Request};
use crate::ui::theme::Theme;

/// The time at which tests begin.
pub(crate) fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default()
}

/// Names the host of all tests.
pub(crate) fn host() -> HostName {
    HostName::new("local")
}

/// Names a sandbox by a word.
pub(crate) fn reference(name: &str) -> SandboxRef {
    SandboxRef::new(host(), SandboxId::new(format!("{name}-0123456789ab")))
}

fn owner() -> Owner {
    Owner {
        host: "desk".into(),
        pid: 7,
        started: 1,
        user: Some("ada".into()),
        kind: crate::domain::OwnerKind::Tui,
    }
}

/// Describes a running sandbox, an hour old.
pub(crate) fn sandbox(name: &str) -> Sandbox {
    Sandbox {
        reference: reference(name),
        name: name.to_owned(),
        engine: EngineKind::Docker,
        image: "python:3.12-slim".into(),
        phase: Phase::Running,
        created_at: start() - TimeDelta::hours(1),
        started_at: Some(start() - TimeDelta::hours(1)),
        owner: Some(owner()),
        limits: Limits {
            memory_bytes: Some(512 << 20),
            cpus: Some(1.0),
            pids: Some(256),
            timeout_s: Some(300),
        },
        network: "none".into(),
        work_dir: SandboxPath::parse(b"/workspace").unwrap_or_else(|_| SandboxPath::root()),
        labels: BTreeMap::from([("team".to_owned(), "red".to_owned())]),
    }
}

/// Describes figures some seconds after the start.
pub(crate) fn sample(seconds: i64, cpu_percent: f64, memory_mib: u64) -> Sample {
    Sample {
        at: start() + TimeDelta::seconds(seconds),
        cpu_percent,
        cpus_limit: Some(1.0),
        memory_bytes: memory_mib << 20,
        memory_limit_bytes: Some(512 << 20),
        pids: 3,
        pids_refused: None,
        net_rx_bytes: 0,
        net_tx_bytes: 0,
        disk_bytes: None,
    }
}

/// A dashboard under test.
pub(crate) struct App {
    pub(crate) state: AppState,
    /// What it has asked for and was not taken yet.
    pub(crate) effects: Vec<Effect>,
}

impl App {
    /// Starts with built-in settings on a screen of this size.
    pub(crate) fn new(width: u16, height: u16) -> Self {
        let options = LoadOptions {
            config: None,
            engine: None,
            environment: Environment::new([("HOME", "/no/such/home")], 7),
        };
        let settings = Settings {
            keymap: Keymap::built_in().expect("a keymap"),
            config: Config::load(&options).expect("settings"),
            owner: owner(),
            host: host(),
            read_only: false,
            demo: false,
        };
        let size = Rect::new(0, 0, width, height);
        let places = HostPlaces::default();
        Self {
            state: AppState::new(settings, "seed".into(), places, size, start()),
            effects: Vec::new(),
        }
    }

    /// Starts connected, with running sandboxes of these names.
    pub(crate) fn with(width: u16, height: u16, names: &[&str]) -> Self {
        let mut app = Self::new(width, height);
        app.link(up());
        app.list(names.iter().map(|name| sandbox(name)).collect());
        app.tick(0);
        app.effects.clear();
        app
    }

    pub(crate) fn tell(&mut self, msg: Msg) {
        self.effects.extend(update(&mut self.state, msg));
    }

    /// Has the app do what a pane or an overlay would want.
    pub(crate) fn apply(&mut self, intents: Vec<super::Intent>) {
        self.state.want(intents);
        self.tell(Msg::Resize {
            width: self.state.view.size.width,
            height: self.state.view.size.height,
        });
    }

    pub(crate) fn engine(&mut self, event: Event) {
        self.tell(Msg::Engine(event));
    }

    pub(crate) fn link(&mut self, link: Link) {
        self.engine(Event::Link { host: host(), link });
    }

    pub(crate) fn list(&mut self, sandboxes: Vec<Sandbox>) {
        let host = host();
        self.engine(Event::Sandboxes { host, sandboxes });
    }

    pub(crate) fn sample(&mut self, name: &str, sample: Sample) {
        let sandbox = reference(name);
        self.engine(Event::Sampled(vec![(sandbox, sample)]));
    }

    /// Moves the clock to some seconds after the start.
    pub(crate) fn tick(&mut self, seconds: i64) {
        self.tell(Msg::Tick(start() + TimeDelta::seconds(seconds)));
    }

    /// Presses keys, written as in keymaps and separated by spaces.
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.split(' ') {
            let key: Key = key.parse().expect("a key");
            self.tell(Msg::Key(key));
        }
    }

    /// Types text.
    pub(crate) fn typed(&mut self, text: &str) {
        for c in text.chars() {
            self.tell(Msg::Key(Key::plain(crate::keymap::KeyCode::Char(c))));
        }
    }

    /// Takes the requests that were made since the last time.
    pub(crate) fn requests(&mut self) -> Vec<Request> {
        let requests = self.effects.drain(..).filter_map(|effect| match effect {
            Effect::Submit(request) => Some(request),
            _ => None,
        });
        requests.collect()
    }

    /// Takes the commands that were sent since the last time.
    pub(crate) fn commands(&mut self) -> Vec<Command> {
        self.requests().into_iter().map(|r| r.command).collect()
    }

    /// Answers every request that was made since the last time; one without an answer is left open.
    pub(crate) fn answer(&mut self, answer: impl Fn(&Command) -> Option<Result<Reply, Failure>>) {
        for request in self.requests() {
            if let Some(outcome) = answer(&request.command) {
                let request = request.id;
                self.engine(Event::Replied { request, outcome });
            }
        }
    }

    /// Draws the screen and returns it as text.
    pub(crate) fn screen(&self) -> String {
        self.screen_in(&Theme::mono())
    }

    pub(crate) fn screen_in(&self, theme: &Theme) -> String {
        let size = self.state.view.size;
        let backend = TestBackend::new(size.width, size.height);
        let mut terminal = Terminal::new(backend).expect("a terminal");
        terminal
            .draw(|frame| crate::ui::draw(frame, &self.state, theme))
            .expect("a drawing");
        let buffer = terminal.backend().buffer();
        let rows = buffer.content.chunks(usize::from(size.width));
        let rows = rows.map(|row| {
            row.iter()
                .map(ratatui::buffer::Cell::symbol)
                .collect::<String>()
        });
        rows.map(|row| row.trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Describes an engine that answers.
pub(crate) fn up() -> Link {
    Link::Up(EngineInfo {
        kind: EngineKind::Docker,
        endpoint: "unix:///run/docker.sock".into(),
        version: "29.0".into(),
        api_version: "1.52".into(),
        cpus: 4,
        memory_bytes: 8 << 30,
    })
}

/// Describes an engine that went away some seconds after the start.
pub(crate) fn down(seconds: i64, retry_in: u64) -> Link {
    let words = "connecting to unix:///run/docker.sock: No such file or directory (os error 2)";
    Link::Down {
        since: start() + TimeDelta::seconds(seconds),
        retry_in: Duration::from_secs(retry_in),
        why: Failure::new(FailureKind::Unreachable, words)
            .with_hint("start the engine, or say where it is with DOCKER_HOST"),
    }
}
