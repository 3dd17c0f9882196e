//! A command with its options and operands told apart.

use super::unwrap::unwrap;
use super::word::{Word, braces};

/// A command without what is wrapped around it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) at: usize,
    pub(super) arguments: &'a [Word],
}

impl<'a> Call<'a> {
    pub(super) fn of(words: &'a [Word]) -> Option<Self> {
        let (first, arguments) = unwrap(words).split_first()?;
        Some(Self {
            name: first.program(),
            at: first.at,
            arguments,
        })
    }

    /// Tells whether an option is given by its letter, also among others, or by its long name.
    pub(super) fn has(&self, letters: &[char], long: &str) -> bool {
        let before_end = self.arguments.iter().take_while(|word| word.text != "--");
        before_end.map(|word| word.text.as_str()).any(|text| {
            let is_short = text.starts_with('-') && !text.starts_with("--");
            let is_long = !long.is_empty() && text.len() > 3 && text.starts_with("--");
            (is_short && text.contains(letters)) || (is_long && long.starts_with(text))
        })
    }

    /// Returns what is not an option, with `{a,b}` expanded.
    pub(super) fn operands(&self) -> Vec<String> {
        let mut only_operands = false;
        let mut found = Vec::new();
        for word in self.arguments {
            if !only_operands && word.text == "--" {
                only_operands = true;
            } else if only_operands || !word.text.starts_with('-') {
                found.extend(braces(&word.text));
            }
        }
        found
    }
}

/// Guesses what a command writes: words it is given, or paths below which it lists everything.
pub(super) fn piped(call: Call<'_>) -> Vec<String> {
    match call.name {
        "echo" | "printf" | "ls" | "find" => {
            let operands = call.operands();
            operands
                .iter()
                .map(|text| text.replace("\\n", "\n"))
                .collect()
        }
        _ => Vec::new(),
    }
}
