//! Sandboxes, events and changes in words, for the command line and the dashboard alike.

mod changes;
mod engine_event;
mod reaping;
mod sandbox;
mod selftest;

pub use changes::changes_summary;
pub use engine_event::{death_words, event_detail, event_mood};
pub use reaping::{status_word, verdict_reason, verdict_words};
pub use sandbox::{Fact, ending, facts};
pub use selftest::{Finding, Measure, measures};

/// How something should strike the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// It is just so.
    Plain,
    /// It is as it should be.
    Good,
    /// It is worth a look.
    Warn,
    /// It has gone wrong, or is dangerous.
    Bad,
}
