//! The journal of a scope: what happened to its sandboxes, a line each. The engine and every keeper append to it.

use super::words::{LineReader, LineWriter};

/// Its file, in the folder above those of the sandboxes.
pub const JOURNAL: &str = "journal";

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalEvent {
    /// A sandbox was made.
    Created,
    /// It runs.
    Started,
    /// A command began; the detail is its line.
    Exec,
    /// A command ended; the detail is its exit code.
    ExecEnded,
    /// Memory ran out.
    Oom,
    /// It was paused.
    Paused,
    /// It goes on.
    Resumed,
    /// It was killed; the detail is the signal.
    Killed,
    /// It ended; the detail is an exit code.
    Died,
    /// It was stopped.
    Stopped,
    /// It was restarted.
    Restarted,
    /// It was removed.
    Removed,
}

impl JournalEvent {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Created,
        Self::Started,
        Self::Exec,
        Self::ExecEnded,
        Self::Oom,
        Self::Paused,
        Self::Resumed,
        Self::Killed,
        Self::Died,
        Self::Stopped,
        Self::Restarted,
        Self::Removed,
    ];

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Started => "started",
            Self::Exec => "exec",
            Self::ExecEnded => "exec_ended",
            Self::Oom => "oom",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Killed => "killed",
            Self::Died => "died",
            Self::Stopped => "stopped",
            Self::Restarted => "restarted",
            Self::Removed => "removed",
        }
    }

    /// Finds the event of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.word() == word)
    }
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// When, in milliseconds since 1970.
    pub at_millis: i64,
    /// The sandbox's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What happened.
    pub event: JournalEvent,
    /// More about it, or nothing.
    pub detail: String,
    /// The id of the command that it is about, or nothing.
    pub exec: String,
}

impl JournalLine {
    /// Writes it, with its end, so that one write appends it.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = LineWriter::new(&self.at_millis.to_string());
        let line = line.word(&self.id).word(&self.name);
        let line = line
            .word(self.event.word())
            .word(&self.detail)
            .word(&self.exec);
        line.line() + "\n"
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(Self {
            at_millis: words.number()?,
            id: words.text()?,
            name: words.text()?,
            event: JournalEvent::parse(&words.text()?)?,
            detail: words.text().unwrap_or_default(),
            exec: words.text().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives() {
        for event in JournalEvent::ALL {
            let line = JournalLine {
                at_millis: 1_700_000_000_123,
                id: "0123".into(),
                name: "a b".into(),
                event,
                detail: "x\ny".into(),
                exec: "a4f2".into(),
            };
            let text = line.encode();
            assert_eq!(text.lines().count(), 1, "{text}");
            assert_eq!(JournalLine::parse(&text), Some(line));
        }
    }

    #[test]
    fn a_detail_may_be_missing_and_rubbish_is_none() {
        let read = JournalLine::parse("5 id name oom").expect("a line");
        assert_eq!((read.event, read.detail.as_str()), (JournalEvent::Oom, ""));
        for line in ["", "x id name oom", "5 id", "5 id name exploded"] {
            assert_eq!(JournalLine::parse(line), None, "{line}");
        }
    }
}
