//! One run: its output so far, how it stands, and which part of it is looked at.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::feed::Feed;
use super::line::OutputLine;
use super::select::Selection;
use super::status::RunStatus;
use super::view::Spot;
use crate::domain::{ExecEnd, ExecId, OutputChunk, SandboxRef, Source, StreamId, StreamKind};
use crate::protocol::Failure;
use crate::text::{Ring, human, safe_line};

/// The lines of a run that are kept.
pub const MOST_LINES: usize = 10_000;

/// The bytes of a run that are kept.
pub const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Who holds a run that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// This dashboard; the run ends with it.
    Own,
    /// Another process, or nobody any more: its record is read. It was started so.
    Other(Source),
}

/// What is known of a run when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// Its stream.
    pub stream: StreamId,
    /// Its id on record.
    pub exec: ExecId,
    /// Who holds it.
    pub hold: Hold,
    /// Where it runs.
    pub sandbox: SandboxRef,
    /// The name of that sandbox.
    pub sandbox_name: String,
    /// What runs, in a word or two.
    pub title: String,
    /// Since when.
    pub started: DateTime<Utc>,
}

/// One run with its output.
pub struct Run {
    info: RunInfo,
    status: RunStatus,
    took: Option<Duration>,
    peak_memory: Option<u64>,
    refused_processes: Option<u64>,
    lines: Ring<OutputLine>,
    feeds: [Feed; 2],
    /// Where the view starts; `None` follows the end.
    pub(super) place: Option<Spot>,
    /// The line of the match that was last gone to.
    pub(super) found: Option<u64>,
    pub(super) selection: Option<Selection>,
    /// The line that the mouse was pressed on.
    pub(super) pressed: Option<u64>,
}

impl Run {
    /// Starts a run without output.
    #[must_use]
    pub fn new(info: RunInfo) -> Self {
        Self {
            info: RunInfo {
                sandbox_name: safe_line(&info.sandbox_name),
                title: safe_line(&info.title),
                ..info
            },
            status: RunStatus::Running,
            took: None,
            peak_memory: None,
            refused_processes: None,
            lines: Ring::new(MOST_LINES, MOST_BYTES),
            feeds: [StreamKind::Stdout, StreamKind::Stderr].map(Feed::new),
            place: None,
            found: None,
            selection: None,
            pressed: None,
        }
    }

    pub(super) fn push(&mut self, chunk: &OutputChunk, now: DateTime<Utc>) {
        let Self { feeds, lines, .. } = self;
        // What the other stream has begun came before.
        for feed in feeds.iter_mut().filter(|feed| feed.kind != chunk.stream) {
            feed.take_place(lines);
        }
        for feed in feeds.iter_mut().filter(|feed| feed.kind == chunk.stream) {
            feed.push(&chunk.bytes, now, lines);
        }
    }

    /// Says in the output that some of it was not kept.
    pub(super) fn missing(&mut self, bytes: u64, now: DateTime<Utc>) {
        let [_, errors] = &self.feeds;
        let lead = if errors.is_blank() { "" } else { "\n" };
        let words = format!("{lead}… {} were not kept\n", human::bytes(bytes));
        let chunk = OutputChunk {
            stream: StreamKind::Stderr,
            bytes: words.into(),
        };
        self.push(&chunk, now);
    }

    pub(super) fn end(&mut self, outcome: &Result<ExecEnd, Failure>, took: Duration) {
        let Self { feeds, lines, .. } = self;
        for feed in feeds {
            feed.finish(lines);
        }
        self.status = RunStatus::of(outcome);
        self.took = Some(took);
        let end = outcome.as_ref().ok();
        self.peak_memory = end.and_then(|end| end.peak_memory_bytes);
        self.refused_processes = end.and_then(|end| end.refused_processes);
    }

    /// Returns what was known when it started.
    #[must_use]
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns how it stands.
    #[must_use]
    pub fn status(&self) -> &RunStatus {
        &self.status
    }

    /// Tells whether it goes on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.status == RunStatus::Running
    }

    /// Returns how long it took, or takes so far.
    #[must_use]
    pub fn took(&self, now: DateTime<Utc>) -> Duration {
        let so_far = || (now - self.info.started).to_std().unwrap_or_default();
        self.took.unwrap_or_else(so_far)
    }

    /// Returns the most memory that one of its processes used, once that is known.
    #[must_use]
    pub fn peak_memory(&self) -> Option<u64> {
        self.peak_memory
    }

    /// Returns how many processes its sandbox was refused meanwhile, if there were any.
    #[must_use]
    pub fn refused_processes(&self) -> Option<u64> {
        self.refused_processes.filter(|refused| *refused > 0)
    }

    /// Tells whether the view stays at the end.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.place.is_none()
    }

    /// Returns the line of the match that was last gone to.
    #[must_use]
    pub fn found(&self) -> Option<u64> {
        self.found
    }

    /// Returns the number of the oldest line kept, which is how many were dropped.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.lines.first()
    }

    /// Returns the number after the last line, open lines included.
    #[must_use]
    pub fn end_line(&self) -> u64 {
        let open = self.feeds.iter().filter(|feed| feed.is_open_at_end());
        self.lines.end() + open.fold(0, |count, _| count + 1)
    }

    /// Returns a line by its number; after the finished ones come the open ones.
    #[must_use]
    pub fn line(&self, number: u64) -> Option<Cow<'_, OutputLine>> {
        if let Some(line) = self.lines.get(number) {
            return Some(Cow::Borrowed(line));
        }
        let open = number.checked_sub(self.lines.end())?;
        let at_end = self.feeds.iter().filter(|feed| feed.is_open_at_end());
        let mut partials = at_end.filter_map(Feed::partial);
        partials.nth(usize::try_from(open).ok()?).map(Cow::Owned)
    }

    /// Says which part of the output is kept here, if not all of it.
    #[must_use]
    pub fn kept_part(&self) -> Option<String> {
        let (first, end) = (self.first(), self.end_line());
        let kept = human::count(end - first);
        (first > 0).then(|| format!("the last {kept} of {} lines", human::count(end)))
    }

    /// Returns about how many bytes its lines take.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.lines.weight()
    }

    /// Returns all that is kept as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.lines.weight());
        if self.first() > 0 {
            text.push_str(&dropped_note(self.first()));
            text.push('\n');
        }
        for line in (self.first()..self.end_line()).filter_map(|number| self.line(number)) {
            text.push_str(&line.line.text);
            text.push('\n');
        }
        text
    }
}

/// Says how many lines are gone.
#[must_use]
pub fn dropped_note(lines: u64) -> String {
    format!("… {} lines dropped", human::count(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{HostName, SandboxId};

    #[test]
    fn memory_stays_bounded_whatever_comes() {
        let mut run = Run::new(RunInfo {
            stream: StreamId(1),
            exec: ExecId::new("x1"),
            hold: Hold::Own,
            sandbox: SandboxRef::new(HostName::new("local"), SandboxId::new("a")),
            sandbox_name: "py".to_owned(),
            title: "main.py".to_owned(),
            started: DateTime::default(),
        });
        let chunk = OutputChunk {
            stream: StreamKind::Stderr,
            bytes: ("\x1b[31mx\x1b[0my".repeat(2_000) + "\n").into(),
        };
        for _ in 0..200 {
            run.push(&chunk, DateTime::default());
            assert!(run.weight() <= MOST_BYTES);
        }
        assert!(run.first() > 0);
    }
}
