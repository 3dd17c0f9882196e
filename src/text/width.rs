//! Measures text in terminal columns and fits it into them.
//!
//! Text is cut between clusters only: a base character with its marks, a joined emoji, a flag.

use std::borrow::Cow;
use std::cmp::Ordering;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ELLIPSIS: char = '…';
const JOINER: char = '\u{200d}';

/// Returns the number of columns a text takes.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Shortens a text to at most `width` columns, with `…` at the end when something was cut.
#[must_use]
pub fn truncate(text: &str, width: usize) -> Cow<'_, str> {
    // No character takes more columns than bytes.
    if text.len() <= width {
        return Cow::Borrowed(text);
    }
    let Some(kept) = find_cut(text, width) else {
        return Cow::Borrowed(text);
    };
    if width == 0 {
        return Cow::Borrowed("");
    }
    Cow::Owned(format!("{kept}{ELLIPSIS}"))
}

/// Cuts or fills a text with spaces on the right to exactly `width` columns.
#[must_use]
pub fn pad(text: &str, width: usize) -> String {
    let fitted = truncate(text, width);
    let fill = missing(&fitted, width);
    fitted.into_owned() + &fill
}

/// Cuts or fills a text with spaces on the left to exactly `width` columns.
#[must_use]
pub fn pad_left(text: &str, width: usize) -> String {
    let fitted = truncate(text, width);
    missing(&fitted, width) + &fitted
}

/// Returns the spaces that a text lacks; not by a format width, since those panic above 65535.
fn missing(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(display_width(text)))
}

/// Returns the start to keep before an ellipsis, or nothing when the whole text fits.
///
/// Reads no more of the text than fits, since a line may be very long.
fn find_cut(text: &str, width: usize) -> Option<&str> {
    let (mut rest, mut used, mut kept) = (text, 0, "");
    while let Some((cluster, after)) = split_cluster(rest) {
        let start = text.get(..text.len() - after.len())?;
        used += display_width(cluster);
        // Some scripts join clusters, so that the whole takes less room than its parts.
        if used > width {
            used = display_width(start);
        }
        match used.cmp(&width) {
            Ordering::Less => kept = start,
            Ordering::Equal => (),
            Ordering::Greater => return Some(kept),
        }
        rest = after;
    }
    None
}

/// Splits off the first cluster.
pub(crate) fn split_cluster(text: &str) -> Option<(&str, &str)> {
    let mut chars = text.char_indices();
    let (_, mut last) = chars.next()?;
    let mut may_pair = true;
    let end = chars.find_map(|(at, c)| {
        let is_pair = may_pair && is_regional(last) && is_regional(c);
        let goes_on = is_pair || is_extension(c) || last == JOINER;
        (may_pair, last) = (false, c);
        (!goes_on).then_some(at)
    });
    text.split_at_checked(end.unwrap_or(text.len()))
}

/// Tells whether a character always belongs to the one before it: marks, joiners, skin tones.
fn is_extension(c: char) -> bool {
    c.width() == Some(0) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: &str = "👩\u{200d}👧\u{200d}👦";

    #[test]
    fn measures_columns() {
        let cases = [
            ("", 0),
            ("abc", 3),
            ("漢字", 4),
            ("e\u{301}", 1),
            ("🙂", 2),
            (FAMILY, 2),
            ("❤\u{fe0f}", 2),
            ("🇩🇪", 2),
            ("👍🏽", 2),
        ];
        for (text, width) in cases {
            assert_eq!(display_width(text), width, "{text:?}");
        }
    }

    #[test]
    fn truncates_between_clusters() {
        let family = format!("{FAMILY}xyz");
        let family_cut = format!("{FAMILY}…");
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("abcd", 1, "…"),
            ("abcd", 0, ""),
            ("", 0, ""),
            ("漢字", 4, "漢字"),
            ("漢字", 3, "漢…"),
            ("漢字", 2, "…"),
            ("ae\u{301}\u{302}xyz", 3, "ae\u{301}\u{302}…"),
            ("ae\u{301}\u{302}xyz", 2, "a…"),
            (&family, 5, &family),
            (&family, 3, &family_cut),
            (&family, 2, "…"),
            ("🇩🇪🇫🇷🇮🇹", 4, "🇩🇪…"),
            ("👍🏽👍🏽", 3, "👍🏽…"),
            ("لالا", 2, "لالا"),
            ("ក\u{17d2}មក\u{17d2}ម", 2, "ក\u{17d2}មក\u{17d2}ម"),
        ];
        for (text, width, expected) in cases {
            assert_eq!(truncate(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn pads_on_either_side() {
        assert_eq!(pad("漢", 4), "漢  ");
        assert_eq!(pad("漢字", 3), "漢…");
        assert_eq!(pad("漢字漢", 4), "漢… ");
        assert_eq!(pad_left("7", 3), "  7");
        assert_eq!(pad_left("12345", 3), "12…");
        assert_eq!(pad_left("", 0), "");
        assert_eq!(pad_left("x", 70_000).len(), 70_000);
    }

    #[test]
    fn padding_is_always_exact() {
        let palette: Vec<char> =
            "ab 漢🙂é\u{301}\u{200d}\u{fe0f}👩🏽🇩🇪❤لاञ\u{94d}한ᄀ\u{1161}…#\u{20e3}ក\u{17d2}ម"
                .chars()
                .collect();
        let mut seed: u64 = 7;
        for round in 0..20_000 {
            let text: String = (0..round % 12)
                .filter_map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    palette.get(usize::try_from(seed >> 33).ok()? % palette.len())
                })
                .collect();
            for width in 0..10 {
                assert_eq!(display_width(&pad(&text, width)), width, "{text:?}");
                assert_eq!(display_width(&pad_left(&text, width)), width, "{text:?}");
            }
        }
    }
}
