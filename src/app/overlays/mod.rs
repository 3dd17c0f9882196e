//! What lies over the panes.

pub mod cache;
pub mod compare;
pub mod completion;
pub mod create_form;
pub mod history;
pub mod inspect;
pub mod line;
pub mod overlay;
pub mod reap;
pub mod run_form;
pub mod scrolling;
pub mod snippets;
