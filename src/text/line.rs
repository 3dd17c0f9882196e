//! Shows foreign names, paths and messages in one line, with nothing in them dropped.

use std::ascii;

use super::hidden::{is_joiner, push_mark, push_visible};

/// Makes a name, path or message fit for one line, with all that is odd in it shown, not dropped.
///
/// Two names that differ in a control character, an escape sequence or a broken byte look different.
pub fn safe_line(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut line = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| show_char(c, &mut line));
        chunk
            .invalid()
            .iter()
            .for_each(|&byte| show_byte(byte, &mut line));
    }
    line
}

fn show_char(c: char, line: &mut String) {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii_control() => show_byte(byte, line),
        _ if c.is_control() => line.extend(c.escape_unicode()),
        _ if is_joiner(c) && !can_join(line) => push_mark(c, line),
        _ => push_visible(c, line),
    }
}

fn show_byte(byte: u8, line: &mut String) {
    line.extend(ascii::escape_default(byte).map(char::from));
}

/// Tells whether a joiner after this text may be an emoji's or an ideograph's; after a letter it
/// would only make two names look alike.
fn can_join(line: &str) -> bool {
    line.chars().next_back().is_some_and(|c| c >= '\u{2000}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_is_odd() {
        let cases: &[(&[u8], &str)] = &[
            (b"plain name", "plain name"),
            (b"a\nb\rc\td", "a\\nb\\rc\\td"),
            (b"\x1b[31mred", "\\x1b[31mred"),
            (b"\0\x07\x7f", "\\x00\\x07\\x7f"),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            (b"C:\\dir", "C:\\dir"),
            (
                "a\u{202e}b\u{200b}\u{2028}".as_bytes(),
                "a<U+202E>b<U+200B><U+2028>",
            ),
            (b"\xff\xe2\x82x", "\\xff\\xe2\\x82x"),
            ("größe 漢字".as_bytes(), "größe 漢字"),
            (b"", ""),
        ];
        for (bytes, expected) in cases {
            assert_eq!(&safe_line(bytes), expected);
        }
    }

    #[test]
    fn keeps_joiners_only_where_they_join() {
        let emoji = "👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥";
        assert_eq!(safe_line(emoji), emoji);
        assert_eq!(safe_line("ad\u{200d}min\u{fe0f}"), "ad<U+200D>min<U+FE0F>");
    }

    #[test]
    fn never_holds_a_control_character() {
        let mut seed: u64 = 5;
        for round in 0..20_000 {
            let bytes: Vec<u8> = (0..round % 60)
                .flat_map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let [.., low, _, high] = seed.to_le_bytes();
                    // Every other piece is a C0 or C1 control.
                    match high % 4 {
                        0 => vec![low % 0x20],
                        1 => vec![0xc2, 0x80 + low % 0x20],
                        _ => vec![low],
                    }
                })
                .collect();
            let line = safe_line(&bytes);
            assert!(
                !line.chars().any(char::is_control),
                "{bytes:?} gave {line:?}"
            );
        }
    }
}
