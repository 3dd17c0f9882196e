//! Reads scripts of plain commands; whatever needs a real shell is refused.

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Characters with which only a real shell can deal.
const SHELL_ONLY: &str = "|&<>$`\\*?(){}[]~!'\"#";

/// One command.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Whether its output goes to standard error, by `>&2` at its end.
    pub(super) to_stderr: bool,
}

/// Describes what a demonstration cannot do.
pub(super) fn unsupported(what: &str) -> EngineError {
    let message = format!("the demo engine only simulates a few plain commands, not {what}");
    EngineError::new(FailureKind::Unsupported, message)
        .with_hint("use a real engine, for example with --engine local")
}

/// Reads commands that are separated by `;` or by lines.
pub(super) fn parse(text: &str) -> Result<Vec<Command>> {
    let lines = text.split([';', '\n']).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(command).collect()
}

fn command(line: &str) -> Result<Command> {
    let plain = line.strip_suffix(">&2");
    let to_stderr = plain.is_some();
    let text = plain.unwrap_or(line);
    if let Some(c) = text.chars().find(|c| SHELL_ONLY.contains(*c)) {
        return Err(unsupported(&format!("`{c}`")));
    }
    let words = text.split_whitespace().map(str::to_owned).collect();
    Ok(Command { words, to_stderr })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str], to_stderr: bool) -> Command {
        let words = words.iter().map(ToString::to_string).collect();
        Command { words, to_stderr }
    }

    #[test]
    fn plain_commands_are_read() {
        let text = "echo a  b\n\ncat f >&2; ls";
        let commands = [
            command(&["echo", "a", "b"], false),
            command(&["cat", "f"], true),
            command(&["ls"], false),
        ];
        assert_eq!(parse(text).expect("commands"), commands);
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
            "echo 'a'",
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.kind, FailureKind::Unsupported, "{text}");
        }
    }
}
