//! Writes sizes, shares and times for people.

use std::time::Duration;

pub use super::size::{exact_bytes, parse_bytes};

const KIB: u64 = 1024;
const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
const TWO_WEEKS: u64 = 2 * WEEK;

/// Writes a size with binary units, such as `1.5 KiB` or `512 MiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    if count < KIB {
        return format!("{count} B");
    }
    let mut unit = u128::from(KIB);
    let mut names = UNITS.iter();
    let mut name = names.next();
    // From 1023.5 on the rounded number would read 1024.
    while tenths(count, unit) >= 10_235 && names.len() > 0 {
        unit *= u128::from(KIB);
        name = names.next();
    }
    let is_whole = unit > u128::from(KIB) && u128::from(count) % unit == 0;
    let number = decimal(tenths(count, unit), is_whole);
    format!("{number} {}", name.unwrap_or(&""))
}

/// Writes a number with its thousands apart, such as `1 234`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Writes a share in percent, such as `12.3%` or `187%`.
#[must_use]
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    // The larger of both, since a tiny negative would print as -0.0.
    let value = value.max(0.0);
    if value < 99.95 {
        format!("{value:.1}%")
    } else {
        format!("{value:.0}%")
    }
}

/// Writes a span of time with at most two units, such as `1.2 s` or `2 h 05 m`.
#[must_use]
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.subsec_millis()),
        1..MINUTE => format!("{seconds}.{} s", span.subsec_millis() / 100),
        MINUTE..HOUR => format!("{} m {:02} s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{} h {:02} m", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{} d {} h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// Writes an age as short as a column needs it, such as `5s`, `12m` or `2w`.
#[must_use]
pub fn age(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        // Ten days would lose too much as a number of weeks.
        DAY..TWO_WEEKS => format!("{}d", seconds / DAY),
        _ => format!("{}w", seconds / WEEK),
    }
}

/// Writes permission bits as `ls` does, such as `rw-r--r--`.
#[must_use]
pub fn permissions(mode: u32) -> String {
    let letters = "rwxrwxrwx".chars();
    let bits = (0..9).rev().map(|bit| mode & (1 << bit) != 0);
    letters
        .zip(bits)
        .map(|(letter, is_set)| if is_set { letter } else { '-' })
        .collect()
}

/// Returns a size in tenths of a unit, rounded.
fn tenths(count: u64, unit: u128) -> u128 {
    (u128::from(count) * 10 + unit / 2) / unit
}

/// Writes tenths with about three digits.
fn decimal(tenths: u128, is_whole: bool) -> String {
    if is_whole || tenths >= 1000 {
        return ((tenths + 5) / 10).to_string();
    }
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = KIB * KIB;
    const GIB: u64 = KIB * MIB;

    #[test]
    fn writes_sizes() {
        let cases = [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (100 * KIB, "100 KiB"),
            (MIB - 1, "1.0 MiB"),
            (MIB, "1 MiB"),
            (3 * MIB / 2, "1.5 MiB"),
            (512 * MIB, "512 MiB"),
            (1023 * MIB + 400 * KIB, "1023 MiB"),
            (1023 * MIB + 600 * KIB, "1.0 GiB"),
            (GIB - 1, "1.0 GiB"),
            (GIB, "1 GiB"),
            (GIB + MIB, "1.0 GiB"),
            (12 * GIB + 300 * MIB, "12.3 GiB"),
            (1024 * GIB, "1 TiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (count, expected) in cases {
            assert_eq!(bytes(count), expected, "{count}");
        }
    }

    #[test]
    fn writes_counts() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_234, "1 234"),
            (1_000_000, "1 000 000"),
        ];
        for (number, expected) in cases {
            assert_eq!(count(number), expected);
        }
    }

    #[test]
    fn writes_shares() {
        let cases = [
            (0.0, "0.0%"),
            (-0.01, "0.0%"),
            (12.34, "12.3%"),
            (99.94, "99.9%"),
            (99.96, "100%"),
            (187.4, "187%"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ];
        for (value, expected) in cases {
            assert_eq!(percent(value), expected, "{value}");
        }
    }

    #[test]
    fn writes_times() {
        let cases = [
            (0, "0 ms"),
            (12, "12 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (59_999, "59.9 s"),
            (184_000, "3 m 04 s"),
            (7_500_000, "2 h 05 m"),
            (273_600_000, "3 d 4 h"),
        ];
        for (millis, expected) in cases {
            assert_eq!(
                duration(Duration::from_millis(millis)),
                expected,
                "{millis}"
            );
        }
    }

    #[test]
    fn writes_ages() {
        let cases = [
            (5, "5s"),
            (60, "1m"),
            (12 * MINUTE + 59, "12m"),
            (3 * HOUR, "3h"),
            (4 * DAY, "4d"),
            (13 * DAY, "13d"),
            (TWO_WEEKS, "2w"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(age(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn permissions_read_like_ls() {
        assert_eq!(permissions(0o644), "rw-r--r--");
        assert_eq!(permissions(0o1777), "rwxrwxrwx");
    }
}
