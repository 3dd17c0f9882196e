//! Speed of the dashboard itself: frames, keys, floods of output. `cargo bench --bench frame`.
//!
//! Each case drives the real `update` and the real drawing, with the terminal's bytes thrown away. A word chooses some of
//! the cases: `-- editor`. Instructions come from valgrind, which runs one case a second time, if it is installed.

#![allow(clippy::print_stdout)] // A bench is there to print.

use std::collections::BTreeMap;
use std::io::Sink;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use sandtop::app::panes::files::HostPlaces;
use sandtop::app::panes::output::RunInfo;
use sandtop::app::panes::shell::ShellState;
use sandtop::app::{AppState, Mode, Msg, Pane, Settings, update};
use sandtop::config::{Config, Environment, LoadOptions};
use sandtop::domain::{
    EngineKind, HostName, Limits, OutputChunk, Owner, OwnerKind, Phase, Sample, Sandbox, SandboxId,
    SandboxPath, SandboxRef, StreamId, StreamKind, TtySize,
};
use sandtop::keymap::{Key, KeyCode, Keymap};
use sandtop::protocol::Event;
use sandtop::text::Table;
use sandtop::tui::TURN;
use sandtop::ui::theme::Theme;

const SANDBOXES: usize = 500;
/// The most that the manager sends at once.
const CHUNK: usize = 64 * 1024;
const MIB: f64 = 1_048_576.0;
const RUN: StreamId = StreamId(1_000_001);
const SHELL: StreamId = StreamId(1_000_002);
const PLAIN: &[u8] =
    b"2026-03-01T12:00:00.123Z INFO  app::server: request served path=/api/v1/items status=200 took=12ms\n";
const COLOURED: &[u8] =
    b"\x1b[2m2026-03-01T12:00:00Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mapp::server\x1b[0m: served \
    \x1b[3mpath\x1b[0m=\x1b[38;5;39m/api/v1/items\x1b[0m \x1b[3mstatus\x1b[0m=\x1b[33m200\x1b[0m\n";
const CODE: &str =
    "    value = compute(a, 'text', 12)  # a comment that is of the usual length or so\n";
/// Frames that valgrind counts, above those of its first run.
const COUNTED: u64 = 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "--frames") {
        let frames = words.get(at + 1).and_then(|word| word.parse().ok());
        return only_frames(frames.unwrap_or(1));
    }
    if !words.iter().any(|word| word == "--bench") {
        println!("frame: not measured; run `cargo bench --bench frame`");
        return;
    }
    let mut report = Report::new(&words);
    report.measure("frame", frames);
    report.measure("ingest", ingest);
    report.measure("key", key_to_frame);
    report.measure("editor", editor);
    report.measure("line", long_line);
    report.measure("shell", shells);
    println!("{}", report.table);
}

/// The rows so far, and which cases are wanted.
struct Report {
    table: Table,
    chosen: Vec<String>,
}

/// What a number must be.
enum Target {
    Under(Duration),
    AtLeast(f64),
    Nothing,
}

impl Report {
    fn new(words: &[String]) -> Self {
        let table = Table::new(&["CASE", "MEASURED", "WORST", "TARGET", "VERDICT"]);
        let is_name = |word: &&String| !word.starts_with('-');
        Self {
            table: table.align_right(1).align_right(2).align_right(3),
            chosen: words.iter().filter(is_name).cloned().collect(),
        }
    }

    fn measure(&mut self, name: &str, case: fn(&mut Self)) {
        if self.chosen.is_empty() || self.chosen.iter().any(|word| word == name) {
            case(self);
        }
    }

    /// Adds the median and the worst of some times; the median is judged.
    fn times(&mut self, what: &str, mut times: Vec<Duration>, target: &Target) {
        times.sort();
        let at = |index: usize| times.get(index).copied().unwrap_or_default();
        let (median, worst) = (at(times.len() / 2), at(times.len().saturating_sub(1)));
        let (limit, verdict) = match target {
            Target::Under(most) => (format!("< {most:.0?}"), verdict(median < *most)),
            Target::AtLeast(_) | Target::Nothing => (String::new(), String::new()),
        };
        self.row(
            what,
            format!("{median:.2?}"),
            format!("{worst:.2?}"),
            limit,
            verdict,
        );
    }

    fn rate(&mut self, what: &str, bytes: usize, took: Duration, target: &Target) {
        let bytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
        let rate = bytes / MIB / took.as_secs_f64();
        let (limit, verdict) = match target {
            Target::AtLeast(least) => (format!(">= {least:.0} MiB/s"), verdict(rate >= *least)),
            Target::Under(_) | Target::Nothing => (String::new(), String::new()),
        };
        self.row(
            what,
            format!("{rate:.0} MiB/s"),
            String::new(),
            limit,
            verdict,
        );
    }

    fn row(&mut self, what: &str, value: String, worst: String, limit: String, verdict: String) {
        let what = what.to_owned();
        self.table.row(vec![what, value, worst, limit, verdict]);
    }
}

fn verdict(is_good: bool) -> String {
    if is_good { "ok" } else { "MISSED" }.to_owned()
}

/// A dashboard on a screen whose bytes go nowhere.
struct Lab {
    state: AppState,
    screen: Terminal<CrosstermBackend<Sink>>,
    theme: Theme,
}

impl Lab {
    fn new(width: u16, height: u16) -> Self {
        let area = Rect::new(0, 0, width, height);
        let viewport = Viewport::Fixed(area);
        let backend = CrosstermBackend::new(std::io::sink());
        let screen = Terminal::with_options(backend, TerminalOptions { viewport });
        let places = HostPlaces::default();
        let mut state = AppState::new(settings(), "bench".into(), places, area, start());
        update(&mut state, Msg::Resize { width, height });
        Self {
            state,
            screen: screen.expect("a terminal"),
            theme: Theme::dark(),
        }
    }

    /// Fills the list and the output pane.
    fn furnished() -> Self {
        let mut lab = Self::new(200, 60);
        let sandboxes = (0..SANDBOXES).map(sandbox).collect();
        let host = host();
        lab.tell(Msg::Engine(Event::Sandboxes { host, sandboxes }));
        for second in 0..60 {
            lab.sample_all(second);
        }
        lab.open_run();
        lab.feed(&COLOURED.repeat(12_000));
        lab
    }

    fn sample_all(&mut self, second: i64) {
        for number in 0..SANDBOXES {
            let (sandbox, sample) = (reference(number), sample(number, second));
            self.tell(Msg::Engine(Event::Sampled(vec![(sandbox, sample)])));
        }
        self.tell(Msg::Tick(start() + TimeDelta::seconds(second)));
    }

    fn open_run(&mut self) {
        self.state.output.open(RunInfo {
            stream: RUN,
            exec: sandtop::domain::ExecId::new("x1"),
            hold: sandtop::app::panes::output::Hold::Own,
            sandbox: reference(0),
            sandbox_name: "py".to_owned(),
            title: "main.py".to_owned(),
            started: start(),
        });
    }

    fn tell(&mut self, msg: Msg) {
        update(&mut self.state, msg);
    }

    fn feed(&mut self, bytes: &[u8]) {
        for chunk in chunks(bytes) {
            self.tell(output(RUN, chunk));
        }
    }

    /// Makes something different for the next frame: figures, the clock, a line of output.
    fn change(&mut self, round: u32) {
        self.sample_all(60 + i64::from(round));
        self.feed(PLAIN);
    }

    fn press(&mut self, code: KeyCode) {
        self.tell(Msg::Key(Key::plain(code)));
    }

    /// Draws as the loop does; tells whether there is more to colour.
    fn draw(&mut self) -> bool {
        let more = self.state.editor.advance_highlighting();
        let (state, theme) = (&self.state, &self.theme);
        let drawn = self
            .screen
            .draw(|frame| sandtop::ui::draw(frame, state, theme));
        drawn.expect("a drawing");
        more
    }
}

fn frames(report: &mut Report) {
    let mut lab = Lab::furnished();
    lab.draw();
    let times = (0..200).map(|round| {
        lab.change(round);
        timed_once(|| {
            lab.draw();
        })
    });
    let times = times.collect();
    report.times("frame 200x60, 500 sandboxes, full output", times, &under(3));
    let counted = instructions();
    report.row(
        "  its instructions",
        counted,
        String::new(),
        String::new(),
        String::new(),
    );
}

fn ingest(report: &mut Report) {
    for (name, pattern) in [("plain", PLAIN), ("coloured", COLOURED)] {
        let mut lab = Lab::furnished();
        let bytes = pattern.repeat(200 * 1_048_576 / pattern.len());
        let messages: Vec<Msg> = chunks(&bytes).map(|chunk| output(RUN, chunk)).collect();
        let begin = Instant::now();
        for message in messages {
            lab.tell(message);
        }
        let what = format!("ingest through update, {name}");
        report.rate(&what, bytes.len(), begin.elapsed(), &Target::AtLeast(100.0));
    }
}

/// A key comes just when the loop has begun a turn of output, and its frame follows.
fn key_to_frame(report: &mut Report) {
    for (name, pattern) in [("plain", PLAIN), ("coloured", COLOURED)] {
        let mut lab = Lab::furnished();
        lab.state.view.focus = Pane::Editor;
        lab.state.view.mode = Mode::Edit;
        let bytes = pattern.repeat(16 * 1_048_576 / pattern.len());
        let mut endless = chunks(&bytes).collect::<Vec<_>>().into_iter().cycle();
        while lab.draw() {}
        let mut times = Vec::new();
        for _ in 0..100 {
            let begin = Instant::now();
            while begin.elapsed() < TURN
                && let Some(chunk) = endless.next()
            {
                lab.tell(output(RUN, chunk));
            }
            lab.press(KeyCode::Char('x'));
            lab.draw();
            times.push(begin.elapsed());
        }
        report.times(
            &format!("key to frame while {name} output pours in"),
            times,
            &under(16),
        );
    }
}

fn editor(report: &mut Report) {
    let mut lab = Lab::furnished();
    lab.state.view.focus = Pane::Editor;
    lab.state.view.mode = Mode::Edit;
    lab.tell(Msg::Key(Key {
        ctrl: true,
        ..Key::plain(KeyCode::Char('n'))
    }));
    let text = CODE.repeat(1_000_000 / CODE.len());
    let begin = Instant::now();
    lab.tell(Msg::Paste(text));
    lab.draw();
    report.times(
        "paste of 1 MB, with its frame",
        vec![begin.elapsed()],
        &under(50),
    );
    lab.tell(Msg::Key(Key {
        ctrl: true,
        ..Key::plain(KeyCode::Char('z'))
    }));
    lab.tell(Msg::Paste(CODE.repeat(10_000)));
    lab.tell(Msg::Key(Key {
        ctrl: true,
        ..Key::plain(KeyCode::Home)
    }));
    let begin = Instant::now();
    lab.draw();
    report.times(
        "first frame of 10 000 lines",
        vec![begin.elapsed()],
        &under(16),
    );
    while lab.draw() {}
    for (what, round) in [
        ("typed", KeyCode::Char('x')),
        ("broken by Enter", KeyCode::Enter),
    ] {
        let times = (0..200).map(|_| {
            timed_once(|| {
                lab.press(round);
                lab.draw();
            })
        });
        let times = times.collect();
        report.times(
            &format!("a key {what} in 10 000 lines, with its frame"),
            times,
            &under(3),
        );
    }
    lab.tell(Msg::Key(Key {
        ctrl: true,
        ..Key::plain(KeyCode::End)
    }));
    let mut calls = Vec::new();
    let begin = Instant::now();
    loop {
        let one = Instant::now();
        let more = lab.draw();
        calls.push(one.elapsed());
        if !more {
            break;
        }
    }
    report.times("each frame while colours go to the end", calls, &under(16));
    report.times("  all of them", vec![begin.elapsed()], &Target::Nothing);
}

fn long_line(report: &mut Report) {
    let mut lab = Lab::furnished();
    let bytes = vec![b'x'; 100_000_000];
    let begin = Instant::now();
    let mut frames = Vec::new();
    for (number, chunk) in chunks(&bytes).enumerate() {
        lab.tell(output(RUN, chunk));
        if number % 16 == 0 {
            frames.push(timed_once(|| {
                lab.draw();
            }));
        }
    }
    report.rate(
        "one line of 100 MB, with its frames",
        bytes.len(),
        begin.elapsed(),
        &Target::AtLeast(100.0),
    );
    report.times("  a frame meanwhile", frames, &under(3));
}

fn shells(report: &mut Report) {
    let floods: [(&str, &[u8]); 7] = [
        ("text", PLAIN),
        ("CSI 2J", b"\x1b[2J"),
        ("text and CSI 2J", b"x\x1b[2J"),
        ("CSI L", b"\x1b[H\x1b[60L"),
        ("resets", b"\x1bc"),
        ("newlines", b"y\r\n"),
        ("repeats", b"x\x1b[65535b"),
    ];
    for (name, pattern) in floods {
        let mut lab = Lab::furnished();
        let size = TtySize {
            columns: 200,
            rows: 60,
        };
        lab.state
            .shells
            .add(ShellState::new(SHELL, reference(0), "sh", size));
        let bytes = pattern.repeat(CHUNK / pattern.len());
        let chunk = Bytes::from(bytes);
        let times = (0..50).map(|_| {
            timed_once(|| {
                lab.tell(output(SHELL, chunk.clone()));
                lab.draw();
            })
        });
        let times = times.collect();
        report.times(
            &format!("64 KiB of {name} in a shell, with a frame"),
            times,
            &under(16),
        );
    }
}

/// Draws frames and nothing else, for valgrind to count.
fn only_frames(count: u32) {
    let mut lab = Lab::furnished();
    for round in 0..count {
        lab.change(round);
        lab.draw();
    }
}

/// Counts the instructions of a frame and of the update before it: what more frames cost in a second run.
fn instructions() -> String {
    let few = counted(1);
    let many = few.and_then(|few| Some((few, counted(1 + COUNTED)?)));
    let Some((few, many)) = many else {
        return "not available (valgrind)".to_owned();
    };
    let each = many.saturating_sub(few) / COUNTED;
    format!(
        "{:.1} M",
        f64::from(u32::try_from(each).unwrap_or(u32::MAX)) / 1e6
    )
}

fn counted(frames: u64) -> Option<u64> {
    let output = Process::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--frames", &frames.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn timed_once(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn under(millis: u64) -> Target {
    Target::Under(Duration::from_millis(millis))
}

fn chunks(bytes: &[u8]) -> impl Iterator<Item = Bytes> {
    let whole = Bytes::copy_from_slice(bytes);
    (0..bytes.len())
        .step_by(CHUNK)
        .map(move |at| whole.slice(at..whole.len().min(at + CHUNK)))
}

fn output(stream: StreamId, bytes: Bytes) -> Msg {
    let chunk = OutputChunk {
        stream: StreamKind::Stdout,
        bytes,
    };
    Msg::Engine(Event::Output { stream, chunk })
}

fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default()
}

fn host() -> HostName {
    HostName::new("local")
}

fn reference(number: usize) -> SandboxRef {
    SandboxRef::new(host(), SandboxId::new(format!("{number:012x}")))
}

fn owner() -> Owner {
    Owner {
        host: "desk".into(),
        pid: 7,
        started: 1,
        user: Some("ada".into()),
        kind: OwnerKind::Tui,
    }
}

fn sandbox(number: usize) -> Sandbox {
    Sandbox {
        reference: reference(number),
        name: format!("agent-{number}"),
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
        work_dir: SandboxPath::root(),
        labels: BTreeMap::new(),
    }
}

fn sample(number: usize, second: i64) -> Sample {
    let turn = u32::try_from(number).unwrap_or(0) * 7 + u32::try_from(second).unwrap_or(0) * 13;
    Sample {
        at: start() + TimeDelta::seconds(second),
        cpu_percent: f64::from(turn % 100),
        cpus_limit: Some(1.0),
        memory_bytes: u64::from(turn % 500) << 20,
        memory_limit_bytes: Some(512 << 20),
        pids: 3,
        net_rx_bytes: 0,
        net_tx_bytes: 0,
        pids_refused: None,
        disk_bytes: None,
    }
}

fn settings() -> Settings {
    let options = LoadOptions {
        config: None,
        engine: None,
        environment: Environment::new([("HOME", "/no/such/home")], 7),
    };
    Settings {
        keymap: Keymap::built_in().expect("a keymap"),
        config: Config::load(&options).expect("settings"),
        owner: owner(),
        host: host(),
        read_only: false,
        demo: false,
    }
}
