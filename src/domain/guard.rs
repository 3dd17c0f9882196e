//! Guards: rules on the stats of a sandbox, each raised after a time over its level and lowered only well below it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A raised guard is lowered below this part of its level, so that it does not flutter.
const WELL_BELOW: f64 = 0.9;

/// Longest time that a sample must stay well below before the guard is lowered.
const LOWERING: TimeDelta = TimeDelta::seconds(10);

/// Without stats for so long, nothing is known of the time between.
const SILENCE: TimeDelta = TimeDelta::seconds(30);

/// What is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guarded {
    /// Memory, in percent of the limit.
    Memory,
    /// Processor use, in percent of the quota.
    Cpu,
    /// Processes, in percent of the limit.
    Pids,
    /// Output, in bytes a second.
    Output,
    /// Files in the work directory, in bytes.
    Disk,
}

impl Guarded {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Memory,
        Self::Cpu,
        Self::Pids,
        Self::Output,
        Self::Disk,
    ];

    /// Returns the word for the list.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Pids => "pids",
            Self::Output => "output",
            Self::Disk => "disk",
        }
    }
}

/// When a guard is raised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardRule {
    /// From this value on; zero is off.
    pub level: f64,
    /// For so long without a break.
    pub time: Duration,
}

/// What a raised guard does beside being shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardAction {
    /// Nothing.
    Mark,
    /// The sandbox is paused, if it is ours.
    Pause,
}

/// All guards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardRules {
    /// On memory.
    pub memory: GuardRule,
    /// On processor use.
    pub cpu: GuardRule,
    /// On processes.
    pub pids: GuardRule,
    /// On output.
    pub output: GuardRule,
    /// On files in the work directory.
    pub disk: GuardRule,
    /// Does the terminal ring?
    pub bell: bool,
    /// What else is done.
    pub action: GuardAction,
}

impl GuardRules {
    /// Returns the rule on something, if there is one.
    #[must_use]
    pub fn on(&self, what: Guarded) -> Option<GuardRule> {
        let rule = match what {
            Guarded::Memory => self.memory,
            Guarded::Cpu => self.cpu,
            Guarded::Pids => self.pids,
            Guarded::Output => self.output,
            Guarded::Disk => self.disk,
        };
        Some(rule).filter(|rule| rule.level > 0.0)
    }
}

/// What a look changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The guard is raised now.
    Raised,
    /// The guard is lowered now.
    Lowered,
}

/// One guard of one sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guard {
    raised: bool,
    /// Since when the figure is where it would turn the guard.
    since: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
}

impl Guard {
    /// Tells whether it is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised
    }

    /// Takes a sample. A clock that jumps, or stats that stayed away, start the time anew.
    pub fn check(&mut self, rule: &GuardRule, value: f64, at: DateTime<Utc>) -> Option<Turn> {
        let known = self.last.replace(at);
        let is_broken = known.is_some_and(|last| at < last || at - last > SILENCE);
        if is_broken || !self.would_turn(rule, value) {
            self.since = None;
        }
        if !self.would_turn(rule, value) {
            return None;
        }
        let since = *self.since.get_or_insert(at);
        if at - since < self.patience(rule) {
            return None;
        }
        self.since = None;
        self.raised = !self.raised;
        Some(if self.raised {
            Turn::Raised
        } else {
            Turn::Lowered
        })
    }

    /// Raises it at once, or keeps it raised for longer.
    pub fn raise(&mut self, at: DateTime<Utc>) -> Option<Turn> {
        (self.last, self.since) = (Some(at), None);
        let was_raised = std::mem::replace(&mut self.raised, true);
        (!was_raised).then_some(Turn::Raised)
    }

    fn would_turn(&self, rule: &GuardRule, value: f64) -> bool {
        if self.raised {
            value < rule.level * WELL_BELOW
        } else {
            value >= rule.level
        }
    }

    fn patience(&self, rule: &GuardRule) -> TimeDelta {
        let time = TimeDelta::from_std(rule.time).unwrap_or(TimeDelta::MAX);
        if self.raised {
            time.min(LOWERING)
        } else {
            time
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: GuardRule = GuardRule {
        level: 90.0,
        time: Duration::from_secs(10),
    };

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + second, 0).unwrap_or_default()
    }

    /// Looks once a second and returns the turns with their seconds.
    fn turns(values: impl IntoIterator<Item = f64>) -> Vec<(i64, Turn)> {
        let mut guard = Guard::default();
        let looks = (0..).zip(values);
        let turn = |(second, value)| Some((second, guard.check(&RULE, value, at(second))?));
        looks.filter_map(turn).collect()
    }

    #[test]
    fn a_guard_is_raised_after_its_time_and_once() {
        assert_eq!(turns([95.0; 10]), []);
        assert_eq!(turns([95.0; 60]), [(10, Turn::Raised)]);
        assert_eq!(turns([89.9; 60]), []);
        let broken = [95.0; 9].into_iter().chain([10.0]).chain([95.0; 9]);
        assert_eq!(turns(broken), []);
    }

    #[test]
    fn a_figure_around_the_level_does_not_make_it_flutter() {
        let around = (0..300).map(|n| if n > 20 && n % 4 == 0 { 85.0 } else { 92.0 });
        assert_eq!(turns(around), [(10, Turn::Raised)]);
        let calm = [95.0; 12].into_iter().chain([20.0; 30]).chain([95.0; 30]);
        assert_eq!(
            turns(calm),
            [(10, Turn::Raised), (22, Turn::Lowered), (52, Turn::Raised)]
        );
    }

    #[test]
    fn a_clock_that_jumps_and_figures_that_stay_away_raise_nothing() {
        for jump in [3600, -3600, 31] {
            let mut guard = Guard::default();
            assert_eq!(guard.check(&RULE, 99.0, at(0)), None);
            assert_eq!(guard.check(&RULE, 99.0, at(jump)), None, "{jump}");
            assert_eq!(guard.check(&RULE, 99.0, at(jump + 9)), None);
            let raised = guard.check(&RULE, 99.0, at(jump + 10));
            assert_eq!(raised, Some(Turn::Raised));
            assert!(guard.is_raised());
        }
    }
}
