//! sandtop: watch, use and reap code sandboxes from a terminal.

pub mod domain;
pub mod engine;
pub mod protocol;
