//! Keys in, screen out: the dashboard's core, the real manager and the simulated engine, on a clock that only tests move.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::layout::Rect;
use sandtop::app::ReplyTo;
use sandtop::app::msg::MouseButton;
use sandtop::app::overlays::reap::rules;
use sandtop::app::panes::files::HostPlaces;
use sandtop::app::pending::Pending;
use sandtop::app::{AppState, Effect, Mouse, MouseKind, Msg, Settings, update};
use sandtop::config::{Config, Environment, LoadOptions};
use sandtop::domain::{HostName, Owner, OwnerKind, Source};
use sandtop::engine::demo::DemoEngine;
use sandtop::keymap::{Key, KeyCode, Keymap};
use sandtop::manager::{self, Host, ManagerHandle, Options};
use sandtop::protocol::{Command, Event, Topic};
use sandtop::store::Store;
use sandtop::ui::theme::Theme;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Simulated time after which nothing more is expected to happen.
const QUIET: Duration = Duration::from_millis(300);
/// Simulated time that anything may take.
const PATIENCE: u32 = 400;

fn owner(kind: OwnerKind) -> Owner {
    Owner {
        host: "desk".into(),
        pid: 7,
        started: 1,
        user: Some("ada".into()),
        kind,
    }
}

fn start() -> DateTime<Utc> {
    Utc::now()
}

/// A dashboard with everything behind it.
struct Flow {
    state: AppState,
    handle: ManagerHandle,
    events: mpsc::Receiver<Event>,
    seconds: i64,
    begun: DateTime<Utc>,
    quit: bool,
}

impl Flow {
    async fn start(width: u16, height: u16) -> Self {
        let options = LoadOptions {
            config: None,
            engine: None,
            environment: Environment::new([("HOME", "/no/such/home")], 7),
        };
        let config = Config::load(&options).unwrap();
        let name = HostName::new("local");
        let host = Host {
            engine: Arc::new(DemoEngine::with_samples(name.clone())),
            name: name.clone(),
            slots: None,
            engine_key: "demo".into(),
            protected: Vec::new(),
        };
        let behind = Options {
            max_sandboxes: config.manager.max_sandboxes,
            copy_limit: config.manager.copy_limit,
            max_detached: config.manager.max_detached,
            reap_foreign: false,
            measures_disk: true,
            source: Source::Tui,
            owner: owner(OwnerKind::Tui),
            store: Store::open(None).keeping(config.retention),
            deps: config.deps.clone(),
        };
        let (handle, events, _) = manager::spawn(vec![host], behind, std::future::pending());
        let settings = Settings {
            keymap: Keymap::built_in().unwrap(),
            config,
            owner: owner(OwnerKind::Tui),
            host: name,
            read_only: false,
            demo: true,
        };
        let size = Rect::new(0, 0, width, height);
        let begun = start();
        let mut flow = Self {
            state: AppState::new(settings, "seed".into(), HostPlaces::default(), size, begun),
            handle,
            events,
            seconds: 0,
            begun,
            quit: false,
        };
        flow.watch();
        flow.until("demo-python").await;
        flow
    }

    /// Watches what the dashboard watches.
    fn watch(&mut self) {
        let reap_statuses = Topic::ReapStatuses {
            rules: rules(&self.state.settings.config.manager),
            reap_every: None,
        };
        for topic in [Topic::Events, Topic::Samples(None), reap_statuses] {
            let pending = Pending {
                label: String::new(),
                since: self.state.now,
                reply_to: ReplyTo::Quiet,
                progress: None,
            };
            let request = self.state.pending.request(Command::Watch(topic), pending);
            self.handle.submit(request).unwrap();
        }
    }

    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, msg) {
            match effect {
                Effect::Submit(request) => {
                    let id = request.id;
                    if self.handle.submit(request).is_err() {
                        self.tell(Msg::Busy(id));
                    }
                }
                Effect::Quit => self.quit = true,
                _ => {}
            }
        }
    }

    /// Takes what the manager tells until it is silent for a while, then moves the clock by a second.
    async fn settle(&mut self) {
        let mut taken = 0;
        while let Ok(Some(event)) = timeout(QUIET, self.events.recv()).await {
            self.tell(Msg::Engine(event));
            taken += 1;
            if taken > 200 {
                break;
            }
        }
        self.seconds += 1;
        let now = self.begun + TimeDelta::seconds(self.seconds);
        self.tell(Msg::Tick(now));
    }

    async fn keys(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.tell(Msg::Key(key.parse().unwrap()));
        }
        self.settle().await;
    }

    async fn typed(&mut self, text: &str) {
        for c in text.chars() {
            self.tell(Msg::Key(Key::plain(KeyCode::Char(c))));
        }
        self.settle().await;
    }

    fn screen(&self) -> String {
        let size = self.state.view.size;
        let backend = TestBackend::new(size.width, size.height);
        let mut terminal = Terminal::new(backend).unwrap();
        let theme = Theme::dark();
        terminal
            .draw(|frame| sandtop::ui::draw(frame, &self.state, &theme))
            .unwrap();
        let cells = &terminal.backend().buffer().content;
        let rows = cells.chunks(usize::from(size.width).max(1));
        let rows = rows.map(|row| row.iter().map(Cell::symbol).collect::<String>());
        rows.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn sees(&self, part: &str) {
        let screen = self.screen();
        assert!(screen.contains(part), "no {part:?} on\n{screen}");
    }

    async fn until(&mut self, part: &str) {
        for _ in 0..PATIENCE {
            if self.screen().contains(part) {
                return;
            }
            self.settle().await;
        }
        self.sees(part);
    }

    async fn until_gone(&mut self, part: &str) {
        for _ in 0..PATIENCE {
            if !self.screen().contains(part) {
                return;
            }
            self.settle().await;
        }
        panic!("still {part:?} on\n{}", self.screen());
    }
}

#[tokio::test(start_paused = true)]
async fn a_sandbox_is_made_used_and_removed() {
    let mut flow = Flow::start(160, 48).await;
    flow.keys("c").await;
    flow.sees("New sandbox");
    flow.typed("box-of-mine").await;
    flow.keys("enter").await;
    flow.until("box-of-mine is running").await;
    flow.keys("d").await;
    flow.sees("Cancel");
    // Cancel has the keys at first.
    flow.keys("enter").await;
    flow.until("box-of-mine").await;
    flow.keys("d y").await;
    flow.until_gone("box-of-mine  ").await;
}

#[tokio::test(start_paused = true)]
async fn a_buffer_runs_and_its_output_streams_in() {
    let mut flow = Flow::start(160, 48).await;
    flow.keys("2 i").await;
    flow.typed("print('six times seven') ").await;
    flow.keys("enter f9").await;
    flow.until("six times seven").await;
    flow.keys("esc 3").await;
    // The text that the buffer began with runs as well.
    flow.until("hello from the demo").await;
}

#[tokio::test(start_paused = true)]
async fn stopping_starting_and_pausing_are_seen() {
    let mut flow = Flow::start(160, 48).await;
    flow.keys("p").await;
    flow.until("paused").await;
    flow.keys("p").await;
    flow.until_gone("paused").await;
    flow.keys("s y").await;
    flow.until("1 running").await;
    flow.keys("S").await;
    flow.until("2 running").await;
}

#[tokio::test(start_paused = true)]
async fn a_folder_is_listed_and_a_file_opened() {
    let mut flow = Flow::start(160, 48).await;
    flow.keys("4").await;
    flow.until("main.py").await;
    flow.keys("enter").await;
    flow.until("2 Editor").await;
    flow.keys("2").await;
    flow.until("main.py").await;
}

#[tokio::test(start_paused = true)]
async fn everything_about_a_sandbox_is_told() {
    let mut flow = Flow::start(120, 40).await;
    flow.keys("i").await;
    flow.until("python:3.13-slim").await;
    for title in [
        "[Processes]",
        "[Charts]",
        "[Events]",
        "[Changes]",
        "[Overview]",
    ] {
        flow.keys("]").await;
        flow.until(title).await;
    }
    flow.keys("esc").await;
    flow.until_gone("[Overview]").await;
}

#[tokio::test(start_paused = true)]
async fn quitting_asks_only_if_something_is_lost() {
    let mut flow = Flow::start(80, 24).await;
    flow.keys("q").await;
    assert!(flow.quit);
    let mut flow = Flow::start(80, 24).await;
    flow.keys("2 i").await;
    flow.typed("x").await;
    flow.keys("esc q").await;
    assert!(!flow.quit);
    flow.sees("1 unsaved buffer");
    flow.keys("y").await;
    assert!(flow.quit);
}

#[tokio::test(start_paused = true)]
async fn storms_of_sizes_keys_pastes_and_clicks_do_no_harm() {
    let mut flow = Flow::start(160, 48).await;
    let sizes = [
        (160, 48),
        (60, 16),
        (1, 1),
        (0, 0),
        (300, 100),
        (59, 15),
        (110, 20),
        (80, 24),
    ];
    let keys = [
        "1", "2", "3", "4", "z", "?", "esc", "C", "esc", "i", "esc", "f7", "esc", ":", "esc", "/",
        "esc", "O", "o", "a", "tab", "backtab", "G", "g", "pagedown", "pageup", "space", "*", "u",
        "j", "k", "]", "[", "m", "m",
    ];
    let mut seed: u32 = 7;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for _ in 0..3_000 {
        let (width, height) = sizes[random(8) as usize];
        match random(4) {
            0 => flow.tell(Msg::Resize { width, height }),
            1 => flow.tell(Msg::Key(keys[random(35) as usize].parse().unwrap())),
            2 => flow.tell(Msg::Paste("dy\u{1b}[2Jq\ry\n".into())),
            _ => {
                let kinds = [MouseKind::WheelUp, MouseKind::WheelDown, MouseKind::Drag];
                flow.tell(Msg::Mouse(Mouse {
                    kind: kinds[random(3) as usize],
                    column: u16::try_from(random(320)).unwrap(),
                    row: u16::try_from(random(110)).unwrap(),
                    button: MouseButton::Left,
                    ctrl: false,
                    alt: false,
                    shift: false,
                }));
            }
        }
        drop(flow.screen());
    }
    assert!(!flow.quit, "nothing of this quits");
    flow.tell(Msg::Resize {
        width: 160,
        height: 48,
    });
    flow.keys("esc esc esc 1 z").await;
    flow.sees("demo-python");
    flow.sees("demo-node");
}
