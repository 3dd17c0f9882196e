//! The dashboard's loop: input, events and time into `update`, effects out, and a drawing when something has changed.

mod effects;
mod host;
mod input;
mod memory;
mod opening;
mod pace;
mod recovery;
mod snippets;
mod terminal;
mod theme_choice;

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use crossterm::event::EventStream;
use futures_util::StreamExt;
use ratatui::layout::Rect;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use crate::app::ReplyTo;
use crate::app::overlays::reap::rules;
use crate::app::panes::files::HostPlaces;
use crate::app::pending::Pending;
use crate::app::{AppState, Effect, Msg, Pane, Settings, update};
use crate::manager::ManagerHandle;
use crate::protocol::{Command, Event, Failure, FailureKind, Topic};
use crate::signals::{EndReason, Turn, Turns, asked_to_end};
use crate::ui::theme::Theme;
use effects::{Done, perform};
use memory::Memory;
pub use opening::Connected;
use pace::{Pace, Urgency};
use recovery::Recovery;
use snippets::Library;
use terminal::{Guard, Screen};
pub use theme_choice::theme;

/// Events taken from the channel at once.
const BATCH: usize = 256;
/// The longest time that events take before keys and the screen get their turn.
pub const TURN: Duration = Duration::from_millis(4);
/// How long the program may take to end by itself once it was asked to.
const LAST_RESORT: Duration = Duration::from_secs(15);
/// How long the reader of keys may take to let go of the terminal.
const LETTING_GO: Duration = Duration::from_millis(50);

/// What the loop works with.
struct Loop {
    state: AppState,
    theme: Theme,
    /// Missing until an engine was chosen.
    handle: Option<ManagerHandle>,
    recovery: Recovery,
    library: Library,
    memory: Memory,
    screen: Screen,
    /// Missing while another program has the terminal.
    input: Option<EventStream>,
    /// What came before there was an engine.
    early: Vec<Msg>,
    pace: Pace,
    quit: bool,
}

/// Runs the dashboard until the person leaves; returns the exit code. The first picture is there before `connect` begins.
///
/// # Errors
/// The terminal cannot be used, or there is no engine to connect to.
pub async fn run(
    settings: Settings,
    theme: Theme,
    state_dir: Option<&Path>,
    connect: impl Future<Output = Result<Connected, Failure>>,
) -> Result<u8, Failure> {
    // From here on, nothing that ends the program does so before the terminal is given back.
    let end = asked_to_end(true);
    tokio::pin!(end);
    tokio::spawn(end_anyway());
    if theme.is_colourful() {
        // It was asked for; the library would go by NO_COLOR alone.
        crossterm::style::force_color_output(true);
    }
    let mut looping = Loop::new(settings, theme, state_dir).map_err(broken)?;
    let guard = Guard::take(looping.state.view.mouse, state_dir).map_err(broken)?;
    let code = looping.show(end, connect).await;
    drop(guard);
    code
}

fn broken(error: impl std::fmt::Display) -> Failure {
    let message = format!("the terminal cannot be used: {error}");
    Failure::new(FailureKind::Internal, message)
}

/// Ends a program that was asked to end and hangs, such as in writing to a terminal that takes nothing.
async fn end_anyway() {
    let asked = asked_to_end(true).await;
    sleep(LAST_RESORT).await;
    let _ = crossterm::terminal::disable_raw_mode();
    std::process::exit(asked.exit_code().into());
}

impl Loop {
    fn new(settings: Settings, theme: Theme, state_dir: Option<&Path>) -> io::Result<Self> {
        let screen = Screen::new()?;
        let (width, height) = screen.size()?;
        let (pid, now) = (std::process::id(), Utc::now());
        let seed = format!("{pid:x}{:x}", now.timestamp_millis());
        let host = HostPlaces {
            home: std::env::var_os("HOME").map(Into::into),
            here: std::env::current_dir().unwrap_or_default(),
        };
        let size = Rect::new(0, 0, width, height);
        let mut memory = Memory::new(state_dir.filter(|_| settings.config.ui.remember));
        let mut state = AppState::new(settings, seed, host, size, now);
        if let Some(layout) = memory.read() {
            state.restore(layout);
        }
        Ok(Self {
            state,
            theme,
            handle: None,
            memory,
            recovery: Recovery::new(state_dir.unwrap_or(&std::env::temp_dir())),
            library: Library::new(state_dir),
            screen,
            input: Some(EventStream::new()),
            early: Vec::new(),
            pace: Pace::new(Instant::now()),
            quit: false,
        })
    }

    /// Shows the first picture, waits for the engine, and serves.
    async fn show(
        &mut self,
        mut end: impl Future<Output = EndReason> + Unpin,
        connect: impl Future<Output = Result<Connected, Failure>>,
    ) -> Result<u8, Failure> {
        let connected = match self.open(&mut end, connect).await? {
            Ok(connected) => connected,
            Err(code) => return Ok(code),
        };
        self.state.settings = Arc::new(connected.settings);
        self.begin(connected.handle);
        self.catch_up();
        let code = self.serve(&mut end, connected.events).await;
        self.recovery_at_end();
        self.memory.keep(self.state.layout());
        code.map_err(broken)
    }

    /// Takes back what a crash left, and starts to watch.
    fn begin(&mut self, handle: ManagerHandle) {
        self.handle = Some(handle);
        let left = self.recovery.take();
        self.tell(Msg::Recovered(left));
        let settings = &self.state.settings;
        let manager = &settings.config.manager;
        let reap_statuses = Topic::ReapStatuses {
            rules: rules(manager),
            reap_every: (!settings.read_only).then_some(manager.cleanup_interval),
        };
        for topic in [Topic::Events, Topic::Samples(None), reap_statuses] {
            let pending = Pending {
                label: String::new(),
                since: self.state.now,
                reply_to: ReplyTo::Quiet,
                progress: None,
            };
            let request = self.state.pending.request(Command::Watch(topic), pending);
            self.perform(vec![Effect::Submit(request)]);
        }
    }

    async fn serve(
        &mut self,
        mut end: impl Future<Output = EndReason> + Unpin,
        mut events: mpsc::Receiver<Event>,
    ) -> io::Result<u8> {
        let mut second = interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut turns = Turns::listen()?;
        let mut batch = Vec::with_capacity(BATCH);
        let mut waiting = VecDeque::with_capacity(BATCH);
        while !self.quit {
            let due = self.pace.due();
            tokio::select! {
                biased;
                asked = &mut end => return Ok(asked.exit_code()),
                turn = turns.next() => self.pause_or_go_on(turn),
                event = next(&mut self.input) => match event {
                    Some(Ok(event)) => self.take_input(event),
                    // The terminal is gone, and with it the person.
                    Some(Err(_)) | None => return Ok(EndReason::HangUp.exit_code()),
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.draw()?,
                _ = second.tick() => {
                    if terminal::is_gone() {
                        return Ok(EndReason::HangUp.exit_code());
                    }
                    self.tell(Msg::Tick(Utc::now()));
                    self.memory.keep(self.state.layout());
                    break_on_purpose();
                }
                count = events.recv_many(&mut batch, BATCH), if waiting.is_empty() => {
                    if count == 0 {
                        return Err(io::Error::other("the manager ended; the log says why"));
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

    fn take_input(&mut self, event: crossterm::event::Event) {
        if let Some(message) = input::message(event) {
            self.tell(message);
        }
    }

    /// Gives the terminal back before a shell puts the program aside, and takes it again afterwards.
    fn pause_or_go_on(&mut self, turn: Turn) {
        match turn {
            Turn::Stop => self.perform(vec![Effect::Suspend]),
            Turn::GoOn => self.come_back(),
        }
    }

    /// Tells the core something and does what it asks for.
    fn tell(&mut self, message: Msg) {
        self.pace.note(Urgency::of(&message));
        let effects = update(&mut self.state, message);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let lends = matches!(effect, Effect::EditExternally { .. } | Effect::Suspend);
            if lends {
                self.let_go();
            }
            let done = perform(effect, self.handle.as_ref(), &self.recovery, &self.library);
            if lends {
                self.come_back();
            }
            match done {
                Done::Nothing => {}
                Done::Tell(message) => self.tell(message),
                Done::Quit => self.quit = true,
            }
        }
    }

    /// Stops reading keys and leaves the terminal, so that what comes now gets every key.
    fn let_go(&mut self) {
        self.input = None;
        // The reader's thread holds a lock until it has seen that; waiting for events waits for the lock.
        let _ = crossterm::event::poll(LETTING_GO);
        terminal::leave();
    }

    /// Takes the terminal again, whoever had it and whatever size it has now.
    fn come_back(&mut self) {
        if let Err(error) = terminal::enter(self.state.view.mouse) {
            tracing::warn!(%error, "the terminal could not be taken again");
        }
        self.input.get_or_insert_default();
        self.screen.forget();
        if let Ok((width, height)) = self.screen.size() {
            self.tell(Msg::Resize { width, height });
        }
    }

    /// Lets colouring catch up a little with every frame. The grammars take more memory than all else together, so somebody
    /// who only watches sandboxes does not have them: a suggestion is plain until the editor is entered.
    fn colour(&mut self) -> bool {
        let is_entered = self.state.view.focus == Pane::Editor;
        let editor = &mut self.state.editor;
        let rest = (is_entered || !editor.shows_suggestion()) && editor.advance_highlighting();
        if !rest && !is_entered {
            editor.forget_grammars();
        }
        rest
    }

    fn draw(&mut self) -> io::Result<()> {
        let rest = self.colour();
        let (state, theme) = (&self.state, &self.theme);
        let drawn = self
            .screen
            .draw(|frame| crate::ui::draw(frame, state, theme));
        self.pace.drawn(Instant::now(), rest);
        drawn
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

/// Waits for the terminal's next event.
async fn next(input: &mut Option<EventStream>) -> Option<io::Result<crossterm::event::Event>> {
    match input {
        Some(input) => input.next().await,
        None => std::future::pending().await,
    }
}

/// Breaks the program where a test asks for it, to see that the terminal survives; releases have no such thing.
#[cfg(debug_assertions)]
#[expect(clippy::panic)]
fn break_on_purpose() {
    match std::env::var("SANDTOP_TEST_BREAK").as_deref() {
        Ok("screen") => panic!("the screen broke on purpose"),
        Ok("task") => drop(tokio::spawn(async { panic!("a task broke on purpose") })),
        _ => {}
    }
}

#[cfg(not(debug_assertions))]
fn break_on_purpose() {}
