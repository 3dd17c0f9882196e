//! The last moments of a figure as a row of small bars.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the last `width` values, each from 0 to 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Eight levels.
pub(in crate::ui) fn spark(values: impl DoubleEndedIterator<Item = f64>, width: usize) -> String {
    let level = |value: f64| {
        LEVELS
            .get((value.clamp(0.0, 1.0) * 7.0).round() as usize)
            .copied()
            .unwrap_or(' ')
    };
    let bars: Vec<char> = values.rev().take(width).map(level).collect();
    let missing = width - bars.len();
    std::iter::repeat_n(' ', missing)
        .chain(bars.into_iter().rev())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_value_is_on_the_right() {
        assert_eq!(spark([0.0, 1.0].into_iter(), 4), "  ▁█");
        assert_eq!(spark([0.0, 0.0, 1.0].into_iter(), 2), "▁█");
    }
}
