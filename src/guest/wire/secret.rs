//! What only the engine and the guest can say: the end mark of a stream, and last words that nobody else can make up.
//!
//! A program of the same user can read what another one prints, marks and last words with it, and can print there, too. So
//! last words carry a seal, and the mark tells nothing about what the seal is made with.

/// What an engine and one run of the guest share; 32 hexadecimal digits.
#[derive(Clone)]
pub struct Secret {
    keys: (u64, u64),
}

impl Secret {
    /// Digits of each half, and of a seal.
    const DIGITS: usize = 16;

    /// Reads it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let half = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
        let first = half(text.get(..Self::DIGITS))?;
        let second = half(text.get(Self::DIGITS..))?;
        Some(Self {
            keys: (first, second),
        })
    }

    /// Makes the bytes that end a stream.
    ///
    /// They start with the two bytes that are rarest in text and programs, and not the same one twice: the search for them skips
    /// everything else at full speed, also endless zeros.
    #[must_use]
    pub fn mark(&self) -> Vec<u8> {
        let (one, two) = (self.hash(b"mark 1"), self.hash(b"mark 2"));
        format!("\x1e\x1fsandtop-end:{one:016x}{two:016x}\0").into_bytes()
    }

    /// Puts the seal before last words, which are one line.
    #[must_use]
    pub fn seal(&self, words: &str) -> String {
        format!("{:016x} {words}", self.hash_words(words.as_bytes()))
    }

    /// Takes the seal off a line, if it is the right one.
    #[must_use]
    pub fn open<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let (seal, rest) = line.split_at_checked(Self::DIGITS)?;
        let words = rest.strip_prefix(b" ")?;
        let expected = format!("{:016x}", self.hash_words(words));
        (seal == expected.as_bytes()).then_some(words)
    }

    fn hash_words(&self, words: &[u8]) -> u64 {
        self.hash(&[b"last words: ", words].concat())
    }

    /// The keyed hash of the standard library, which is made to tell who wrote something; it is deprecated for tables, where
    /// others serve better, and the guest has no other library.
    #[allow(deprecated)]
    fn hash(&self, text: &[u8]) -> u64 {
        use std::hash::{Hasher, SipHasher};
        let mut hasher = SipHasher::new_with_keys(self.keys.0, self.keys.1);
        hasher.write(text);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(last: char) -> Secret {
        let text = "0123456789abcdef0123456789abcde".to_owned() + &last.to_string();
        Secret::parse(&text).expect("a secret")
    }

    #[test]
    fn marks_differ_by_their_secret_hold_no_line_end_and_do_not_tell_it() {
        let mark = secret('1').mark();
        assert_ne!(mark, secret('2').mark());
        assert!(!mark.contains(&b'\n'));
        let text = String::from_utf8(mark).expect("text");
        assert!(!text.contains("0123456789abcdef"), "{text}");
    }

    #[test]
    fn a_seal_opens_for_its_secret_and_its_words_only() {
        let sealed = secret('1').seal("cause=exit code=0");
        let opened = secret('1').open(sealed.as_bytes());
        assert_eq!(opened, Some(&b"cause=exit code=0"[..]));
        assert_eq!(secret('2').open(sealed.as_bytes()), None);
        let other = sealed.replace("code=0", "code=1");
        assert_eq!(secret('1').open(other.as_bytes()), None);
        for line in [
            "",
            "cause=exit code=0",
            "0000000000000000 cause=exit code=0",
        ] {
            assert_eq!(secret('1').open(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn what_is_no_secret_is_none() {
        for text in [
            "",
            "0123",
            "0123456789abcdef",
            "0123456789abcdef0123456789abcdeg",
        ] {
            assert!(Secret::parse(text).is_none(), "{text}");
        }
    }
}
