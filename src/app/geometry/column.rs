//! The columns of the list.

use serde::{Deserialize, Serialize};

/// What the list shows and can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Name.
    Name,
    /// Phase.
    Phase,
    /// Processor use.
    Cpu,
    /// Memory use.
    Memory,
    /// Processes.
    Pids,
    /// Age.
    Age,
    /// Time since it was last used.
    Idle,
    /// Time until it is reaped.
    Reap,
    /// Why it ended, or what else is special.
    Why,
    /// Network.
    Network,
    /// Image.
    Image,
    /// Who made it.
    Owner,
    /// Where it is.
    Host,
}

impl Column {
    /// All columns, in their order on screen.
    pub const ALL: [Self; 13] = [
        Self::Name,
        Self::Phase,
        Self::Cpu,
        Self::Memory,
        Self::Pids,
        Self::Age,
        Self::Idle,
        Self::Reap,
        Self::Why,
        Self::Network,
        Self::Image,
        Self::Owner,
        Self::Host,
    ];

    /// Returns its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "NAME",
            Self::Phase => "PHASE",
            Self::Cpu => "CPU",
            Self::Memory => "MEMORY",
            Self::Pids => "PIDS",
            Self::Age => "AGE",
            Self::Idle => "IDLE",
            Self::Reap => "REAP",
            Self::Why => "WHY",
            Self::Network => "NETWORK",
            Self::Image => "IMAGE",
            Self::Owner => "OWNER",
            Self::Host => "HOST",
        }
    }

    /// Tells whether the largest are wanted first.
    #[must_use]
    pub fn is_load(self) -> bool {
        matches!(self, Self::Cpu | Self::Memory | Self::Pids | Self::Idle)
    }

    pub(crate) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|column| *column == self);
        let next = (at.unwrap_or(0) + 1) % Self::ALL.len();
        Self::ALL.get(next).copied().unwrap_or(Self::Name)
    }
}
