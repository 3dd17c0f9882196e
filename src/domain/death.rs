//! Why a sandbox ended: one cause, found from what several witnesses tell.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How a sandbox ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Death {
    /// The cause in one word; see [`Cause`].
    pub cause: String,
    /// Exit code of its first process.
    pub exit_code: Option<i64>,
    /// When.
    pub at: Option<DateTime<Utc>>,
    /// The last lines it wrote.
    pub last_lines: Vec<String>,
    /// Who ended it, if somebody of ours did.
    pub by: Option<String>,
    /// The last run in it.
    pub run: Option<String>,
    /// Resident memory of the largest process of that run.
    pub peak_memory_bytes: Option<u64>,
    /// Its memory until the end, if somebody watched.
    pub memory: Vec<u64>,
}

/// The causes that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Its first process ended by itself.
    Exit,
    /// A signal from inside ended it.
    Signal,
    /// It ran over its memory limit.
    Oom,
    /// The image does not work.
    Image,
    /// The engine failed.
    Error,
    /// Nobody used it.
    Idle,
    /// Its owner died.
    Orphan,
    /// sandtop removed it on request.
    Removed,
    /// sandtop stopped it on request.
    Stopped,
    /// sandtop killed it on request.
    Killed,
    /// Other hands removed it.
    RemovedOutside,
    /// Other hands stopped it.
    StoppedOutside,
    /// Other hands killed it.
    KilledOutside,
    /// It ended with its engine.
    EngineRestart,
    /// It is gone, and nobody remembers why.
    Vanished,
}

/// The causes after which nothing is left.
const GONE: [Cause; 5] = [
    Cause::Idle,
    Cause::Orphan,
    Cause::Removed,
    Cause::RemovedOutside,
    Cause::Vanished,
];

impl Cause {
    /// Tells whether a sandbox that ended so is gone.
    #[must_use]
    pub fn is_gone(word: &str) -> bool {
        GONE.iter().any(|cause| cause.word() == word)
    }

    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Oom => "oom",
            Self::Image => "image",
            Self::Error => "error",
            Self::Idle => "idle",
            Self::Orphan => "orphan",
            Self::Removed => "removed",
            Self::Stopped => "stopped",
            Self::Killed => "killed",
            Self::RemovedOutside => "removed_outside",
            Self::StoppedOutside => "stopped_outside",
            Self::KilledOutside => "killed_outside",
            Self::EngineRestart => "engine_restart",
            Self::Vanished => "vanished",
        }
    }
}

/// What sandtop meant to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// Stop or restart it.
    Stop,
    /// Kill it.
    Kill,
    /// Remove it.
    Remove,
    /// Remove it because nobody used it.
    ReapIdle,
    /// Remove it because its owner died.
    ReapOrphan,
}

/// What the witnesses tell of a sandbox that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is what one witness says; they are not states of one machine.
pub struct Evidence {
    /// Is it gone, and not only stopped?
    pub gone: bool,
    /// What sandtop meant to do shortly before.
    pub meant: Option<Meant>,
    /// The engine saw that it was removed.
    pub saw_removal: bool,
    /// The engine was asked to stop it.
    pub saw_stop: bool,
    /// The engine was asked to send it a signal.
    pub saw_kill: bool,
    /// The kernel killed it for memory.
    pub oom: bool,
    /// The engine reports a fault, of its own or of the image.
    pub fault: Option<Fault>,
    /// The engine started after this end.
    pub engine_restarted: bool,
    /// Exit code of its first process.
    pub exit_code: Option<i64>,
}

/// A fault that the engine reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The image's programs cannot be run.
    Image,
    /// Anything else.
    Engine,
}

impl Evidence {
    /// Finds the one cause. What we did ourselves is known best; what others asked of the engine comes next.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self.meant {
            // Also while it is still there: what is removed ends first.
            Some(Meant::ReapIdle) => Cause::Idle,
            Some(Meant::ReapOrphan) => Cause::Orphan,
            Some(Meant::Remove) => Cause::Removed,
            Some(Meant::Stop) if !self.gone => Cause::Stopped,
            Some(Meant::Kill) if !self.gone => Cause::Killed,
            _ if self.gone => self.cause_of_absence(),
            _ => self.cause_of_stop(),
        }
    }

    fn cause_of_absence(&self) -> Cause {
        if self.saw_removal {
            Cause::RemovedOutside
        } else {
            Cause::Vanished
        }
    }

    fn cause_of_stop(&self) -> Cause {
        let is_killed = self.exit_code.is_none_or(|code| code == 137);
        match self.fault {
            _ if self.saw_stop => Cause::StoppedOutside,
            _ if self.saw_kill => Cause::KilledOutside,
            _ if self.oom && is_killed => Cause::Oom,
            Some(Fault::Image) => Cause::Image,
            Some(Fault::Engine) => Cause::Error,
            None if self.engine_restarted => Cause::EngineRestart,
            None if self.exit_code.is_some_and(|code| code > 128) => Cause::Signal,
            None => Cause::Exit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_story_has_its_cause() {
        let stopped = |exit_code| Evidence {
            exit_code: Some(exit_code),
            ..Evidence::default()
        };
        let gone = Evidence {
            gone: true,
            ..Evidence::default()
        };
        let meant = |meant, story| Evidence {
            meant: Some(meant),
            ..story
        };
        let table = [
            (stopped(0), Cause::Exit),
            (stopped(139), Cause::Signal),
            (
                Evidence {
                    oom: true,
                    ..stopped(137)
                },
                Cause::Oom,
            ),
            // A process that ran out of memory long ago does not explain an orderly end.
            (
                Evidence {
                    oom: true,
                    saw_stop: true,
                    ..stopped(0)
                },
                Cause::StoppedOutside,
            ),
            (
                Evidence {
                    oom: true,
                    ..stopped(0)
                },
                Cause::Exit,
            ),
            (
                Evidence {
                    saw_kill: true,
                    ..stopped(137)
                },
                Cause::KilledOutside,
            ),
            (
                Evidence {
                    engine_restarted: true,
                    ..stopped(255)
                },
                Cause::EngineRestart,
            ),
            (
                Evidence {
                    fault: Some(Fault::Image),
                    ..stopped(127)
                },
                Cause::Image,
            ),
            (meant(Meant::Stop, stopped(0)), Cause::Stopped),
            (meant(Meant::Kill, stopped(137)), Cause::Killed),
            (meant(Meant::ReapIdle, gone), Cause::Idle),
            (meant(Meant::ReapOrphan, gone), Cause::Orphan),
            (meant(Meant::Remove, gone), Cause::Removed),
            // Seen in the moment between its end and its removal.
            (
                Evidence {
                    saw_kill: true,
                    ..meant(Meant::Remove, stopped(137))
                },
                Cause::Removed,
            ),
            // It was stopped by us and removed by others.
            (
                Evidence {
                    saw_removal: true,
                    ..meant(Meant::Stop, gone)
                },
                Cause::RemovedOutside,
            ),
            (gone, Cause::Vanished),
        ];
        for (evidence, cause) in table {
            assert_eq!(evidence.cause(), cause, "{evidence:?}");
        }
    }
}
