//! The canned programs: what a command prints follows from its words and the sandbox's files; nothing is run.

use std::fmt::Display;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Duration, sleep};

use super::files::{FileTree, invalid};
use super::script::{Command, unsupported};
use super::state::State;
use crate::domain::{OutputChunk, SandboxId, SandboxPath, StreamKind};
use crate::engine::Result;

/// What every refusal says.
const KNOWN: &str =
    "this is a demonstration, which knows: cat echo exit false node pwd python3 sh sleep true yes";

/// What all other programs in Python and JavaScript are told.
const ONLY_LITERALS: &str = "the demo engine only simulates printing of a number or a plain string";

/// The most bytes that are repeated or copied at once.
const PIECE: usize = 16 << 10;
/// Endless output must neither starve others nor outrun a clock that tests move.
const PAUSE: Duration = Duration::from_millis(1);

/// Where a command is: its sandbox and its directory.
#[derive(Clone)]
pub(super) struct WorkDir {
    pub(super) state: Arc<State>,
    pub(super) id: SandboxId,
    pub(super) cwd: SandboxPath,
}

/// The streams of a command.
pub(super) struct Streams {
    pub(super) input: Option<DuplexStream>,
    pub(super) output: mpsc::Sender<OutputChunk>,
    pub(super) is_tty: bool,
    pub(super) to_stderr: bool,
}

/// Runs commands one after the other and returns the status of the last.
pub(super) async fn run_all(commands: &[Command], place: &WorkDir, streams: &mut Streams) -> i32 {
    let mut status = 0;
    for command in commands {
        streams.to_stderr = command.to_stderr;
        if let [name, args @ ..] = command.words.as_slice()
            && name == "exit"
        {
            let status = args.first().and_then(|word| word.parse().ok());
            return status.unwrap_or(0) & 0xff;
        }
        status = run(&command.words, place, streams).await;
    }
    status
}

/// Runs one command.
async fn run(words: &[String], place: &WorkDir, streams: &mut Streams) -> i32 {
    let Some((path, args)) = words.split_first() else {
        return 0;
    };
    match program_name(path) {
        "true" => 0,
        "false" => 1,
        "echo" => streams.print(format!("{}\n", args.join(" "))).await,
        "pwd" => streams.print(format!("{}\n", place.cwd)).await,
        "cat" if args.is_empty() => streams.copy_input().await,
        "cat" => cat(args, place, streams).await,
        "sleep" => wait(args, streams).await,
        "yes" => streams.repeat("y\n").await,
        "python" | "python3" => print_literals("print(", args, place, streams).await,
        "node" => print_literals("console.log(", args, place, streams).await,
        _ => {
            streams
                .fail(format!("{path}: not found; {KNOWN}"), 127)
                .await
        }
    }
}

/// Takes the usual folders off a program's path.
pub(super) fn program_name(path: &str) -> &str {
    let path = path.strip_prefix("/usr").unwrap_or(path);
    path.strip_prefix("/bin/").unwrap_or(path)
}

async fn cat(args: &[String], place: &WorkDir, streams: &mut Streams) -> i32 {
    let files = args.iter().map(|name| place.read(name));
    match files.collect::<Result<Vec<_>>>() {
        Ok(files) => streams.print(files.concat()).await,
        Err(error) => streams.fail(format!("cat: {}", error.message), 1).await,
    }
}

async fn wait(args: &[String], streams: &mut Streams) -> i32 {
    let text = args.first().map_or("", String::as_str);
    let Ok(Ok(time)) = text.parse().map(Duration::try_from_secs_f64) else {
        let message = format!("sleep: {text}: not a time in seconds");
        return streams.fail(message, 1).await;
    };
    sleep(time).await;
    0
}

/// Prints what calls like `print("…")` would, and fails at everything else.
async fn print_literals(
    call: &str,
    args: &[String],
    place: &WorkDir,
    streams: &mut Streams,
) -> i32 {
    let code = match place.code(args) {
        Ok(code) => code,
        Err(error) => return streams.fail(error.message, 2).await,
    };
    let lines = code.lines().map(|line| line.trim().trim_end_matches(';'));
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '/'])) {
        match literal(call, line) {
            Some(text) => streams.print(format!("{text}\n")).await,
            None if line == "import platform" => 0,
            None => return streams.fail(ONLY_LITERALS, 1).await,
        };
    }
    0
}

/// Returns what a call with a number or a plain string prints; the editor's first program is known as well.
fn literal<'a>(call: &str, line: &'a str) -> Option<&'a str> {
    let inside = line.strip_prefix(call)?.strip_suffix(')')?.trim();
    let is_number = inside.parse::<f64>().is_ok() && !inside.contains(char::is_alphabetic);
    if inside.is_empty() || is_number {
        return Some(inside);
    }
    if inside == "\"hello from\", platform.node()" {
        return Some("hello from the demo");
    }
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = inside.strip_prefix(quote)?.strip_suffix(quote)?;
    (!text.contains([quote, '\\'])).then_some(text)
}

impl WorkDir {
    /// Looks something up in the files.
    pub(super) fn look_up<T>(
        &self,
        name: &str,
        work: impl FnOnce(&FileTree, &SandboxPath) -> Result<T>,
    ) -> Result<T> {
        let path = SandboxPath::resolve(name.as_bytes(), &self.cwd).map_err(invalid)?;
        self.state
            .with(&self.id, |sandbox, _| work(&sandbox.files, &path))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        self.look_up(name, FileTree::read).map(Vec::from)
    }

    /// Returns the code that an interpreter is given.
    pub(super) fn code(&self, args: &[String]) -> Result<String> {
        match args {
            [flag, code, ..] if flag == "-c" || flag == "-e" => Ok(code.clone()),
            [name, ..] if !name.starts_with('-') => {
                let bytes = self.read(name)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => Err(unsupported("programs without a file or -c CODE")),
        }
    }
}

impl Streams {
    /// Writes to standard output and ends well.
    pub(super) async fn print(&self, bytes: impl Into<Vec<u8>>) -> i32 {
        let stream = if self.to_stderr {
            StreamKind::Stderr
        } else {
            StreamKind::Stdout
        };
        self.write(stream, bytes.into()).await;
        0
    }

    /// Complains and fails.
    pub(super) async fn fail(&self, message: impl Display, status: i32) -> i32 {
        let line = format!("{message}\n");
        self.write(StreamKind::Stderr, line.into()).await;
        status
    }

    async fn write(&self, mut stream: StreamKind, mut bytes: Vec<u8>) {
        if self.is_tty {
            // A terminal has one stream and ends lines in its own way.
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            bytes = lines.join(&b"\r\n"[..]);
            stream = StreamKind::Stdout;
        }
        let bytes = bytes.into();
        // Whoever drops the receiver drops this, too.
        let _ = self.output.send(OutputChunk { stream, bytes }).await;
    }

    /// Writes what it reads until the end of its input.
    async fn copy_input(&mut self) -> i32 {
        let mut buffer = vec![0; PIECE];
        while let Some(input) = &mut self.input
            && let Ok(count @ 1..) = input.read(&mut buffer).await
        {
            self.print(buffer.get(..count).unwrap_or_default()).await;
        }
        0
    }

    /// Writes a line again and again.
    async fn repeat(&self, line: &str) -> i32 {
        loop {
            sleep(PAUSE).await;
            self.print(line.repeat((PIECE / line.len()).max(1))).await;
        }
    }
}
