//! From a key to the frame that shows it, through the whole program: `cargo bench --bench keys`.
//!
//! The real program runs in a terminal of its own, at rest and while a sandbox prints as fast as it can. Help is opened and
//! closed; the time ends when the bytes that show it have been read and understood, as a terminal would. The simulated engine
//! is always measured, Docker where one answers (`SANDTOP_BENCH_IMAGE` names an image with bash).

#![allow(clippy::print_stdout)] // A bench is there to print.

use std::error::Error;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use sandtop::text::Table;
use tempfile::TempDir;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sandtop");
/// Keys of a case.
const KEYS: u64 = 120;
/// What the time from a key to its frame must be below.
const TARGET: Duration = Duration::from_millis(16);
/// Longest wait for anything; only a hanging program comes near it.
const PATIENCE: Duration = Duration::from_secs(20);
const ROWS: u16 = 60;
const COLUMNS: u16 = 200;
/// What the key brings to the screen.
const SIGN: &str = "Keys: arrows scroll";
/// Printed without an end.
const FLOOD: &str = "yes 2026-03-01T12:00:00Z INFO request served path=/api/v1/items status=200";

fn main() {
    if !std::env::args().any(|word| word == "--bench") {
        println!("keys: not measured; run `cargo bench --bench keys`");
        return;
    }
    let mut table = Table::new(&["CASE", "MEDIAN", "P95", "WORST", "FRAMES/S", "VERDICT"]);
    for column in 1..=4 {
        table = table.align_right(column);
    }
    let measured = measure(&mut table);
    println!("{table}");
    if let Err(error) = measured {
        println!("keys: the measurement failed: {error}");
        std::process::exit(1);
    }
}

fn measure(table: &mut Table) -> Outcome {
    let demo = Place::demo()?;
    demo.case("demo, at rest", false, table)?;
    demo.case("demo, output at full speed", true, table)?;
    match Place::docker() {
        Ok(docker) => docker.case("docker, output at full speed", true, table),
        Err(error) => {
            println!("keys: Docker is not measured; {error}");
            Ok(())
        }
    }
}

/// Where the program runs: its own home, and with Docker a sandbox of its own.
struct Place {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
    sandbox: Option<String>,
}

impl Place {
    fn demo() -> Outcome<Self> {
        Ok(Self {
            home: TempDir::new()?,
            variables: vec![("SANDTOP_ENGINE", "demo".to_owned())],
            sandbox: None,
        })
    }

    fn docker() -> Outcome<Self> {
        let name = format!("keys-{:x}", std::process::id());
        let image = std::env::var("SANDTOP_BENCH_IMAGE");
        let mut place = Self {
            home: TempDir::new()?,
            variables: vec![
                ("SANDTOP_ENGINE", "docker".to_owned()),
                ("DOCKER_HOST", std::env::var("DOCKER_HOST")?),
                ("SANDTOP_SCOPE", name.clone()),
            ],
            sandbox: None,
        };
        let image = image.unwrap_or_else(|_| "sandtop-test/python".to_owned());
        place.run(&["create", &name, "--image", &image])?;
        place.sandbox = Some(name);
        Ok(place)
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let home = self.home.path().display().to_string();
        let mut all = vec![
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", home.clone()),
            ("XDG_STATE_HOME", format!("{home}/state")),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm".to_owned()),
        ];
        all.extend(self.variables.iter().cloned());
        all
    }

    fn run(&self, words: &[&str]) -> Outcome {
        let mut command = Command::new(PROGRAM);
        command.args(words).env_clear().envs(self.variables());
        let ran = command.output()?;
        if ran.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&ran.stderr).trim().into())
        }
    }

    fn case(&self, name: &str, floods: bool, table: &mut Table) -> Outcome {
        let mut dashboard = Dashboard::start(self)?;
        dashboard.until("running", |screen| screen.contains("running"))?;
        if floods {
            dashboard.flood()?;
        }
        let (times, frames) = dashboard.keys()?;
        table.row(row(name, times, frames));
        dashboard.quit()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(name) = &self.sandbox
            && let Err(error) = self.run(&["rm", "-f", name])
        {
            println!("keys: {name} was not removed: {error}");
        }
    }
}

fn row(name: &str, mut times: Vec<Duration>, frames: f64) -> Vec<String> {
    times.sort();
    let at = |part: usize| times.get((times.len() - 1) * part / 100);
    let at = |part: usize| at(part).copied().unwrap_or_default();
    let verdict = if at(95) < TARGET { "ok" } else { "MISSED" };
    let mut cells = vec![name.to_owned()];
    cells.extend([50, 95, 100].map(|part| format!("{:.1?}", at(part))));
    cells.extend([format!("{frames:.0}"), verdict.to_owned()]);
    cells
}

/// The dashboard in a terminal.
struct Dashboard {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    bytes: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// Frames so far.
    frames: u32,
    _master: Box<dyn MasterPty + Send>,
}

impl Dashboard {
    fn start(place: &Place) -> Outcome<Self> {
        let pair = native_pty_system().openpty(PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        })?;
        let mut command = CommandBuilder::new(PROGRAM);
        command.env_clear();
        for (key, value) in place.variables() {
            command.env(key, value);
        }
        command.cwd(place.home.path());
        let child = pair.slave.spawn_command(command)?;
        let (sender, bytes) = channel();
        let mut source = pair.master.try_clone_reader()?;
        std::thread::spawn(move || {
            let mut buffer = [0; 16384];
            while let Ok(got) = source.read(&mut buffer)
                && got > 0
                && sender
                    .send(buffer.iter().take(got).copied().collect())
                    .is_ok()
            {}
        });
        let size = |number| NonZero::new(number).ok_or("a size");
        Ok(Self {
            child,
            keys: pair.master.take_writer()?,
            bytes,
            parser: vt100::Parser::new(size(ROWS)?, size(COLUMNS)?, 0),
            frames: 0,
            _master: pair.master,
        })
    }

    fn press(&mut self, keys: &str) -> Outcome {
        self.keys.write_all(keys.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Takes what comes next, at most until some time.
    fn take(&mut self, until: Instant) -> Outcome<bool> {
        let left = until.saturating_duration_since(Instant::now());
        match self.bytes.recv_timeout(left) {
            Ok(bytes) => {
                let begun = memchr::memmem::find_iter(&bytes, b"\x1b[?2026h").count();
                self.frames += u32::try_from(begun)?;
                self.parser.process(&bytes);
                Ok(true)
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => {
                let screen = self.parser.screen().contents();
                Err(format!("the program has ended\n{screen}").into())
            }
        }
    }

    /// Lets time pass as somebody who looks.
    fn rest(&mut self, time: Duration) -> Outcome {
        let until = Instant::now() + time;
        while self.take(until)? {}
        Ok(())
    }

    /// Waits until the screen is as wanted.
    fn until(&mut self, what: &str, met: impl Fn(&str) -> bool) -> Outcome<Duration> {
        let begin = Instant::now();
        while !met(&self.parser.screen().contents()) {
            if !self.take(begin + PATIENCE)? {
                let screen = self.parser.screen().contents();
                return Err(format!("in vain: {what}\n{screen}").into());
            }
        }
        Ok(begin.elapsed())
    }

    /// Presses keys and waits for what they bring to the screen.
    fn step(&mut self, keys: &str, sign: &str) -> Outcome {
        self.press(keys)?;
        self.until(sign, |screen| screen.contains(sign)).map(drop)
    }

    /// Runs code that prints without an end.
    fn flood(&mut self) -> Outcome {
        self.step("2", "i edit")?;
        self.step("\x0e", "untitled-2")?;
        self.step("L", "Language (")?;
        self.step("\x15bash\r", "i edit")?;
        self.step("i", " EDIT ")?;
        self.press(FLOOD)?;
        self.step("\x1b[20~", "FOLLOWING")?;
        self.step("\x1b", " NAV ")?;
        self.step("1", "c create")?;
        self.rest(Duration::from_secs(1))
    }

    /// Opens and closes help at odd moments; returns the times, and how many frames there were in a second.
    fn keys(&mut self) -> Outcome<(Vec<Duration>, f64)> {
        let (begin, before) = (Instant::now(), self.frames);
        let mut times = Vec::new();
        for key in 0..KEYS {
            self.rest(Duration::from_millis(30 + key * 7919 % 50))?;
            let opens = key % 2 == 0;
            self.press("?")?;
            times.push(self.until("help", |screen| screen.contains(SIGN) == opens)?);
        }
        let frames = f64::from(self.frames - before);
        Ok((times, frames / begin.elapsed().as_secs_f64()))
    }

    /// Hangs up, upon which the program ends by itself.
    fn quit(mut self) -> Outcome {
        self.child.kill()?;
        while self.take(Instant::now() + PATIENCE).is_ok() {}
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
