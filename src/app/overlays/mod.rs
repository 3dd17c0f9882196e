//! What lies over the panes: each owns its state behind one trait, and returns what it wants as intents.

pub mod columns;
pub mod compare;
pub mod confirm;
pub mod create_form;
pub mod cx;
pub mod history;
pub mod inspect;
pub mod layer;
pub mod line;
pub mod overlay;
pub mod packages;
pub mod palette;
pub mod prompt;
pub mod reap;
pub mod run_form;
pub mod snippets;
pub mod viewer;

pub use cx::Cx;
pub use layer::{Layer, Reaction, Wheel};
pub use overlay::Overlay;
