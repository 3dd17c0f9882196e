//! Runs one command, adopts all of its processes, and ends them all at a timeout or on request.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::abi::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use crate::counters::Counters;
use crate::ends;
use crate::finish::Finish;
use crate::processes;
use crate::session::Session;
use crate::sys::{self, Reaped, Signals, Wait};
use crate::wire::{self, Cause, ExecCall, Trailer};

/// Time between the polite and the final signal.
const GRACE: Duration = Duration::from_millis(400);

/// What the command used.
#[derive(Default)]
struct ResourceUsage {
    peak_bytes: u64,
    cpu_micros: u64,
}

impl ResourceUsage {
    fn add(&mut self, child: &Reaped) {
        self.peak_bytes = self.peak_bytes.max(child.peak_bytes);
        self.cpu_micros += child.cpu_micros;
    }
}

/// Runs the command line given by the engine and never returns.
pub(crate) fn run(options: &ExecCall) -> ! {
    let finish = Finish::from_environment().of_exec(&options.id);
    sys::become_subreaper();
    // The last three are keys of a terminal: they are for the command, and must not end its watcher.
    let signals = Signals::take_over(&[SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP]);
    if ends::take_cancel(&options.id) {
        report(
            &finish,
            Cause::Cancelled,
            0,
            &ResourceUsage::default(),
            None,
        );
    }
    let deadline = options.timeout.map(|limit| Instant::now() + limit);
    let before = Counters::read();
    let main = match start(options) {
        Ok(pid) => pid,
        Err((code, message)) => refuse(&finish, code, &message),
    };
    let mut usage = ResourceUsage::default();
    let (cause, status) = watch(main, deadline, &signals, &mut usage);
    if !matches!(cause, Cause::Exit) {
        end_all(&signals, &mut usage);
    }
    report(&finish, cause, status, &usage, Some(before))
}

/// Starts the command; an error is an exit code by shell convention and a sentence.
fn start(options: &ExecCall) -> Result<u32, (i32, String)> {
    let (program, arguments) = options
        .argv
        .split_first()
        .ok_or((126, "no command was given".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(name) = &options.session {
        command = Session::load(name, &options.given).command(&options.argv);
    }
    if let Some(dir) = &options.work_dir {
        let dir = crate::files::path(dir);
        std::env::set_current_dir(dir)
            .map_err(|error| (126, format!("cannot start in {}: {error}", dir.display())))?;
        command.current_dir(dir);
    }
    sys::start_with_all_signals(&mut command);
    command.env(wire::EXEC_VARIABLE, &options.id);
    let spawned = sys::once_there_is_room(|| command.spawn());
    let pid = spawned
        .map(|child| child.id())
        .map_err(|error| explain(program, &error))?;
    // When memory runs out, commands go before the sandbox's own processes. Where it may not be said, the kernel's choice stays.
    let _ = std::fs::write(format!("/proc/{pid}/oom_score_adj"), "500");
    Ok(pid)
}

fn explain(program: &str, error: &io::Error) -> (i32, String) {
    match error.kind() {
        io::ErrorKind::NotFound => (127, format!("{program}: command not found")),
        io::ErrorKind::PermissionDenied => (126, format!("{program}: permission denied")),
        io::ErrorKind::WouldBlock => (126, wire::no_room_text(program)),
        _ => (126, format!("{program}: cannot be executed: {error}")),
    }
}

fn refuse(finish: &Finish, code: i32, message: &str) -> ! {
    eprintln!("{}{message}", wire::COMPLAINT);
    finish.end(&Trailer::exit(code))
}

/// Waits for the command, its deadline or a request to end it; adopts and reaps orphans meanwhile.
fn watch(
    main: u32,
    deadline: Option<Instant>,
    signals: &Signals,
    usage: &mut ResourceUsage,
) -> (Cause, i32) {
    loop {
        while let Wait::Ended(child) = sys::reap() {
            usage.add(&child);
            if child.pid == main {
                return (Cause::Exit, child.status);
            }
        }
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        match signals.wait(left) {
            Some(SIGTERM | SIGHUP) => return (Cause::Cancelled, 0),
            None if deadline.is_some_and(|end| end <= Instant::now()) => {
                return (Cause::Timeout, 0);
            }
            _ => {}
        }
    }
}

/// Ends every process below: asks, waits a moment, then freezes and kills until there is none.
fn end_all(signals: &Signals, usage: &mut ResourceUsage) {
    for pid in processes::descendants() {
        sys::kill(pid, SIGTERM);
    }
    if reap_until(Instant::now() + GRACE, signals, usage) {
        return;
    }
    let give_up = Instant::now() + Duration::from_secs(5);
    while Instant::now() < give_up {
        processes::freeze_and_kill(processes::descendants);
        if reap_until(Instant::now() + Duration::from_millis(20), signals, usage) {
            return;
        }
    }
}

/// Reaps until no child is left (true) or the time has passed (false).
fn reap_until(end: Instant, signals: &Signals, usage: &mut ResourceUsage) -> bool {
    loop {
        match sys::reap() {
            Wait::Ended(child) => usage.add(&child),
            Wait::None => return true,
            Wait::Running => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return false;
                }
                signals.wait(Some(left));
            }
        }
    }
}

/// Tells the end, and which limits were enforced since the counters were read `before` the command began.
fn report(
    finish: &Finish,
    cause: Cause,
    status: i32,
    usage: &ResourceUsage,
    before: Option<Counters>,
) -> ! {
    let now = Counters::read();
    let trailer = Trailer {
        saw_oom: before.and_then(|before| now.saw_oom_since(before)),
        refused_processes: before.and_then(|before| now.refused_since(before)),
        peak_bytes: Some(usage.peak_bytes),
        cpu_micros: Some(usage.cpu_micros),
        ..ending(cause, ExitStatus::from_raw(status))
    };
    finish.end(&trailer)
}

/// Says how a command ended; the code is a shell's.
fn ending(cause: Cause, status: ExitStatus) -> Trailer {
    let by_signal = || 128 + status.signal().unwrap_or(0);
    Trailer {
        cause: Some(cause),
        code: Some(match cause {
            Cause::Timeout => wire::EXIT_TIMEOUT,
            Cause::Cancelled => wire::EXIT_CANCELLED,
            Cause::Exit => status.code().unwrap_or_else(by_signal),
        }),
        signal: status.signal().filter(|_| cause == Cause::Exit),
        ..Trailer::default()
    }
}
