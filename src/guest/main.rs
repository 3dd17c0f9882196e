//! The guest program: the first process of each sandbox, and the hands of sandtop inside it.
//!
//! `guest init` idles as the sandbox's main process. `guest exec …` runs one command and watches over all of its processes.
//! The other verbs work on files and sessions. All of them finish with an end mark and a trailer (see `wire.rs`).
//!
//! Outside of sandboxes there is one more verb: `guest keeper` makes a sandbox of the embedded engine and keeps it.

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
        "list" | "stat" | "mkdir" | "rename" | "delete" | "read" | "write" => Finish::from_environment().done(files::run(verb, rest)),
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
        other => Finish::from_environment().done(Err(Problem::invalid(format!("the guest does not know `{other}`")))),
    }
}

/// Keeps the sandbox alive, reaps what is left to it, and ends at once when told to.
fn idle() -> ! {
    let signals = sys::Signals::take_over(&[sys::SIGTERM, sys::SIGINT, sys::SIGHUP, sys::SIGCHLD]);
    loop {
        while let sys::Wait::Ended(_) = sys::reap() {}
        if matches!(signals.wait(None), Some(signal) if signal != sys::SIGCHLD) {
            exit(0);
        }
    }
}
