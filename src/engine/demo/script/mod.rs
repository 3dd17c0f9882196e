//! A tiny shell over files in memory. It never starts a process of the host: every program is a function here.

mod disk;
mod io;
mod jobs;
mod open;
mod parse;
mod printing;
mod processes;
mod programs;
mod python;
mod shell;
mod syntax;
mod terminal;
mod variables;
mod words;

use std::ops::ControlFlow;

use crate::domain::Ended;

pub(super) use io::{Input, Io, Sink};
pub(super) use processes::{Listed, enter};
pub(super) use shell::{Job, Shell, Site};
pub(super) use terminal::interact;

/// How a command went: on with its status, or the end of the whole shell.
type Flow = ControlFlow<Ended, i32>;

/// Returns the status by which a shell reports the end of a child.
fn status_of(flow: Flow) -> i32 {
    match flow {
        ControlFlow::Continue(status) => status,
        ControlFlow::Break(ended) => ended.exit_code().unwrap_or(1),
    }
}

/// Turns the last word of a shell into the end of its exec.
pub(super) fn end_of(flow: Flow) -> Ended {
    match flow {
        ControlFlow::Continue(status) => Ended::Code(status),
        ControlFlow::Break(ended) => ended,
    }
}
