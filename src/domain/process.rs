//! A process of a sandbox at one moment.

use std::time::Duration;

/// One process, as seen from inside its sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number in the sandbox.
    pub pid: u32,
    /// The number of the one that started it.
    pub parent: u32,
    /// Whose it is: a name if the sandbox knows one, else a number.
    pub user: String,
    /// The kernel's letter: `R`unning, `S`leeping, `D`isk, `T` stopped, `Z`ombie.
    pub state: char,
    /// Processor time it has used.
    pub cpu_time: Duration,
    /// Memory it holds.
    pub memory_bytes: u64,
    /// How long it has lived.
    pub age: Duration,
    /// Its command line; of any content.
    pub command: String,
}

impl Process {
    /// Returns its processor use over its whole life, as `ps` does; 100 is one core.
    #[must_use]
    pub fn cpu_percent(&self) -> f64 {
        percent(self.cpu_time, self.age)
    }

    /// Returns its processor use since an earlier look at the same process; a reused number counts from its start.
    #[must_use]
    pub fn cpu_percent_since(&self, before: &Self) -> f64 {
        match self.age.checked_sub(before.age) {
            Some(passed) if !passed.is_zero() => {
                percent(self.cpu_time.saturating_sub(before.cpu_time), passed)
            }
            _ => self.cpu_percent(),
        }
    }
}

fn percent(used: Duration, passed: Duration) -> f64 {
    if passed.is_zero() {
        return 0.0;
    }
    used.as_secs_f64() / passed.as_secs_f64() * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(cpu_ms: u64, age_ms: u64) -> Process {
        Process {
            pid: 7,
            parent: 1,
            user: "nobody".into(),
            state: 'R',
            cpu_time: Duration::from_millis(cpu_ms),
            memory_bytes: 0,
            age: Duration::from_millis(age_ms),
            command: "x".into(),
        }
    }

    #[test]
    fn use_is_counted_over_the_life_or_since_a_look() {
        assert!((process(500, 2_000).cpu_percent() - 25.0).abs() < 1e-9);
        let later = process(1_500, 3_000);
        assert!((later.cpu_percent_since(&process(500, 2_000)) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_reused_number_and_a_new_process_make_no_nonsense() {
        assert!((process(10, 100).cpu_percent_since(&process(900, 5_000)) - 10.0).abs() < 1e-9);
        assert!(process(10, 0).cpu_percent().abs() < 1e-9);
    }
}
