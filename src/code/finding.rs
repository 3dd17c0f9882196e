//! What a check finds, how bad it is, and what a profile's policy makes of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth a look before it runs.
    Warn,
    /// Destroys things where it can.
    Danger,
}

impl Severity {
    /// Returns the word used in JSON and on screen.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Danger => "danger",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The rule of a program that could not be read to its end.
pub const UNCHECKED: &str = "unchecked";

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// A sentence for people.
    pub message: String,
}

/// What a profile does with findings before code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Nothing is checked.
    Off,
    /// Findings are shown, and the code runs.
    #[default]
    Warn,
    /// A person is asked about dangers.
    Ask,
    /// Code with dangers does not run.
    Block,
}

impl Policy {
    /// All policies, for messages.
    pub const ALL: [Self; 4] = [Self::Off, Self::Warn, Self::Ask, Self::Block];

    /// Returns the word of the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    /// Decides whether code with these findings runs.
    #[must_use]
    pub fn verdict(self, findings: &[Finding]) -> Verdict {
        match self {
            Self::Ask if !is_safe(findings) => Verdict::Ask,
            Self::Block if !is_safe(findings) => Verdict::Refuse,
            Self::Off | Self::Warn | Self::Ask | Self::Block => Verdict::Run,
        }
    }
}

/// What a policy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// A person must say yes first.
    Ask,
    /// It does not run.
    Refuse,
}

/// Tells whether no danger was found; code that could not be checked is not safe.
#[must_use]
pub fn is_safe(findings: &[Finding]) -> bool {
    let is_bad =
        |finding: &Finding| finding.severity == Severity::Danger || finding.rule == UNCHECKED;
    !findings.iter().any(is_bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dangers_and_unread_code_stop_a_run() {
        let finding = |rule, severity| Finding {
            rule,
            severity,
            line: 1,
            column: 1,
            message: String::new(),
        };
        let warned = [finding("py-eval", Severity::Warn)];
        let unread = [finding(UNCHECKED, Severity::Warn)];
        let danger = [finding("sh-delete-root", Severity::Danger)];
        assert_eq!(Policy::Block.verdict(&warned), Verdict::Run);
        assert_eq!(Policy::Block.verdict(&unread), Verdict::Refuse);
        assert_eq!(
            Policy::ALL.map(|policy| policy.verdict(&danger)),
            [Verdict::Run, Verdict::Run, Verdict::Ask, Verdict::Refuse]
        );
    }
}
