//! sandtop: watch, use and reap code sandboxes from a terminal.

pub mod config;
pub mod domain;
pub mod engine;
pub mod guest;
pub mod protocol;
pub mod text;
