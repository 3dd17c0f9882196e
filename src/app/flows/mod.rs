//! What takes several parts of the state: the only code that changes all of it.

pub(crate) mod apply_intents;
mod compare_runs;
pub(crate) mod copies;
pub(crate) mod edit_file;
pub(crate) mod fit;
pub(crate) mod foreign_runs;
pub(crate) mod guards;
pub(crate) mod move_border;
pub(crate) mod navigate;
mod run_again;
pub(crate) mod run_program;
mod select;
pub(crate) mod shell;
