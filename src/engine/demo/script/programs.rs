//! The programs that the simulation knows, and what it says to all others.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use tokio::time::sleep;

use super::io::{Io, PIECE, Refusal, breathe};
use super::shell::Shell;
use super::words::is_name;
use super::{Flow, disk, open, printing, processes, python, status_of};
use crate::domain::{Ended, EngineEventKind};

/// Signal of a process that writes where nobody reads.
const PIPE_SIGNAL: i32 = 13;

/// Runs one program.
pub(super) async fn run(shell: &mut Shell, words: &[String], io: &Io) -> Flow {
    let Some((path, args)) = words.split_first() else {
        return Continue(0);
    };
    let bare = path.strip_prefix("/usr").unwrap_or(path);
    let name = bare.strip_prefix("/bin/").unwrap_or(path);
    match name {
        "true" | ":" => Continue(0),
        "false" => Continue(1),
        "echo" => put(io, &printing::echo(args)).await,
        "printf" => put(io, &printing::printf(args)).await,
        "cat" => disk::cat(shell, args, io).await,
        "head" => disk::head(shell, args, io).await,
        "ls" => disk::ls(shell, args, io).await,
        "mkdir" | "rm" | "touch" => disk::change(shell, name, args, io).await,
        "sleep" => pause(args, io).await,
        "env" => env(shell, io).await,
        "pwd" => put(io, format!("{}\n", shell.cwd).as_bytes()).await,
        "cd" => disk::cd(shell, args, io).await,
        "export" => export(shell, args, io).await,
        "unset" => unset(shell, args),
        "exit" => exit(shell, args),
        "id" => id(shell, io).await,
        "yes" => yes(args, io).await,
        "seq" => seq(args, io).await,
        "hog" => hog(shell, args).await,
        "die" => die(args, io).await,
        "kill" => processes::kill(shell, args, io).await,
        "ps" => processes::ps(shell, io).await,
        "wait" => processes::wait(shell).await,
        "sh" | "bash" => sh(shell, args, io).await,
        "python" | "python3" => python::run(shell, args, io).await,
        _ => unknown(shell, path, io).await,
    }
}

/// Writes to standard output.
pub(super) async fn put(io: &Io, bytes: &[u8]) -> Flow {
    match io.out.write(bytes).await {
        Ok(()) => Continue(0),
        Err(Refusal::Closed) => Break(Ended::Signal(PIPE_SIGNAL)),
        Err(Refusal::Full) => fail(io, "write error", "No space left on device", 1).await,
    }
}

/// Complains on standard error.
pub(super) async fn fail(io: &Io, name: &str, message: &str, status: i32) -> Flow {
    // A program that cannot even complain still fails.
    let _ = io
        .err
        .write(format!("{name}: {message}\n").as_bytes())
        .await;
    Continue(status)
}

async fn pause(args: &[String], io: &Io) -> Flow {
    let text = args.first().map_or("", String::as_str);
    if text == "infinity" {
        return std::future::pending().await;
    }
    let seconds = text.trim_end_matches('s').parse().ok();
    match seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()) {
        Some(time) => sleep(time).await,
        None => return fail(io, "sleep", &format!("invalid time interval '{text}'"), 1).await,
    }
    Continue(0)
}

async fn env(shell: &Shell, io: &Io) -> Flow {
    let lines = shell
        .exported()
        .map(|(name, value)| format!("{name}={value}\n"));
    put(io, lines.collect::<String>().as_bytes()).await
}

async fn export(shell: &mut Shell, args: &[String], io: &Io) -> Flow {
    for arg in args {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        if !is_name(name) {
            return fail(io, "export", &format!("{name}: bad variable name"), 2).await;
        }
        shell.export(name, value);
    }
    Continue(0)
}

fn unset(shell: &mut Shell, args: &[String]) -> Flow {
    for name in args {
        shell.unset(name);
    }
    Continue(0)
}

fn exit(shell: &Shell, args: &[String]) -> Flow {
    let code = args.first().and_then(|code| code.parse::<i32>().ok());
    Break(Ended::Code(code.map_or(shell.status, |code| code & 0xff)))
}

async fn id(shell: &Shell, io: &Io) -> Flow {
    let (uid, gid) = super::super::world::owner(&shell.site.user);
    put(io, format!("uid={uid} gid={gid} groups={gid}\n").as_bytes()).await
}

async fn yes(args: &[String], io: &Io) -> Flow {
    let line = match args {
        [] => "y\n".to_owned(),
        words => format!("{}\n", words.join(" ")),
    };
    let block = line.repeat((PIECE / line.len()).max(1));
    loop {
        let status = put(io, block.as_bytes()).await?;
        if status != 0 {
            return Continue(status);
        }
        breathe().await;
    }
}

async fn seq(args: &[String], io: &Io) -> Flow {
    let numbers: Vec<i64> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] if *step != 0 => (*first, *step, *last),
        _ => return fail(io, "seq", "give one to three numbers", 1).await,
    };
    let mut block = String::new();
    let mut number = first;
    while (step > 0 && number <= last) || (step < 0 && number >= last) {
        block.push_str(&number.to_string());
        block.push('\n');
        if block.len() >= PIECE {
            put(io, block.as_bytes()).await?;
            block.clear();
            breathe().await;
        }
        match number.checked_add(step) {
            Some(next) => number = next,
            None => break,
        }
    }
    put(io, block.as_bytes()).await
}

/// Takes memory: so many bytes, or more than there is.
async fn hog(shell: &Shell, args: &[String]) -> Flow {
    let wanted = args.first().and_then(|bytes| bytes.parse::<u64>().ok());
    sleep(Duration::from_millis(20)).await;
    let fits = shell.site.world.with(&shell.site.id, |sandbox, journal| {
        let limit = sandbox.spec.limits.memory_bytes.unwrap_or(u64::MAX);
        let fits = wanted.is_some_and(|wanted| wanted <= limit);
        if !fits {
            journal.record(&sandbox.sandbox, EngineEventKind::Oom);
        }
        Ok(fits)
    });
    if fits.unwrap_or(false) {
        return Continue(0);
    }
    Break(Ended::OutOfMemory)
}

async fn die(args: &[String], io: &Io) -> Flow {
    let signal = args.first().and_then(|signal| signal.parse().ok());
    match signal.filter(|signal| (1..=64).contains(signal)) {
        Some(signal) => Break(Ended::Signal(signal)),
        None => fail(io, "die", "give a signal from 1 to 64", 2).await,
    }
}

/// Runs a script from `-c`, a file or the standard input, in a shell of its own.
async fn sh(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let mut child = shell.fork(shell.pid);
    let flow = match args {
        [flag, script, ..] if flag == "-c" || flag == "-lc" || flag == "-ec" => {
            child.run_text(script, io).await
        }
        [file, ..] if !file.starts_with('-') => return script(&mut child, file, io).await,
        _ => typed(&mut child, io).await,
    };
    settle(flow)
}

/// Runs what comes on standard input, line by line.
async fn typed(shell: &mut Shell, io: &Io) -> Flow {
    while let Some(line) = io.input.line().await {
        shell.run_text(&line, io).await?;
    }
    Continue(shell.status)
}

/// Ends a child shell: its code is a status, but what kills it kills the exec.
fn settle(flow: Flow) -> Flow {
    match flow {
        Break(Ended::Code(_)) => Continue(status_of(flow)),
        flow => flow,
    }
}

async fn script(shell: &mut Shell, file: &str, io: &Io) -> Flow {
    match open::text(shell, file) {
        Ok(text) => settle(shell.run_text(&text, io).await),
        Err(message) => fail(io, "sh", &format!("{file}: {message}"), 127).await,
    }
}

async fn unknown(shell: &Shell, path: &str, io: &Io) -> Flow {
    if !path.contains('/') {
        return fail(io, path, "not found", 127).await;
    }
    match open::is_executable(shell, path) {
        Some(true) => script(&mut shell.fork(shell.pid), path, io).await,
        Some(false) => fail(io, path, "Permission denied", 126).await,
        None => fail(io, path, "not found", 127).await,
    }
}
