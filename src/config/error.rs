//! Where in the settings something is wrong, and in which words it is said.

use std::fmt;

use crate::protocol::{Failure, FailureKind};
use crate::text::nearest;

/// One step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyStep {
    /// Into a table.
    Key(String),
    /// Into a list.
    Item(usize),
}

/// The way to a value, such as `sandbox.mounts[0]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyPath(Vec<KeyStep>);

impl KeyPath {
    /// Makes a path of keys.
    pub(super) fn new(keys: &[&str]) -> Self {
        Self(keys.iter().map(|key| KeyStep::Key((*key).into())).collect())
    }

    /// Goes on to a key of a table.
    pub(super) fn key(&self, key: &str) -> Self {
        self.then(KeyStep::Key(key.into()))
    }

    /// Goes on to an item of a list.
    pub(super) fn item(&self, item: usize) -> Self {
        self.then(KeyStep::Item(item))
    }

    fn then(&self, step: KeyStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Returns the steps.
    pub(super) fn steps(&self) -> &[KeyStep] {
        &self.0
    }

    /// Splits the last step off.
    pub(super) fn split_last(&self) -> Option<(&KeyStep, Self)> {
        let (last, rest) = self.0.split_last()?;
        Some((last, Self(rest.to_vec())))
    }

    /// Judges a value that must be there by now, and says where it is if it is bad.
    pub(super) fn read<V, T>(
        &self,
        key: &str,
        value: Option<V>,
        judge: impl FnOnce(V) -> Result<T, String>,
    ) -> Result<T, BadValue> {
        let value = value.ok_or_else(|| self.missing(key))?;
        judge(value).map_err(|message| BadValue::new(self.key(key), message))
    }

    fn missing(&self, key: &str) -> BadValue {
        BadValue::new(self.key(key), "it is not set and has no default")
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                KeyStep::Item(item) => write!(f, "[{item}]")?,
                KeyStep::Key(key) if i == 0 => f.write_str(&shown_key(key))?,
                KeyStep::Key(key) => write!(f, ".{}", shown_key(key))?,
            }
        }
        Ok(())
    }
}

/// Quotes a key as TOML would, so that nothing hides in it.
pub(super) fn shown_key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        format!("{key:?}")
    }
}

/// A value that cannot be used, before its file or variable is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadValue {
    /// Which one.
    pub(super) at: KeyPath,
    /// Why, and what would do.
    pub(super) message: String,
}

impl BadValue {
    /// Describes a bad value.
    pub(super) fn new(at: KeyPath, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { at, message }
    }
}

/// Makes the failure that every fault of the settings ends as.
pub(super) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

/// Says what a wrong word may have meant, else what there is.
pub(super) fn suggest<'a>(word: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(word, words.clone()) {
        return format!("did you mean `{near}`?");
    }
    let words: Vec<&str> = words.into_iter().collect();
    format!("use one of: {}", words.join(", "))
}
