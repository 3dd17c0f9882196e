//! Finds a text in lines; capitals in it make case count.

use std::ops::Range;

use memchr::memchr2_iter;

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    needle: String,
    /// The needle in small letters, when case does not count.
    folded: Option<Vec<char>>,
}

impl Search {
    /// Prepares a search; an empty text finds nothing and gives none.
    #[must_use]
    pub fn new(needle: &str) -> Option<Self> {
        let is_exact = needle.chars().any(char::is_uppercase);
        (!needle.is_empty()).then(|| Self {
            needle: needle.to_owned(),
            folded: (!is_exact).then(|| needle.chars().map(fold).collect()),
        })
    }

    /// Returns the text that is looked for.
    #[must_use]
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// Tells whether a line holds the text.
    #[must_use]
    pub fn is_in(&self, line: &str) -> bool {
        self.find(line).is_some()
    }

    /// Returns where the text stands in a line, as ranges of bytes that do not overlap.
    #[must_use]
    pub fn ranges(&self, line: &str) -> Vec<Range<usize>> {
        let (mut found, mut start) = (Vec::new(), 0);
        while let Some(range) = line.get(start..).and_then(|rest| self.find(rest)) {
            found.push(start + range.start..start + range.end);
            start += range.end;
        }
        found
    }

    fn find(&self, line: &str) -> Option<Range<usize>> {
        let Some(folded) = &self.folded else {
            let start = line.find(&self.needle)?;
            return Some(start..start + self.needle.len());
        };
        // Outside ASCII, some capitals fold into ASCII, as the Kelvin sign does.
        if line.is_ascii() && self.needle.is_ascii() {
            return find_ascii(line.as_bytes(), self.needle.as_bytes());
        }
        find_folded(line, folded)
    }
}

fn find_ascii(line: &[u8], needle: &[u8]) -> Option<Range<usize>> {
    let first = needle.first()?;
    let upper = first.to_ascii_uppercase();
    memchr2_iter(first.to_ascii_lowercase(), upper, line)
        .map(|start| start..start + needle.len())
        .find(|range| {
            let candidate = line.get(range.clone());
            candidate.is_some_and(|text| text.eq_ignore_ascii_case(needle))
        })
}

fn find_folded(line: &str, needle: &[char]) -> Option<Range<usize>> {
    line.char_indices().find_map(|(start, _)| {
        let mut rest = line.get(start..)?.chars();
        let is_here = needle.iter().all(|&c| rest.next().map(fold) == Some(c));
        is_here.then(|| start..line.len() - rest.as_str().len())
    })
}

/// Makes a letter small; one for one, so that places in the text stay the same.
fn fold(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_all_places() {
        type Places = &'static [(usize, usize)];
        let cases: [(&str, &str, Places); 7] = [
            ("error", "Error: an ERROR", &[(0, 5), (10, 15)]),
            ("Error", "Error: an ERROR", &[(0, 5)]),
            ("aa", "aaaaa", &[(0, 2), (2, 4)]),
            ("é", "É é", &[(0, 2), (3, 5)]),
            ("k", "\u{212a}", &[(0, 3)]),
            ("x", "漢x", &[(3, 4)]),
            ("zz", "zaz", &[]),
        ];
        for (needle, line, expected) in cases {
            let ranges = Search::new(needle).map_or_else(Vec::new, |search| search.ranges(line));
            let ranges: Vec<_> = ranges.into_iter().map(|at| (at.start, at.end)).collect();
            assert_eq!(ranges, expected, "{needle} in {line}");
        }
        assert_eq!(Search::new(""), None);
    }
}
