//! Programs about processes: `kill`, `ps` and `wait`, and the list they work on.

use std::ops::ControlFlow::{Break, Continue};

use chrono::Utc;
use tokio::sync::watch;

use super::super::world::Process;
use super::Flow;
use super::io::Io;
use super::programs::{fail, put};
use super::shell::{Shell, Site};
use crate::domain::Ended;

/// A process that is listed for as long as this lives.
pub(in crate::engine::demo) struct Listed {
    site: Site,
    pub(in crate::engine::demo) pid: u32,
}

impl Drop for Listed {
    fn drop(&mut self) {
        // A sandbox that is gone has no list to leave.
        let _ = self.site.world.with(&self.site.id, |sandbox, _| {
            sandbox.processes.remove(&self.pid);
            Ok(())
        });
    }
}

/// Lists a new process; `None` when there are as many as allowed.
pub(in crate::engine::demo) fn enter(
    site: &Site,
    command: &str,
) -> Option<(Listed, watch::Receiver<i32>)> {
    let (signal, signals) = watch::channel(0);
    let process = Process {
        exec: site.exec.clone(),
        command: command.to_owned(),
        started_at: Utc::now(),
        signal,
    };
    let forked = site
        .world
        .with(&site.id, |sandbox, _| Ok(sandbox.fork(process)));
    let pid = forked.ok().flatten()?;
    let site = site.clone();
    Some((Listed { site, pid }, signals))
}

/// Says that there are as many processes as allowed.
pub(super) async fn cannot_fork(io: &Io) -> Flow {
    fail(io, "sh", "Cannot fork: Resource temporarily unavailable", 2).await
}

/// Sends a signal: to the shell itself, or to another process.
pub(super) async fn kill(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let (number, pids) = match args {
        [flag, pids @ ..] if flag.starts_with('-') => (signal_number(flag), pids),
        pids => (Some(15), pids),
    };
    let Some(number) = number else {
        return fail(io, "kill", "unknown signal", 1).await;
    };
    let mut status = 0;
    for pid in pids {
        if number != 0 && *pid == shell.pid.to_string() {
            return Break(Ended::Signal(number));
        }
        if !send(shell, pid, number) {
            status = 1;
            let _ = fail(io, "kill", &format!("({pid}) - No such process"), 1).await;
        }
    }
    Continue(status)
}

/// Prints the processes of the sandbox.
pub(super) async fn ps(shell: &Shell, io: &Io) -> Flow {
    let lines = shell.site.world.with(&shell.site.id, |sandbox, _| {
        let processes = sandbox.processes.iter();
        let lines = processes.map(|(pid, process)| format!("{pid:>5} {}\n", process.command));
        Ok(lines.collect::<String>())
    });
    let lines = lines.unwrap_or_default();
    put(io, format!("  PID COMMAND\n    1 init\n{lines}").as_bytes()).await
}

/// Waits for all background jobs of the shell.
pub(super) async fn wait(shell: &mut Shell) -> Flow {
    for child in std::mem::take(&mut shell.children) {
        // An error means that the job is gone, which is what is waited for.
        let _ = child.await;
    }
    Continue(0)
}

/// Reads `-9`, `-KILL` or `-SIGKILL`.
fn signal_number(flag: &str) -> Option<i32> {
    let name = flag.trim_start_matches('-').trim_start_matches("SIG");
    let named = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("KILL", 9),
        ("TERM", 15),
    ];
    let named = named.iter().find(|(known, _)| *known == name);
    let number = named
        .map(|(_, number)| *number)
        .or_else(|| name.parse().ok());
    number.filter(|number| (0..=64).contains(number))
}

fn send(shell: &Shell, pid: &str, number: i32) -> bool {
    let Ok(pid) = pid.parse::<u32>() else {
        return false;
    };
    let sent = shell.site.world.with(&shell.site.id, |sandbox, _| {
        let process = sandbox.processes.get(&pid);
        if let Some(process) = process.filter(|_| number != 0) {
            process.signal.send_replace(number);
        }
        Ok(process.is_some())
    });
    sent.unwrap_or(false)
}
