//! The guest program: the first process of each sandbox, and the hands of sandtop inside it.
//!
//! `guest init` idles as the sandbox's main process. `guest exec …` runs one command and watches over all of its processes.
//! The other verbs work on files and sessions. All of them finish with an end mark and a trailer (see `wire.rs`).
//!
//! Outside of sandboxes there is one more verb: `guest keeper` makes a sandbox of the embedded engine and keeps it.
//!
//! `build.rs` makes it a static program; for cargo it is the test target `guest`, so that it is formatted, checked and tested
//! with the rest and yet not installed.

// All unsafe code of sandtop is in this program: in `sys`, `kernel`, `sockets` and `attempts`, and a line of `finish`.
#![allow(unsafe_code)]
// What it prints is its protocol.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod abi;
mod attempts;
mod changes;
mod counters;
mod ends;
mod exec;
mod files;
mod finish;
mod hold;
mod keeper;
mod kernel;
mod parents;
mod probe;
mod processes;
mod session;
mod sockets;
mod sys;
mod top;
mod tree;
/// Compiled into both sides, which use a half of it each.
#[allow(dead_code, unreachable_pub)]
mod wire;

use std::env;
use std::process::exit;

use finish::{Finish, Problem};
use wire::Call;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let call = Call::parse(&words);
    if !matches!(call, Ok(Call::Keeper)) {
        // Its program file cannot be read, so the kernel has hidden it from the start; this holds where root may read it.
        sys::hide_from_peers();
    }
    if !matches!(call, Ok(Call::Init | Call::Keeper)) {
        sys::widen_pipes();
    }
    match call {
        Ok(Call::Init) => idle(),
        Ok(Call::Keeper) => keeper::run(),
        Ok(Call::Exec(exec)) => exec::run(&exec),
        Ok(Call::Save(session)) => {
            session::save(&session);
            exit(0)
        }
        Ok(call) => Finish::from_environment().done(answer(&call)),
        Err(reason) => Finish::from_environment().done(Err(Problem::invalid(reason))),
    }
}

/// Does what a verb asks that ends with its answer.
fn answer(call: &Call) -> Result<(), Problem> {
    match call {
        Call::Kill(exec) => processes::kill_exec(exec),
        Call::List(path) => files::list(path),
        Call::Stat(path) => files::stat(path),
        Call::MakeDir(path) => files::make_dir(path),
        Call::Rename { from, to } => files::rename(from, to),
        Call::Delete { path, recursive } => files::delete(path, *recursive),
        Call::Read { path, limit } => files::read(path, *limit),
        Call::Write { path, mode } => files::write(path, *mode),
        Call::Pack(path) => tree::pack(path),
        Call::Unpack(path) => tree::unpack(path),
        Call::Hold(path) => hold::hold(path),
        Call::Sessions => session::list(),
        Call::Forget(session) => session::forget(session),
        Call::Top => top::top(),
        Call::Changes { most, roots } => changes::changes(*most, roots),
        Call::Size(path) => changes::size(path),
        Call::Execs => ends::list(),
        Call::Probe => probe::probe(),
        Call::Attempts(limits) => attempts::attempts(*limits),
        Call::Init | Call::Keeper | Call::Exec(_) | Call::Save(_) => Ok(()),
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
