//! Short messages that go away by themselves, and the log of what was done.

use std::collections::VecDeque;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::intent::Tone;
use crate::text::{safe_line, wrapped};

/// How long a good or plain message stays.
const SHORT: TimeDelta = TimeDelta::seconds(4);
/// How long a bad one stays.
const LONG: TimeDelta = TimeDelta::seconds(12);
/// Messages that the log keeps.
const KEPT: usize = 500;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    /// How it looks.
    pub tone: Tone,
    /// What it says.
    pub text: String,
    /// When it was said.
    pub at: DateTime<Utc>,
}

/// The message on screen and the ones before.
#[derive(Debug, Default)]
pub struct StatusState {
    current: Option<Toast>,
    log: VecDeque<Toast>,
}

impl StatusState {
    /// Says something.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>, at: DateTime<Utc>) {
        let toast = Toast {
            tone,
            text: text.into(),
            at,
        };
        if self.log.len() == KEPT {
            self.log.pop_front();
        }
        self.log.push_back(toast.clone());
        self.current = Some(toast);
    }

    /// Lets an old message go; true if the screen changed.
    pub fn tick(&mut self, now: DateTime<Utc>) -> bool {
        let over = self
            .current
            .as_ref()
            .is_some_and(|toast| now - toast.at >= stay(toast.tone));
        if over {
            self.current = None;
        }
        over
    }

    /// Takes the message away.
    pub fn dismiss(&mut self) {
        self.current = None;
    }

    /// Returns the message on screen.
    #[must_use]
    pub fn current(&self) -> Option<&Toast> {
        self.current.as_ref()
    }

    /// Lists what was said, newest first.
    pub fn log(&self) -> impl Iterator<Item = &Toast> {
        self.log.iter().rev()
    }

    /// Splits what was said into lines, each with its message and whether it is the first one of it.
    pub fn log_lines(&self, width: usize) -> impl Iterator<Item = (&Toast, bool, String)> {
        self.log().flat_map(move |toast| {
            let lines = wrapped(&safe_line(&toast.text), width).into_iter();
            let lines = lines.enumerate();
            lines.map(move |(at, line)| (toast, at == 0, line))
        })
    }
}

fn stay(tone: Tone) -> TimeDelta {
    if tone == Tone::Bad { LONG } else { SHORT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_told_whole_newest_first() {
        let mut status = StatusState::default();
        let now = DateTime::default();
        status.say(Tone::Plain, "first", now);
        status.say(Tone::Bad, "a longer one\u{7}", now);
        let lines: Vec<_> = status
            .log_lines(8)
            .map(|(_, is_first, line)| (is_first, line))
            .collect();
        let expected = [(true, "a longer"), (false, "one\\x07"), (true, "first")];
        assert_eq!(
            lines,
            expected.map(|(first, line)| (first, line.to_owned()))
        );
    }
}
