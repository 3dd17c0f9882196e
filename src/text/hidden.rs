//! Names the characters that change how text looks without being seen, and gives them a visible mark.

use std::fmt::Write;

/// Appends a character that is not a control, or its mark such as `<U+202E>` when it is hidden.
pub(super) fn push_visible(c: char, out: &mut String) {
    if is_hidden(c) {
        push_mark(c, out);
    } else {
        out.push(c);
    }
}

/// Appends the mark of a character.
pub(super) fn push_mark(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "<U+{:04X}>", u32::from(c));
}

/// Tells whether a terminal could obey a character or hide something with it, newlines and the like included.
#[must_use]
pub fn is_treacherous(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

/// Tells whether a character reorders text, takes no room or breaks lines behind the reader's back.
pub(super) fn is_hidden(c: char) -> bool {
    // Nearly all text ends the test here: Latin with its accents, or the scripts of East Asia.
    c >= '\u{ad}' && !matches!(c, '\u{ae}'..='\u{61b}' | '\u{3165}'..='\u{fefe}') && is_odd(c)
}

fn is_odd(c: char) -> bool {
    is_bidi(c) || is_blank(c)
}

/// Tells whether a character only glues its neighbours together, as emoji and variants need it.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_bidi(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' // soft hyphen
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}' | '\u{200c}'
            | '\u{2028}' | '\u{2029}' // line and paragraph separators
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' // interlinear annotation
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // shorthand, music
            | '\u{e0000}'..='\u{e007f}' // tags
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(c: char) -> String {
        let mut out = String::new();
        push_visible(c, &mut out);
        out
    }

    #[test]
    fn marks_hidden_characters() {
        let cases = [
            ('\u{ad}', "<U+00AD>"),
            ('\u{61c}', "<U+061C>"),
            ('\u{200b}', "<U+200B>"),
            ('\u{200c}', "<U+200C>"),
            ('\u{200e}', "<U+200E>"),
            ('\u{2028}', "<U+2028>"),
            ('\u{2029}', "<U+2029>"),
            ('\u{202a}', "<U+202A>"),
            ('\u{202e}', "<U+202E>"),
            ('\u{2060}', "<U+2060>"),
            ('\u{2069}', "<U+2069>"),
            ('\u{feff}', "<U+FEFF>"),
            ('\u{fffa}', "<U+FFFA>"),
            ('\u{e0001}', "<U+E0001>"),
            ('\u{e007f}', "<U+E007F>"),
        ];
        for (c, mark) in cases {
            assert_eq!(visible(c), mark);
        }
    }

    #[test]
    fn the_short_test_hides_nothing() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_hidden(c), is_odd(c), "{c:?}");
        }
    }

    #[test]
    fn keeps_letters_and_joiners() {
        for c in "aé漢🙂\u{301}\u{a0}\u{200d}\u{fe0f}\u{fffd}".chars() {
            assert_eq!(visible(c), c.to_string());
        }
    }
}
