//! Reads scripts of plain commands; whatever needs a real shell is refused.

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Characters with which only a real shell can deal, where they are not quoted.
const SHELL_ONLY: &str = "|&<>$`\\*?(){}[]~!";

/// Sends the output of a command to standard error.
const TO_STDERR: &str = ">&2";

/// One command.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Step {
    pub(super) words: Vec<String>,
    pub(super) to_stderr: bool,
}

/// Describes what a demonstration cannot do.
pub(super) fn unsupported(what: &str) -> EngineError {
    let message = format!("the demo engine only simulates a few plain commands, not {what}");
    EngineError::new(FailureKind::Unsupported, message)
        .with_hint("use a real engine, for example with --engine local")
}

/// Reads commands that are separated by `;` or by lines.
pub(super) fn parse(text: &str) -> Result<Vec<Step>> {
    let mut steps = vec![Step::default()];
    let mut word: Option<String> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let step = steps.last_mut();
        if let (Some(step), true) = (step, c.is_whitespace() || c == ';') {
            step.words.extend(word.take());
        }
        rest = match c {
            ';' | '\n' => {
                steps.push(Step::default());
                after
            }
            '#' if word.is_none() => after.find('\n').map_or("", |end| after.split_at(end).1),
            '\'' | '"' => {
                let quoted = after.split_once(c);
                let (quoted, after) = quoted.ok_or_else(|| unsupported("an open quote"))?;
                if c == '"' && quoted.contains(['$', '`', '\\']) {
                    return Err(unsupported("variables"));
                }
                word.get_or_insert_default().push_str(quoted);
                after
            }
            '>' if rest.starts_with(TO_STDERR) => {
                if let Some(step) = steps.last_mut() {
                    step.to_stderr = true;
                }
                rest.trim_start_matches(TO_STDERR)
            }
            c if SHELL_ONLY.contains(c) => return Err(unsupported(&format!("`{c}`"))),
            c if c.is_whitespace() => after,
            c => {
                word.get_or_insert_default().push(c);
                after
            }
        };
    }
    if let Some(step) = steps.last_mut() {
        step.words.extend(word);
    }
    steps.retain(|step| !step.words.is_empty());
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(words: &[&str], to_stderr: bool) -> Step {
        let words = words.iter().map(ToString::to_string).collect();
        Step { words, to_stderr }
    }

    #[test]
    fn plain_commands_are_read() {
        let text = "echo 'a  b'\"c\" d # no; no\n\ncat f >&2; ls";
        let steps = [
            step(&["echo", "a  bc", "d"], false),
            step(&["cat", "f"], true),
            step(&["ls"], false),
        ];
        assert_eq!(parse(text).expect("steps"), steps);
    }

    #[test]
    fn whatever_needs_a_shell_is_refused() {
        for text in [
            "sleep 1 &",
            "yes | head",
            "echo $A",
            "echo \"$A\"",
            "a && b",
            "echo x > f",
            "if [ -e f ]; then ls; fi",
            "echo 'open",
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.kind, FailureKind::Unsupported, "{text}");
        }
    }
}
