//! The canned programs: what a command prints follows from its words and the sandbox's files; nothing is run.

use tokio::time::{Duration, Instant};

use super::files::FileTree;
use super::script::{self, Step};
use crate::domain::{SandboxPath, StreamKind};
use crate::engine::Result;

/// What the demonstration knows, as `help` and every refusal say.
const KNOWN: &str = "cat echo exit false help ls node pwd python3 sh sleep true yes";

/// What all other programs in Python and JavaScript are told.
const ONLY_LITERALS: &str = "the demo engine only simulates printing of a number or a plain string";

/// One thing that a command does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Writes these bytes.
    Print(StreamKind, Vec<u8>),
    /// Waits until then.
    Sleep(Instant),
    /// Writes what it reads until the end of its input.
    CopyInput,
    /// Writes a line again and again.
    Repeat(String),
    /// Reads commands from a terminal.
    ReadLine,
    /// Ends with this status; the script goes on.
    Status(i32),
    /// Ends with this status, and the script with it.
    End(i32),
}

/// What was found, or the words of a complaint.
type Outcome<T> = std::result::Result<T, String>;

/// Where a command is: the files it sees and its directory.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) files: &'a FileTree,
    pub(super) cwd: &'a SandboxPath,
}

/// Returns the commands that words stand for: themselves, or those of a script.
pub(super) fn steps(words: &[String], place: Place<'_>) -> Result<Vec<Step>> {
    match words {
        [shell, args @ ..] if matches!(program_name(shell), "sh" | "bash") => {
            match code(args, place) {
                Ok(text) => script::parse(&text),
                // It fails as a command does.
                Err(_) => Ok(vec![Step::default()]),
            }
        }
        words => Ok(vec![Step {
            words: words.to_vec(),
            to_stderr: false,
        }]),
    }
}

/// Finds out what a command does.
pub(super) fn plan(step: &Step, place: Place<'_>) -> Vec<Act> {
    let mut acts = command(&step.words, place);
    for act in &mut acts {
        if let (Act::Print(stream, _), true) = (act, step.to_stderr) {
            *stream = StreamKind::Stderr;
        }
    }
    acts
}

fn command(words: &[String], place: Place<'_>) -> Vec<Act> {
    let Some((path, args)) = words.split_first() else {
        return fail("sh: there is no such script", 127);
    };
    match program_name(path) {
        "true" => vec![Act::Status(0)],
        "false" => vec![Act::Status(1)],
        "exit" => {
            let status = args.first().and_then(|word| word.parse().ok());
            vec![Act::End(status.unwrap_or(0) & 0xff)]
        }
        "echo" => print(format!("{}\n", args.join(" "))),
        "help" => print(format!("This is a demonstration. It knows: {KNOWN}\n")),
        "pwd" => print(format!("{}\n", place.cwd)),
        "ls" => ls(args, place),
        "cat" if args.is_empty() => vec![Act::CopyInput, Act::Status(0)],
        "cat" => match args
            .iter()
            .map(|name| read(name, place))
            .collect::<Outcome<Vec<_>>>()
        {
            Ok(files) => print(files.concat()),
            Err(message) => fail(&format!("cat: {message}"), 1),
        },
        "sleep" => sleep(args),
        "yes" if args.is_empty() => vec![Act::Repeat("y\n".into())],
        "yes" => vec![Act::Repeat(format!("{}\n", args.join(" ")))],
        "python" | "python3" => literals("print(", &code(args, place)),
        "node" => literals("console.log(", &code(args, place)),
        _ if path.contains('/') && read(path, place).is_ok() => {
            fail(&format!("{path}: a demonstration runs no files"), 126)
        }
        _ => {
            let known = format!("this is a demonstration, which knows: {KNOWN}");
            fail(&format!("{path}: not found; {known}"), 127)
        }
    }
}

fn program_name(path: &str) -> &str {
    let path = path.strip_prefix("/usr").unwrap_or(path);
    path.strip_prefix("/bin/").unwrap_or(path)
}

/// Writes to standard output and ends well.
pub(super) fn print(bytes: impl Into<Vec<u8>>) -> Vec<Act> {
    vec![Act::Print(StreamKind::Stdout, bytes.into()), Act::Status(0)]
}

/// Complains and fails.
pub(super) fn fail(message: &str, status: i32) -> Vec<Act> {
    let line = format!("{message}\n").into_bytes();
    vec![Act::Print(StreamKind::Stderr, line), Act::Status(status)]
}

fn ls(args: &[String], place: Place<'_>) -> Vec<Act> {
    let name = args.first().map_or(".", String::as_str);
    let listed = resolve(name, place).map(|path| place.files.list(&path));
    let Ok(Ok(entries)) = listed else {
        return fail(&format!("ls: {name}: No such directory"), 2);
    };
    let lines = entries.into_iter().map(|entry| [entry.name, vec![b'\n']]);
    print(lines.flatten().flatten().collect::<Vec<u8>>())
}

fn sleep(args: &[String]) -> Vec<Act> {
    let text = args.first().map_or("", String::as_str);
    let time = text.parse().map(Duration::try_from_secs_f64);
    match time.map(|time| time.map(|time| Instant::now().checked_add(time))) {
        Ok(Ok(Some(end))) => vec![Act::Sleep(end), Act::Status(0)],
        _ => fail(&format!("sleep: {text}: not a time in seconds"), 1),
    }
}

/// Prints what calls like `print("…")` would, and fails at everything else.
fn literals(call: &str, code: &Outcome<String>) -> Vec<Act> {
    let code = match code {
        Ok(code) => code,
        Err(message) => return fail(message, 2),
    };
    let mut acts = Vec::new();
    let lines = code.lines().map(|line| line.trim().trim_end_matches(';'));
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(text) = literal(call, line) else {
            acts.extend(fail(ONLY_LITERALS, 1));
            break;
        };
        acts.extend(print(format!("{text}\n")));
    }
    acts
}

/// Returns what a call with a number or a plain string prints.
fn literal<'a>(call: &str, line: &'a str) -> Option<&'a str> {
    let inside = line.strip_prefix(call)?.strip_suffix(')')?.trim();
    let is_number = inside.parse::<f64>().is_ok() && !inside.contains(char::is_alphabetic);
    if inside.is_empty() || is_number {
        return Some(inside);
    }
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = inside.strip_prefix(quote)?.strip_suffix(quote)?;
    (!text.contains([quote, '\\'])).then_some(text)
}

/// Returns the code that an interpreter is given.
fn code(args: &[String], place: Place<'_>) -> Outcome<String> {
    match args {
        [flag, code, ..] if flag == "-c" || flag == "-e" => Ok(code.clone()),
        [name, ..] if !name.starts_with('-') => {
            let bytes = read(name, place)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => Err("the demo engine only simulates -c CODE or a file".into()),
    }
}

fn read(name: &str, place: Place<'_>) -> Outcome<Vec<u8>> {
    let read = place.files.read(&resolve(name, place)?);
    read.map(Vec::from).map_err(|error| error.message)
}

fn resolve(name: &str, place: Place<'_>) -> Outcome<SandboxPath> {
    SandboxPath::resolve(name.as_bytes(), place.cwd).map_err(|error| error.to_string())
}
