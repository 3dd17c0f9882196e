//! One event for each thing that happened: an engine tells of a stop in three, of a command in two, and our record in one more.

use std::collections::HashMap;

use chrono::TimeDelta;

use super::{Cause, EngineEvent, EngineEventKind, SandboxRef};

/// How long before an end a signal may lie that caused it.
const SIGNAL: TimeDelta = TimeDelta::seconds(60);
/// How far apart the parts of one end or of one restart may lie.
const TOGETHER: TimeDelta = TimeDelta::seconds(5);

/// Merges events of many sandboxes, oldest first, into one for each thing that happened.
#[must_use]
pub fn merge_events(mut all: Vec<EngineEvent>) -> Vec<EngineEvent> {
    all.sort_by_key(|event| event.at);
    let mut merger = Merger::default();
    for event in all {
        merger.add(event);
    }
    let mut kept: Vec<EngineEvent> = merger.kept.into_iter().flatten().collect();
    kept.sort_by_key(|event| event.at);
    kept
}

/// What is kept so far, and where in it the unfinished parts are.
#[derive(Default)]
struct Merger {
    kept: Vec<Option<EngineEvent>>,
    execs: HashMap<(SandboxRef, String), usize>,
    lives: HashMap<SandboxRef, Life>,
}

/// The present life of a sandbox.
#[derive(Default)]
struct Life {
    /// Its start.
    start: Option<usize>,
    /// Signals that were sent to it.
    signals: Vec<usize>,
    /// Its end.
    end: Option<usize>,
}

impl Merger {
    fn add(&mut self, event: EngineEvent) {
        match &event.what {
            EngineEventKind::Exec { exec, .. } | EngineEventKind::ExecEnded { exec, .. } => {
                let exec = exec.clone();
                self.add_exec(event, exec);
            }
            EngineEventKind::RunEnded { run, .. } => {
                let run = Some(run.clone());
                self.add_exec(event, run);
            }
            EngineEventKind::Started => self.add_start(event),
            EngineEventKind::Restarted => self.add_restart(event),
            EngineEventKind::Killed { .. } => self.add_signal(event),
            _ if rank(&event.what).is_some() => self.add_end(event),
            _ => drop(self.keep(event)),
        }
    }

    fn keep(&mut self, event: EngineEvent) -> usize {
        self.kept.push(Some(event));
        self.kept.len() - 1
    }

    fn at(&mut self, index: Option<usize>) -> Option<&mut EngineEvent> {
        self.kept.get_mut(index?)?.as_mut()
    }

    fn life(&mut self, event: &EngineEvent) -> &mut Life {
        self.lives.entry(event.sandbox.clone()).or_default()
    }

    /// Adds the beginning or an end of a command to what is known of it.
    fn add_exec(&mut self, event: EngineEvent, exec: Option<String>) {
        let Some(exec) = exec else {
            self.keep(event);
            return;
        };
        let key = (event.sandbox.clone(), exec);
        let known = self.execs.get(&key).copied();
        if let Some(known) = self.at(known) {
            complete(known, event);
        } else {
            let index = self.keep(event);
            self.execs.insert(key, index);
        }
    }

    fn add_start(&mut self, event: EngineEvent) {
        let sandbox = event.sandbox.clone();
        let start = Some(self.keep(event));
        let life = Life {
            start,
            ..Life::default()
        };
        self.lives.insert(sandbox, life);
    }

    /// A restart tells more than the start in it.
    fn add_restart(&mut self, event: EngineEvent) {
        let start = self.life(&event).start;
        match self.at(start) {
            Some(start) if event.at - start.at < TOGETHER => start.what = event.what,
            _ => drop(self.keep(event)),
        }
    }

    fn add_signal(&mut self, event: EngineEvent) {
        let end = self.life(&event).end;
        let is_told = |end: &mut EngineEvent| event.at - end.at < TOGETHER;
        if self.at(end).is_some_and(is_told) {
            return;
        }
        let sandbox = event.sandbox.clone();
        let index = self.keep(event);
        self.lives.entry(sandbox).or_default().signals.push(index);
    }

    fn add_end(&mut self, event: EngineEvent) {
        let end = self.life(&event).end;
        match self.at(end) {
            Some(known) if is_same_end(known, &event) => {
                if rank(&event.what) > rank(&known.what) {
                    *known = event;
                }
            }
            _ => self.keep_end(event),
        }
    }

    /// Keeps an end in place of the signals that caused it.
    fn keep_end(&mut self, event: EngineEvent) {
        let signals = std::mem::take(&mut self.life(&event).signals);
        for index in signals {
            let is_cause = |signal: &EngineEvent| event.at - signal.at < SIGNAL;
            if let Some(kept) = self.kept.get_mut(index) {
                kept.take_if(|signal| is_cause(signal));
            }
        }
        let sandbox = event.sandbox.clone();
        let index = self.keep(event);
        self.lives.entry(sandbox).or_default().end = Some(index);
    }
}

/// How much an end tells: the cause is best. Other events are no ends.
fn rank(what: &EngineEventKind) -> Option<u8> {
    Some(match what {
        EngineEventKind::Died { .. } => 1,
        EngineEventKind::Stopped => 2,
        EngineEventKind::Removed { .. } => 3,
        EngineEventKind::Death { .. } => 4,
        _ => return None,
    })
}

/// Tells whether two ends of one life are one. A removal is one of its own if the sandbox had ended before.
fn is_same_end(known: &EngineEvent, new: &EngineEvent) -> bool {
    match (&known.what, &new.what) {
        (EngineEventKind::Death { cause, .. }, EngineEventKind::Removed { .. })
        | (EngineEventKind::Removed { .. }, EngineEventKind::Death { cause, .. }) => {
            Cause::is_gone(cause)
        }
        (_, EngineEventKind::Removed { .. }) => new.at - known.at < TOGETHER,
        _ => true,
    }
}

/// Adds to a command what another event tells of it.
fn complete(known: &mut EngineEvent, new: EngineEvent) {
    let is_better = |old: &EngineEventKind| matches!(old, EngineEventKind::ExecEnded { .. });
    match (&mut known.what, new.what) {
        (
            EngineEventKind::Exec { exit_code, .. },
            EngineEventKind::ExecEnded {
                exit_code: code, ..
            },
        ) => {
            *exit_code = exit_code.or(code);
        }
        (
            EngineEventKind::Exec {
                status, exit_code, ..
            },
            EngineEventKind::RunEnded {
                status: word,
                exit_code: code,
                ..
            },
        ) => {
            *status = Some(word);
            *exit_code = code.map(i64::from).or(*exit_code);
        }
        (old, ended @ EngineEventKind::RunEnded { .. }) if is_better(old) => *old = ended,
        _ => {}
    }
}

#[cfg(test)]
mod tests;
