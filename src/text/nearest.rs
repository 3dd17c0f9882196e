//! Finds what the user may have meant by a word that is not known.

/// Returns the candidate closest to a word, if any is close enough to be a slip of the fingers.
///
/// Letter case does not count; of equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    let limit = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (letters(candidate), candidate))
        .filter(|(other, _)| other.len().abs_diff(word.len()) <= limit)
        .map(|(other, candidate)| (distance(&word, &other), candidate))
        // A word with no letter left in place says nothing.
        .filter(|&(far, _)| far <= limit && (far == 0 || far < word.len()))
        .min_by_key(|&(far, _)| far)
        .map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// Counts the letters to add, drop, replace or swap with their neighbour (Damerau and Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = cell(&above, Some(j)) + usize::from(x != y);
            let moved = cell(&above, Some(j + 1)).min(cell(&row, Some(j))) + 1;
            let is_swap = before(a, i) == Some(y) && before(b, j) == Some(x);
            let swapped = cell(&two_above, j.checked_sub(1).filter(|_| is_swap)) + 1;
            row.push(replaced.min(moved).min(swapped));
        }
        two_above = std::mem::replace(&mut above, row);
    }
    cell(&above, Some(b.len()))
}

/// Returns a cell of a row, or more than any distance where there is none.
fn cell(row: &[usize], at: Option<usize>) -> usize {
    let found = at.and_then(|at| row.get(at));
    found.copied().unwrap_or(usize::MAX / 2)
}

fn before(word: &[char], at: usize) -> Option<&char> {
    word.get(at.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        let cases = [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("abc", "bac", 1),
            ("abcd", "badc", 2),
            ("kitten", "sitting", 3),
            ("größe", "grösse", 2),
        ];
        for (a, b, expected) in cases {
            assert_eq!(distance(&letters(a), &letters(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn suggests_only_what_is_close() {
        let names = ["create", "exec", "ls", "logs", "pause", "rm", "stop"];
        let cases = [
            ("creat", Some("create")),
            ("craete", Some("create")),
            ("EXCE", Some("exec")),
            ("log", Some("logs")),
            ("sotp", Some("stop")),
            ("rn", Some("rm")),
            ("x", None),
            ("", None),
            ("kubernetes", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, names), expected, "{word}");
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        assert_eq!(nearest("cat", ["bat", "cut"]), Some("bat"));
        assert_eq!(nearest("cut", ["bat", "CUT"]), Some("CUT"));
        assert_eq!(nearest("cat", []), None);
    }
}
