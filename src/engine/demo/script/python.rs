//! A wink at Python: `print` of a number or a string, line by line.

use std::ops::ControlFlow::Continue;

use super::io::Io;
use super::programs::{fail, put};
use super::shell::Shell;
use super::{Flow, open};

/// Runs `-c CODE` or a file.
pub(super) async fn run(shell: &Shell, args: &[String], io: &Io) -> Flow {
    let code = match args {
        [flag, code, ..] if flag == "-c" => Ok(code.clone()),
        [file, ..] if !file.starts_with('-') => open::text(shell, file),
        _ => Err("only -c CODE or a file is simulated".into()),
    };
    let code = match code {
        Ok(code) => code,
        Err(message) => return fail(io, "python3", &message, 2).await,
    };
    for line in code.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match printed(line) {
            Some(text) => put(io, format!("{text}\n").as_bytes()).await?,
            None => return fail(io, "python3", NOT_SIMULATED, 1).await,
        };
    }
    Continue(0)
}

/// What all other code is told.
const NOT_SIMULATED: &str = "the demo engine only simulates print() of a number or a plain string";

/// Returns what `print(…)` of a literal prints.
fn printed(line: &str) -> Option<&str> {
    let inside = line.strip_prefix("print(")?.strip_suffix(')')?.trim();
    let is_number = inside.parse::<f64>().is_ok() && !inside.contains(char::is_alphabetic);
    if inside.is_empty() || is_number {
        return Some(inside);
    }
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = inside.strip_prefix(quote)?.strip_suffix(quote)?;
    (!text.contains([quote, '\\'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_are_printed() {
        assert_eq!(printed("print(42)"), Some("42"));
        assert_eq!(printed("print('a \"b\"')"), Some("a \"b\""));
        assert_eq!(printed("print(6*7)"), None);
        assert_eq!(printed("print(inf)"), None);
        assert_eq!(printed("import os"), None);
    }
}
