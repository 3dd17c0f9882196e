//! `echo` and `printf`.

use std::iter::Peekable;
use std::slice::Iter;

/// Returns what `echo` prints.
pub(super) fn echo(args: &[String]) -> Vec<u8> {
    match args {
        [flag, words @ ..] if flag == "-n" => words.join(" ").into_bytes(),
        words => format!("{}\n", words.join(" ")).into_bytes(),
    }
}

/// Returns what `printf` prints: escapes, `%s`, `%d` and `%%`, once over the format.
pub(super) fn printf(args: &[String]) -> Vec<u8> {
    let Some((format, args)) = args.split_first() else {
        return Vec::new();
    };
    let mut args = args.iter();
    let mut out = Vec::new();
    let mut rest = format.as_bytes().iter().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => escape(&mut rest, &mut out),
            b'%' => match rest.next() {
                Some(b's' | b'd') => out.extend(args.next().into_iter().flat_map(|a| a.bytes())),
                Some(b'%') => out.push(b'%'),
                other => out.extend([b'%'].into_iter().chain(other.copied())),
            },
            byte => out.push(*byte),
        }
    }
    out
}

fn escape(rest: &mut Peekable<Iter<'_, u8>>, out: &mut Vec<u8>) {
    match rest.peek() {
        Some(b'0'..=b'7') => out.push(octal(rest)),
        Some(letter) => {
            match letter {
                b'n' => out.push(b'\n'),
                b't' => out.push(b'\t'),
                b'r' => out.push(b'\r'),
                b'\\' => out.push(b'\\'),
                other => out.extend([b'\\', **other]),
            }
            rest.next();
        }
        None => out.push(b'\\'),
    }
}

/// Reads up to three octal digits.
fn octal(rest: &mut Peekable<Iter<'_, u8>>) -> u8 {
    let mut value: u8 = 0;
    for _ in 0..3 {
        let Some(digit) = rest.next_if(|b| (b'0'..=b'7').contains(b)) else {
            break;
        };
        value = value.wrapping_mul(8).wrapping_add(digit - b'0');
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(args: &[&str]) -> Vec<u8> {
        printf(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn escapes_give_any_byte() {
        assert_eq!(
            printed(&["a\\n\\t\\\\\\000\\377\\12x\\q\\"]),
            b"a\n\t\\\0\xff\nx\\q\\"
        );
        assert_eq!(printed(&["%s-%d%%%x", "a", "7"]), b"a-7%%x");
        assert_eq!(printed(&[]), b"");
    }
}
