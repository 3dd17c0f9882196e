//! Patterns in which `*` stands for anything and `?` for one character.

/// Tells whether a whole text fits a pattern.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    fits_rest(&pattern, &text)
}

/// Goes through both once; a star that took too little takes one more.
fn fits_rest(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(n) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == c => (p, n) = (p + 1, n + 1),
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        let cases = [
            ("sandbox_*", "sandbox_abcd1234", true),
            ("sandbox_*", "my_sandbox_1", false),
            ("*", "", true),
            ("**", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("plain", "plain", true),
            ("plain", "plainer", false),
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("data-?.csv", "data-12.csv", false),
            ("*a*b*", "xxaxxaxbx", true),
            ("*a*b*", "xxbxxa", false),
            ("gr?ße", "größe", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
