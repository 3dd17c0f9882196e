//! Reads shell programs by tokens, not by substrings, and tells what in them destroys or hides things.

mod call;
mod command;
mod lexer;
mod nested;
mod quotes;
mod rules;
mod unwrap;
mod word;

use command::{Simple, commands};
use lexer::{Lexer, Open};
use rules::Judge;
use word::{Word, bare};

use super::finding::Severity;

/// Programs within programs that are still read.
const DEEPEST: usize = 12;
/// Bytes of programs within programs that are read in all.
const MOST_INNER: usize = 4 << 20;

/// Something found in a shell program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) severity: Severity,
    /// Where, in bytes.
    pub(super) at: usize,
    pub(super) message: String,
}

/// A program that waits to be read.
struct Waiting {
    source: String,
    /// Where it stands, and whether offsets in it count from there.
    at: usize,
    is_exact: bool,
    depth: usize,
}

/// Cuts a line into words as a shell would: at blanks that are not quoted. Nothing else has a meaning in it.
///
/// # Errors
/// A quote has no end; the sentence says which.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut lexer = Lexer::of_words(line);
    let words = std::iter::from_fn(|| lexer.next_word()).collect();
    match lexer.open {
        None => Ok(words),
        Some(Open::Single) => Err("the quote ' has no end".to_owned()),
        Some(Open::Double) => Err("the quote \" has no end".to_owned()),
        Some(Open::Backslash) => Err("nothing follows the last \\".to_owned()),
    }
}

/// Judges a program and all programs in it.
pub(super) fn judge(source: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut budget = MOST_INNER;
    let mut waiting = vec![Waiting {
        source: without_marks(source),
        at: 0,
        is_exact: true,
        depth: 0,
    }];
    while let Some(next) = waiting.pop() {
        let found = judge_one(&next, &mut hits);
        for inner in found {
            if inner.depth <= DEEPEST && inner.source.len() <= budget {
                budget -= inner.source.len();
                waiting.push(inner);
            }
        }
    }
    hits.sort_by_key(|hit| hit.at);
    hits
}

/// Judges a command whose words are known one by one; `None` is a word that is not known.
pub(super) fn judge_words(words: &[Option<String>]) -> Vec<Hit> {
    let word = |word: &Option<String>| Word {
        at: 0,
        text: word.clone().unwrap_or_else(|| word::UNKNOWN.to_string()),
        quoted: true,
    };
    let command = Simple {
        words: words.iter().map(word).collect(),
        ..Simple::default()
    };
    let mut judge = Judge::new();
    judge.command(&command, None);
    let mut hits = judge.hits;
    for (source, _) in judge.programs {
        hits.extend(self::judge(&source));
    }
    hits
}

/// Says what is lost with all below a path that is known as it is.
pub(super) fn loss(path: &str) -> Option<&'static str> {
    let plain: String = path.chars().map(word::plain).collect();
    word::reach(&plain).loss()
}

fn judge_one(program: &Waiting, hits: &mut Vec<Hit>) -> Vec<Waiting> {
    let (all, inner) = commands(&program.source);
    let mut judge = Judge::new();
    let mut previous: Option<&Simple> = None;
    for command in &all {
        let upstream = previous.filter(|_| command.is_piped);
        judge.command(command, upstream);
        previous = Some(command);
    }
    let place = |at: usize| {
        if program.is_exact {
            program.at + at
        } else {
            program.at
        }
    };
    hits.extend(judge.hits.into_iter().map(|hit| Hit {
        at: place(hit.at),
        ..hit
    }));
    let depth = program.depth + 1;
    let substituted = inner.into_iter().map(|inner| Waiting {
        at: place(inner.at),
        source: inner.source,
        is_exact: program.is_exact,
        depth,
    });
    let quoted = judge.programs.into_iter().map(|(source, at)| Waiting {
        source: bare(&source),
        at: place(at),
        is_exact: false,
        depth,
    });
    substituted.chain(quoted).collect()
}

/// Takes away characters that stand for something else here; no shell program needs them.
fn without_marks(source: &str) -> String {
    let is_mark = |c: char| c.is_ascii_control() && !matches!(c, '\n' | '\t' | '\r');
    source.replace(is_mark, "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_blanks_that_are_not_quoted() {
        let table: [(&str, &[&str]); 9] = [
            ("", &[]),
            (" a  b\tc\n", &["a", "b", "c"]),
            ("'a b' \"c d\" e\\ f", &["a b", "c d", "e f"]),
            ("a'b'\"c\"d", &["abcd"]),
            ("'' \"\"", &["", ""]),
            (
                "it\\'s \"it's\" 'say \"x\"'",
                &["it's", "it's", "say \"x\""],
            ),
            (r#""\$ \" \\ \n""#, &[r#"$ " \ \n"#]),
            (
                "$HOME `x` $(y) a|b;c>d #e ~ *?[{",
                &["$HOME", "`x`", "$(y)", "a|b;c>d", "#e", "~", "*?[{"],
            ),
            ("'*' \u{1}\u{3} é", &["*", "\u{1}\u{3}", "é"]),
        ];
        for (line, expected) in table {
            let expected: Vec<_> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(words(line), Ok(expected), "{line:?}");
        }
        for line in ["'", "a 'b", "\"", "x \"y \\\"", "\\", "a \\"] {
            assert!(words(line).is_err(), "{line:?}");
        }
    }
}
