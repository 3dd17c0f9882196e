//! Sandboxes of other tools that are shown and can be used: which ones, and whether they may be reaped.

use super::glob;

/// Tells sandboxes of other tools by their names, labels or images.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdoptRules {
    /// Patterns of names; `*` stands for anything, `?` for one character.
    pub names: Vec<String>,
    /// `KEY` or `KEY=VALUE`.
    pub labels: Vec<String>,
    /// Patterns of images.
    pub images: Vec<String>,
    /// May they be reaped?
    pub reap: bool,
}

impl AdoptRules {
    /// Tells whether nothing is adopted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.labels.is_empty() && self.images.is_empty()
    }

    /// Tells whether something of this name, image and labels is adopted.
    pub fn adopts<'a>(
        &self,
        name: &str,
        image: &str,
        label: impl Fn(&str) -> Option<&'a str>,
    ) -> bool {
        let has = |rule: &String| match rule.split_once('=') {
            Some((key, value)) => label(key) == Some(value),
            None => label(rule).is_some(),
        };
        self.names.iter().any(|pattern| glob::fits(pattern, name))
            || self.images.iter().any(|pattern| glob::fits(pattern, image))
            || self.labels.iter().any(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_is_enough() {
        let rules = AdoptRules {
            names: vec!["sandbox_*".into()],
            labels: vec!["com.linx.managed=true".into(), "bare".into()],
            images: vec!["agents/*".into()],
            reap: false,
        };
        let label = |wanted: &'static str, value: &'static str| {
            move |key: &str| (key == wanted).then_some(value)
        };
        let none = |_: &str| None;
        assert!(rules.adopts("sandbox_1", "x", none));
        assert!(rules.adopts("x", "agents/py:3", none));
        assert!(rules.adopts("x", "x", label("com.linx.managed", "true")));
        assert!(!rules.adopts("x", "x", label("com.linx.managed", "no")));
        assert!(rules.adopts("x", "x", label("bare", "anything")));
        assert!(!rules.adopts("x", "x", none));
    }
}
