//! The real program from outside: every verb, exit code and JSON value that scripts rely on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)] // A test that cannot go on says so by panicking.

mod code;
mod completions;
mod crashes;
mod dashboard;
mod demo;
mod descriptors;
mod docker;
mod drawing;
mod events;
mod exits;
mod faults;
mod figures;
mod files;
mod ground;
mod hung;
mod images;
mod index;
#[allow(dead_code, unreachable_pub)] // It is made for the other tests.
#[path = "../it/support/layout.rs"]
mod layout;
mod manual;
mod mounts;
mod packages;
mod panes;
mod private;
mod pty;
mod reaping;
mod relay;
mod requests;
mod runs;
mod secrets;
mod selftest;
mod sizes;
mod slow_engine;
mod soak;
mod story;
mod support;
mod terminal;
