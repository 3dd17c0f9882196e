//! The order in which people expect names: `a2` before `a10`, capitals among small letters.

use std::cmp::Ordering;

/// Compares two names of any bytes; only equal names are equal.
pub(super) fn natural(left: &[u8], right: &[u8]) -> Ordering {
    let (mut a, mut b) = (left, right);
    while let (Some((&first, a_rest)), Some((&second, b_rest))) = (a.split_first(), b.split_first())
    {
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (a_number, a_after) = split_number(a);
            let (b_number, b_after) = split_number(b);
            (a, b) = (a_after, b_after);
            compare_numbers(a_number, b_number)
        } else {
            (a, b) = (a_rest, b_rest);
            fold(first).cmp(&fold(second))
        };
        if order.is_ne() {
            return order;
        }
    }
    // What is left decides; then `A` and `a`, or `01` and `1`, need an order of their own.
    a.len().cmp(&b.len()).then_with(|| left.cmp(right))
}

fn fold(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, &[]))
}

/// Compares by value without reading the number, which may have any number of digits.
fn compare_numbers(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (without_zeros(left), without_zeros(right));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let start = digits.iter().position(|digit| *digit != b'0');
    start
        .and_then(|start| digits.get(start..))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_and_capitals_do_not() {
        let mut names: Vec<&[u8]> = vec![
            b"b", b"a10", b"A9", b"a2", b"a", b"a02", b"B1", b"", b"\xff", b"z",
        ];
        names.sort_by(|a, b| natural(a, b));
        let expected: Vec<&[u8]> = vec![
            b"", b"a", b"a02", b"a2", b"A9", b"a10", b"b", b"B1", b"z", b"\xff",
        ];
        assert_eq!(names, expected);
        let long = "9".repeat(500);
        assert!(natural(b"1", long.as_bytes()).is_lt());
    }

    #[test]
    fn it_is_an_order() {
        let mut seed: u64 = 3;
        let mut name = || -> Vec<u8> {
            (0..5)
                .filter_map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"aAb019.".get(usize::try_from(seed >> 33).ok()? % 8)
                })
                .copied()
                .collect()
        };
        for _ in 0..50_000 {
            let mut three = [name(), name(), name()];
            three.sort_by(|a, b| natural(a, b));
            let [a, b, c] = &three;
            assert!(natural(a, c).is_le(), "{three:?}");
            assert_eq!(natural(a, b), natural(b, a).reverse());
            assert_eq!(natural(a, b).is_eq(), a == b);
            assert_eq!(natural(b, c).is_eq(), b == c);
        }
    }
}
