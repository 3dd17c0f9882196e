//! The panes: each owns its state, and returns what it wants from the rest as intents.

pub mod editor;
pub mod files;
pub mod output;
pub mod sandboxes;
pub mod shell;
pub mod shells;
pub mod tabs;
