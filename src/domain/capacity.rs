//! What a host has, what its sandboxes may take of it, what they take now, and how many more fit.

use super::Limits;

/// Memory and processors.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amount {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Processors.
    pub cpus: f64,
}

/// One live sandbox in the sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// What it may take; what has no limit counts by what it takes.
    pub limits: Limits,
    /// What it takes now.
    pub used: Amount,
}

/// The sum of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// What there is.
    pub total: Amount,
    /// What live sandboxes may take together.
    pub committed: Amount,
    /// What they take now.
    pub used: Amount,
    /// How many more fit without promising more than there is.
    pub room: u64,
}

impl Capacity {
    /// Sums up; `next` is what one more would get, `places` how many more are allowed.
    #[must_use]
    pub fn of(
        total: Amount,
        shares: impl Iterator<Item = Share>,
        next: &Limits,
        places: usize,
    ) -> Self {
        let (mut committed, mut used) = (Amount::default(), Amount::default());
        for share in shares {
            let memory = share.limits.memory_bytes;
            committed.memory_bytes += memory.unwrap_or(share.used.memory_bytes);
            committed.cpus += share.limits.cpus.unwrap_or(share.used.cpus);
            used.memory_bytes += share.used.memory_bytes;
            used.cpus += share.used.cpus;
        }
        let left = Amount {
            memory_bytes: total.memory_bytes.saturating_sub(committed.memory_bytes),
            cpus: (total.cpus - committed.cpus).max(0.0),
        };
        Self {
            total,
            committed,
            used,
            room: fits(left, next).min(places as u64),
        }
    }
}

/// Counts how often limits fit; what has no limit takes no room that could be counted.
fn fits(left: Amount, next: &Limits) -> u64 {
    let memory = next.memory_bytes.filter(|bytes| *bytes > 0);
    let by_memory = memory.map_or(u64::MAX, |bytes| left.memory_bytes / bytes);
    let cpus = next.cpus.filter(|cpus| *cpus > 0.0);
    // A hair more than what is left, so that 0.3 fits three times into 0.9.
    let by_cpu = cpus.map_or(u64::MAX, |cpus| whole(left.cpus / cpus + 1e-9));
    by_memory.min(by_cpu)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It is neither negative nor near the limit.
fn whole(count: f64) -> u64 {
    count.clamp(0.0, 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn limits(memory_bytes: Option<u64>, cpus: Option<f64>) -> Limits {
        Limits {
            memory_bytes,
            cpus,
            pids: None,
            timeout_s: None,
        }
    }

    fn room(shares: &[Share], next: &Limits, places: usize) -> u64 {
        let total = Amount {
            memory_bytes: 8 * GIB,
            cpus: 4.0,
        };
        Capacity::of(total, shares.iter().copied(), next, places).room
    }

    #[test]
    fn no_more_is_promised_than_there_is() {
        let one = Share {
            limits: limits(Some(GIB), Some(1.0)),
            used: Amount {
                memory_bytes: GIB / 4,
                cpus: 0.1,
            },
        };
        let next = limits(Some(GIB), Some(1.0));
        assert_eq!(room(&[], &next, 100), 4, "processors are scarce");
        assert_eq!(room(&[one; 3], &next, 100), 1);
        assert_eq!(room(&[one; 9], &next, 100), 0);
        assert_eq!(room(&[one], &next, 2), 2, "places are scarce");
        let big = limits(Some(3 * GIB), Some(0.3));
        assert_eq!(room(&[], &big, 100), 2, "memory is scarce");
        assert_eq!(room(&[], &limits(None, Some(0.4)), 100), 10);
    }

    #[test]
    fn what_has_no_limit_counts_by_what_it_takes() {
        let free = Share {
            limits: limits(None, None),
            used: Amount {
                memory_bytes: 6 * GIB,
                cpus: 2.0,
            },
        };
        assert_eq!(room(&[free], &limits(Some(GIB), Some(0.1)), 100), 2);
    }
}
