//! A bar that shows how much of a limit is used.

/// Draws `ratio` of `width` cells.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)] // Bars are short.
pub(in crate::ui) fn meter(ratio: f64, width: usize) -> String {
    let filled = ((ratio.clamp(0.0, 1.0) * width as f64).round() as usize).min(width);
    format!("{}{}", "█".repeat(filled), "░".repeat(width - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_and_never_overflow() {
        assert_eq!(meter(0.5, 4), "██░░");
        assert_eq!(meter(7.0, 4), "████");
        assert_eq!(meter(-1.0, 2), "░░");
        assert_eq!(meter(f64::NAN, 2), "░░");
    }
}
