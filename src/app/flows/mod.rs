//! What takes several parts of the state: the only code that changes all of it.

pub(crate) mod apply_intents;
pub(crate) mod copies;
pub(crate) mod foreign_runs;
pub(crate) mod run_program;
pub(crate) mod streams;
