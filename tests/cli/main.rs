//! The real program from outside: every verb, exit code and JSON value that scripts rely on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)] // A test that cannot go on says so by panicking.

mod code;
mod crashes;
mod dashboard;
mod demo;
mod docker;
mod exits;
mod faults;
mod figures;
mod index;
mod packages;
mod panes;
mod pty;
mod reaping;
mod relay;
mod runs;
mod soak;
mod story;
mod support;
mod terminal;
