//! How ways to weaken or leave a sandbox went that the guest tried from inside: a line each.

use super::words::{LineReader, LineWriter};

/// How an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The wall holds.
    Held,
    /// There is a way.
    Open,
    /// It could not be tried.
    NotTried,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Held, Self::Open, Self::NotTried];

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Open => "open",
            Self::NotTried => "untried",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

/// What an attempt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wall {
    /// The filter of system calls.
    Calls,
    /// Rights of the sandbox's user.
    Privileges,
    /// The read-only root.
    Root,
    /// Files of the kernel.
    Kernel,
    /// Mounts that can be written to; each by its place.
    Mounts,
    /// Sockets that lead out.
    Sockets,
    /// The network.
    Network,
    /// The memory limit.
    Memory,
    /// The process limit.
    Processes,
    /// The processor limit.
    Processors,
    /// The size of `/tmp`.
    Scratch,
}

impl Wall {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Calls,
        Self::Privileges,
        Self::Root,
        Self::Kernel,
        Self::Mounts,
        Self::Sockets,
        Self::Network,
        Self::Memory,
        Self::Processes,
        Self::Processors,
        Self::Scratch,
    ];

    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Privileges => "privileges",
            Self::Root => "root",
            Self::Kernel => "kernel",
            Self::Mounts => "mounts",
            Self::Sockets => "sockets",
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Processors => "processors",
            Self::Scratch => "scratch",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wall| wall.word() == word)
    }
}

/// An attempt and how it went, as [`Verb::Attempts`](super::Verb::Attempts) prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptLine {
    /// What it is about.
    pub wall: Wall,
    /// What was tried.
    pub name: String,
    /// How it went.
    pub outcome: Outcome,
    /// What was seen, for limits: how far it went.
    pub reached: Option<u64>,
}

impl AttemptLine {
    /// Writes it.
    #[must_use]
    pub fn encode(&self) -> String {
        let line = LineWriter::new(self.wall.word()).word(self.outcome.word());
        let line = line.word(&self.name);
        let reached = self.reached.map(|n| n.to_string());
        line.word(reached.unwrap_or_default()).line()
    }

    /// Reads it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = LineReader::new(line);
        Some(Self {
            wall: Wall::parse(&words.text()?)?,
            outcome: Outcome::parse(&words.text()?)?,
            name: words.text()?,
            reached: words.text()?.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_survive() {
        for (wall, outcome) in Wall::ALL.into_iter().zip(Outcome::ALL.into_iter().cycle()) {
            for reached in [None, Some(7)] {
                let line = AttemptLine {
                    wall,
                    name: "write /etc".into(),
                    outcome,
                    reached,
                };
                assert_eq!(AttemptLine::parse(&line.encode()), Some(line));
            }
        }
        for rubbish in ["", "calls", "calls held", "walls held x ", "calls yes x "] {
            assert_eq!(AttemptLine::parse(rubbish), None, "{rubbish}");
        }
    }
}
