//! Reads sizes as people write them.

use super::line::safe_line;

const KIB: u64 = 1024;

/// The most digits after the point that count; more cannot change a size of 64 bits.
const FRACTION_DIGITS: usize = 18;

/// Writes a size exactly, in the largest unit that allows it; [`parse_bytes`] reads it.
#[must_use]
pub fn exact_bytes(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let fitting = units
        .into_iter()
        .find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    match fitting {
        Some((unit, letter)) => format!("{}{letter}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Reads a size such as `512m`, `1.5g` or `64 KiB`; all units are binary, as in Docker.
///
/// # Errors
///
/// Returns a sentence for the user when the text is no size or does not fit into 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let size = parse_size(text.trim()).ok_or_else(|| {
        let shown = safe_line(text);
        format!("`{shown}` is not a size; use a number with k, m or g, such as 512m")
    })?;
    u64::try_from(size).map_err(|_| format!("`{}` is too large for a size", safe_line(text)))
}

fn parse_size(text: &str) -> Option<u128> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let unit_at = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at)?;
    scale(number, multiple(unit.trim_start())?)
}

/// Returns how many bytes a unit stands for.
fn multiple(unit: &str) -> Option<u128> {
    let power = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        "p" | "pb" | "pib" => 5,
        _ => return None,
    };
    Some(u128::from(KIB).pow(power))
}

/// Multiplies a decimal number, with whole arithmetic so that no digit is lost.
fn scale(number: &str, multiple: u128) -> Option<u128> {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (number, "0"),
    };
    // Also rejects a second point.
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    let parts: u128 = digits.parse().ok()?;
    let divisor = 10_u128.pow(u32::try_from(digits.len()).ok()?);
    // Numbers beyond 128 bits saturate, which the caller reports as too large.
    let whole = parse_whole(whole)?.saturating_mul(multiple);
    Some(whole.saturating_add(parts * multiple / divisor))
}

fn parse_whole(digits: &str) -> Option<u128> {
    if digits.is_empty() {
        return None;
    }
    Some(digits.parse().unwrap_or(u128::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = KIB * KIB;
    const GIB: u64 = KIB * MIB;

    #[test]
    fn reads_sizes() {
        let cases = [
            ("0", 0),
            ("1024", 1024),
            ("64k", 64 * KIB),
            ("512m", 512 * MIB),
            ("512MiB", 512 * MIB),
            ("512 MB", 512 * MIB),
            (" 1G ", GIB),
            ("1.5g", 3 * GIB / 2),
            ("0.1k", 102),
            ("2t", 2048 * GIB),
            ("7b", 7),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn rejects_what_is_no_size() {
        let cases = [
            "", " ", "512x", "-1", "+1", "1..5g", "1.5.5g", "1.", ".5g", ".", "m", "NaN", "inf",
            "1e3", "1 2", "0x10", "１m",
        ];
        for text in cases {
            let hint = "is not a size; use a number with k, m or g, such as 512m";
            assert_eq!(parse_bytes(text), Err(format!("`{text}` {hint}")));
        }
        let too_large = [
            "18446744073709551616".to_owned(),
            "16384p".to_owned(),
            "9".repeat(60),
            format!("{}g", "9".repeat(60)),
        ];
        for text in too_large {
            let sentence = format!("`{text}` is too large for a size");
            assert_eq!(parse_bytes(&text), Err(sentence));
        }
    }
}
