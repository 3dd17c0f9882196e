//! The guest program: the first process of each sandbox, and the hands of sandtop inside it.
//!
//! `guest init` idles as the sandbox's main process. `guest exec …` runs one command and watches over all of its processes.
//! The other verbs work on files and sessions. All of them finish with an end mark and a trailer (see `wire.rs`).
//!
//! Outside of sandboxes there is one more verb: `guest keeper` makes a sandbox of the embedded engine and keeps it.
//!
//! `build.rs` makes it a static program; for cargo it is the test target `guest`, so that it is formatted, checked and tested
//! with the rest and yet not installed.

// All unsafe code of sandtop is in this program: in `sys`, `kernel` and `sockets`, and a line of `finish`.
#![allow(unsafe_code)]
// What it prints is its protocol.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod abi;
mod ends;
mod exec;
mod files;
mod finish;
mod hold;
mod keeper;
mod kernel;
mod look;
mod processes;
mod session;
mod sockets;
mod sys;
mod tree;
/// Compiled into both sides, which use a half of it each.
#[allow(dead_code, unreachable_pub)]
mod wire;

use std::env;
use std::process::exit;

use finish::{Finish, Problem};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let (verb, rest) = match words.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("", &[][..]),
    };
    if !matches!(verb, "init" | "keeper") {
        sys::widen_pipes();
    }
    match verb {
        "init" => idle(),
        "keeper" => keeper::run(),
        "exec" => exec::run(rest),
        "kill" => Finish::from_environment().done(processes::kill_exec(rest)),
        "save" => exit(session::save(rest)),
        "list" | "stat" | "mkdir" | "rename" | "delete" | "read" | "write" => {
            Finish::from_environment().done(files::run(verb, rest))
        }
        "pack" => Finish::from_environment().done(tree::pack(rest)),
        "unpack" => Finish::from_environment().done(tree::unpack(rest)),
        "hold" => Finish::from_environment().done(hold::hold(rest)),
        "sessions" => Finish::from_environment().done(session::list()),
        "forget" => Finish::from_environment().done(session::forget(rest)),
        "top" => Finish::from_environment().done(look::top()),
        "changes" => Finish::from_environment().done(look::changes(rest)),
        "size" => Finish::from_environment().done(look::size(rest)),
        "execs" => Finish::from_environment().done(ends::list()),
        "probe" => Finish::from_environment().done(processes::probe()),
        other => Finish::from_environment().done(Err(Problem::invalid(format!(
            "the guest does not know `{other}`"
        )))),
    }
}

/// Keeps the sandbox alive, reaps what is left to it, and ends at once when told to.
fn idle() -> ! {
    let signals = sys::Signals::take_over(&[abi::SIGTERM, abi::SIGINT, abi::SIGHUP, abi::SIGCHLD]);
    loop {
        while let sys::Wait::Ended(_) = sys::reap() {}
        if matches!(signals.wait(None), Some(signal) if signal != abi::SIGCHLD) {
            exit(0);
        }
    }
}
