//! From byte offsets to lines and columns, with the collection of findings that needs them.

use super::finding::{Finding, Severity};

/// More findings than anyone reads; hostile code could bring millions.
const MOST_FINDINGS: usize = 200;

/// Gathers findings of one source.
pub(super) struct Findings<'a> {
    source: &'a str,
    starts: Vec<usize>,
    found: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', source.as_bytes()).map(|at| at + 1);
        Self {
            source,
            starts: std::iter::once(0).chain(breaks).collect(),
            found: Vec::new(),
        }
    }

    /// Adds one; the same rule is told once per line, and only so many in all.
    pub(super) fn add(
        &mut self,
        rule: &'static str,
        severity: Severity,
        at: usize,
        message: impl Into<String>,
    ) {
        if self.found.len() >= MOST_FINDINGS {
            return;
        }
        let (line, column) = self.place(at);
        let told = |known: &Finding| known.rule == rule && known.line == line;
        if self.found.iter().any(told) {
            return;
        }
        self.found.push(Finding {
            rule,
            severity,
            line,
            column,
            message: message.into(),
        });
    }

    /// Tells line and column of an offset, both from 1.
    fn place(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.source.get(start..at).unwrap_or_default();
        // A line can be megabytes long; nobody counts columns there.
        let column = if before.len() > 4096 {
            before.len()
        } else {
            before.chars().count()
        };
        (line, column + 1)
    }

    /// Returns them, first lines first.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.found
            .sort_by(|a, b| (a.line, a.column, a.rule).cmp(&(b.line, b.column, b.rule)));
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_become_lines_and_columns() {
        let mut findings = Findings::new("ab\n\u{e4}x\n");
        findings.add("b", Severity::Info, 5, "");
        findings.add("a", Severity::Info, 0, "");
        findings.add("a", Severity::Info, 1, "the same line");
        let places: Vec<_> = findings
            .finish()
            .into_iter()
            .map(|f| (f.rule, f.line, f.column))
            .collect();
        assert_eq!(places, [("a", 1, 1), ("b", 2, 2)]);
    }
}
