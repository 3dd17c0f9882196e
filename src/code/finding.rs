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
    /// All of them, for messages.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warn, Self::Danger];

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
}

/// What a profile makes of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckSettings {
    /// What is done.
    pub policy: Policy,
    /// The least severity for which it is done.
    pub level: Severity,
}

impl CheckSettings {
    /// Nothing is checked.
    pub const OFF: Self = Self {
        policy: Policy::Off,
        level: Severity::Danger,
    };

    /// Decides whether code with these findings runs.
    #[must_use]
    pub fn verdict(self, findings: &[Finding]) -> Verdict {
        match self.policy {
            Policy::Ask if !is_safe(findings, self.level) => Verdict::Ask,
            Policy::Block if !is_safe(findings, self.level) => Verdict::Refuse,
            Policy::Off | Policy::Warn | Policy::Ask | Policy::Block => Verdict::Run,
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

impl Finding {
    /// Tells whether it is judged bad; code that could not be checked is.
    #[must_use]
    pub fn is_bad(&self, level: Severity) -> bool {
        self.severity >= level || self.rule == UNCHECKED
    }
}

/// Tells whether nothing was found at or above a level; code that could not be checked is not safe.
#[must_use]
pub fn is_safe(findings: &[Finding], level: Severity) -> bool {
    !findings.iter().any(|finding| finding.is_bad(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reaches_the_level_and_unread_code_stop_a_run() {
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
        let at = |level, policy| CheckSettings { policy, level };
        let usual = |policy| at(Severity::Danger, policy);
        assert_eq!(usual(Policy::Block).verdict(&warned), Verdict::Run);
        assert_eq!(usual(Policy::Block).verdict(&unread), Verdict::Refuse);
        assert_eq!(
            Policy::ALL.map(|policy| usual(policy).verdict(&danger)),
            [Verdict::Run, Verdict::Run, Verdict::Ask, Verdict::Refuse]
        );
        let verdicts = Severity::ALL.map(|level| at(level, Policy::Block).verdict(&warned));
        assert_eq!(verdicts, [Verdict::Refuse, Verdict::Refuse, Verdict::Run]);
    }
}
