//! The dashboard's loop: input, events and time into `update`, effects out, and a drawing when something has changed.

mod effects;
mod input;
mod recovery;
mod terminal;

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use chrono::Utc;
use crossterm::event::EventStream;
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use futures_util::StreamExt;
use ratatui::layout::Rect;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::app::files::HostPlaces;
use crate::app::pending::{Pending, Purpose};
use crate::app::reap::rules;
use crate::app::{AppState, Effect, Msg, Settings, update};
use crate::manager::ManagerHandle;
use crate::protocol::{Command, Event, Failure, FailureKind, Topic};
use crate::signals::asked_to_end;
use crate::ui::theme::Theme;
use effects::{Done, perform};
use recovery::Recovery;
use terminal::{Guard, Screen};

/// The least time between two drawings.
const FRAME: Duration = Duration::from_millis(16);
/// Events taken from the channel at once.
const BATCH: usize = 256;
/// The longest time that events take before keys and the screen get their turn.
pub const TURN: Duration = Duration::from_millis(4);

/// What the loop works with.
struct Loop {
    state: AppState,
    theme: Theme,
    handle: ManagerHandle,
    recovery: Recovery,
    screen: Screen,
    dirty: bool,
    quit: bool,
}

/// Runs the dashboard until the person leaves; returns the exit code.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(
    handle: ManagerHandle,
    events: mpsc::Receiver<Event>,
    settings: Settings,
    theme: Theme,
    state_dir: Option<&Path>,
) -> Result<u8, Failure> {
    let broken = |error: std::io::Error| {
        Failure::new(
            FailureKind::Internal,
            format!("the terminal cannot be used: {error}"),
        )
    };
    let (guard, screen) = Guard::take(true).map_err(broken)?;
    let size = screen.size().map_err(broken)?;
    let seed = format!(
        "{:x}{:x}",
        std::process::id(),
        Utc::now().timestamp_millis()
    );
    let recovery = Recovery::new(state_dir.unwrap_or(&std::env::temp_dir()));
    let host = HostPlaces {
        home: std::env::var_os("HOME").map(Into::into),
        here: std::env::current_dir().unwrap_or_default(),
    };
    let state = AppState::new(
        settings,
        seed,
        host,
        Rect::new(0, 0, size.width, size.height),
        Utc::now(),
    );
    let mut looping = Loop {
        state,
        theme,
        handle,
        recovery,
        screen,
        dirty: true,
        quit: false,
    };
    looping.begin();
    let code = looping.serve(events).await;
    looping.recovery_at_end();
    drop(guard);
    code.map_err(broken)
}

impl Loop {
    /// Shows the first frame, takes back what a crash left, and starts to watch.
    fn begin(&mut self) {
        let left = self.recovery.take();
        self.tell(Msg::Recovered(left));
        let settings = &self.state.settings;
        let manager = &settings.config.manager;
        let standings = Topic::Standings {
            rules: rules(manager),
            reap_every: (!settings.read_only).then_some(manager.cleanup_interval),
        };
        for topic in [Topic::Happenings, Topic::Samples(None), standings] {
            let pending = Pending {
                label: String::new(),
                since: self.state.now,
                purpose: Purpose::Quiet,
                progress: None,
            };
            let request = self.state.pending.request(Command::Watch(topic), pending);
            self.perform(vec![Effect::Submit(request)]);
        }
    }

    async fn serve(&mut self, mut events: mpsc::Receiver<Event>) -> std::io::Result<u8> {
        let mut input = EventStream::new();
        let mut second = interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = asked_to_end(true);
        tokio::pin!(end);
        let mut next_frame = Instant::now();
        let mut batch = Vec::with_capacity(BATCH);
        let mut waiting = VecDeque::with_capacity(BATCH);
        while !self.quit {
            tokio::select! {
                biased;
                asked = &mut end => return Ok(asked.exit_code()),
                event = input.next() => match event {
                    Some(Ok(event)) => self.input(event),
                    // The terminal is gone, and with it the person.
                    Some(Err(_)) | None => return Ok(129),
                },
                () = sleep_until(next_frame), if self.dirty => {
                    self.draw()?;
                    next_frame = Instant::now() + FRAME;
                }
                _ = second.tick() => self.tell(Msg::Tick(Utc::now())),
                count = events.recv_many(&mut batch, BATCH), if waiting.is_empty() => {
                    if count == 0 {
                        return Ok(1);
                    }
                    waiting.extend(batch.drain(..));
                    self.take_turn(&mut waiting);
                }
                () = std::future::ready(()), if !waiting.is_empty() => self.take_turn(&mut waiting),
            }
        }
        Ok(0)
    }

    /// Takes events for a short while; the rest waits until keys and the screen had their turn.
    fn take_turn(&mut self, waiting: &mut VecDeque<Event>) {
        let begin = Instant::now();
        while begin.elapsed() < TURN
            && let Some(event) = waiting.pop_front()
        {
            self.tell(Msg::Engine(event));
        }
    }

    fn input(&mut self, event: crossterm::event::Event) {
        if let Some(message) = input::message(event) {
            self.tell(message);
        }
    }

    /// Tells the core something and does what it asks for.
    fn tell(&mut self, message: Msg) {
        let effects = update(&mut self.state, message);
        self.dirty = true;
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match perform(effect, &self.handle, &self.recovery, self.state.view.mouse) {
                Done::Nothing => {}
                Done::Tell(message) => self.tell(message),
                Done::Redraw(message) => {
                    let _ = self.screen.resize(self.state.view.size);
                    if let Some(message) = message {
                        self.tell(message);
                    }
                }
                Done::Quit => self.quit = true,
            }
        }
    }

    /// Draws in one go, so that no half picture is seen.
    fn draw(&mut self) -> std::io::Result<()> {
        // Colouring catches up a little with every frame.
        self.dirty = self.state.editor.advance_highlighting();
        queue!(std::io::stdout(), BeginSynchronizedUpdate)?;
        let (state, theme) = (&self.state, &self.theme);
        self.screen
            .draw(|frame| crate::ui::draw(frame, state, theme))?;
        queue!(std::io::stdout(), EndSynchronizedUpdate)?;
        std::io::stdout().flush()
    }

    /// Keeps what is unsaved; a person who quit has answered that question.
    fn recovery_at_end(&self) {
        if self.quit {
            self.recovery.forget();
        } else {
            self.recovery.keep(&self.state.editor.recovery());
        }
    }
}
