//! A moment that survives clocks that jump: the wall's time, and the time that has passed since this machine started.

use chrono::{DateTime, Utc};
use rustix::time::{ClockId, clock_gettime};

/// When something was, by two clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// By the wall, which people set.
    pub wall: DateTime<Utc>,
    /// Which start of the machine the other clock counts from.
    pub boot: String,
    /// Milliseconds since then; sleep counts.
    pub since_boot_ms: i64,
}

impl Moment {
    /// Looks at both clocks.
    #[must_use]
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            wall: Utc::now(),
            boot: boot.trim().to_owned(),
            since_boot_ms: time.tv_sec * 1000 + time.tv_nsec / 1_000_000,
        }
    }

    /// Returns the same moment, moved to when something was by the wall's time; never into the future.
    #[must_use]
    pub fn back_to(&self, wall: DateTime<Utc>) -> Self {
        let ago = (self.wall - wall).num_milliseconds().max(0);
        Self {
            wall: self.wall.min(wall),
            boot: self.boot.clone(),
            since_boot_ms: self.since_boot_ms - ago,
        }
    }

    /// Tells whether this is later: by the steady clock if both are of one start of the machine, else by the wall's.
    #[must_use]
    pub fn is_after(&self, other: &Self) -> bool {
        if self.boot == other.boot {
            self.since_boot_ms > other.since_boot_ms
        } else {
            self.wall > other.wall
        }
    }

    /// Returns the milliseconds that have passed since an earlier moment.
    ///
    /// Within one start of the machine only the steady clock counts. Across a start nobody knows whether the wall's time
    /// was set meanwhile, so no more is believed than has passed since the machine started.
    #[must_use]
    pub fn ms_since(&self, earlier: &Self) -> i64 {
        if self.boot == earlier.boot {
            return (self.since_boot_ms - earlier.since_boot_ms).max(0);
        }
        let by_wall = (self.wall - earlier.wall).num_milliseconds();
        by_wall.clamp(0, self.since_boot_ms.max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(wall_s: i64, boot: &str, since_boot_s: i64) -> Moment {
        Moment {
            wall: DateTime::from_timestamp(wall_s, 0).expect("a time"),
            boot: boot.to_owned(),
            since_boot_ms: since_boot_s * 1000,
        }
    }

    #[test]
    fn a_wall_clock_that_jumps_changes_nothing() {
        let used = moment(1_000, "a", 10);
        assert_eq!(moment(1_000 + 7200, "a", 15).ms_since(&used), 5_000);
        assert_eq!(moment(1_000 - 7200, "a", 15).ms_since(&used), 5_000);
    }

    #[test]
    fn the_later_of_two_moments_is_told_by_the_clock_that_they_share() {
        let used = moment(1_000, "a", 10);
        assert!(moment(500, "a", 11).is_after(&used));
        assert!(!moment(2_000, "a", 10).is_after(&used));
        assert!(moment(1_001, "b", 1).is_after(&used));
        assert!(!moment(999, "b", 99).is_after(&used));
    }

    #[test]
    fn after_a_restart_no_more_is_believed_than_has_passed_since() {
        let used = moment(1_000, "a", 10_000);
        assert_eq!(moment(1_060, "b", 20).ms_since(&used), 20_000);
        assert_eq!(moment(1_005, "b", 20).ms_since(&used), 5_000);
        assert_eq!(moment(500, "b", 20).ms_since(&used), 0);
    }

    #[test]
    fn the_clock_of_this_machine_goes_forward() {
        let first = Moment::now();
        assert!(!first.boot.is_empty() && first.since_boot_ms > 0);
        assert!(Moment::now().ms_since(&first) >= 0);
        let earlier = first.back_to(first.wall - chrono::TimeDelta::seconds(3));
        assert_eq!(first.ms_since(&earlier), 3_000);
    }
}
