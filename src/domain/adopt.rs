//! Sandboxes of other tools that are shown and can be used: which ones, and whether they may be reaped.

/// Tells sandboxes of other tools by their names, labels or images.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdoptRules {
    /// Patterns of names; `*` stands for anything.
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
        self.names.iter().any(|pattern| matches(pattern, name))
            || self.images.iter().any(|pattern| matches(pattern, image))
            || self.labels.iter().any(has)
    }
}

/// Compares with a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut left) = text.strip_prefix(start) else {
        return false;
    };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else {
        return true;
    };
    for part in middle {
        let Some(at) = left.find(part) else {
            return false;
        };
        left = left.get(at + part.len()..).unwrap_or_default();
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        let table = [
            ("sandbox_*", "sandbox_abcd1234", true),
            ("sandbox_*", "my_sandbox_1", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("plain", "plain", true),
            ("plain", "plainer", false),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

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
