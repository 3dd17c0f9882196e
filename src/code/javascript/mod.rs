//! Reads JavaScript and TypeScript with oxc's parser; a line that it cannot read is left out, so that the rest is still seen.

mod checks;
mod depth;
mod imports;
mod names;

use std::borrow::Cow;
use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

use super::TooDeep;
use super::finding::Severity;
use super::language::Dialect;
use super::lines::Findings;
use super::packages::Requirement;

/// Lines that are left out before we give up.
const MOST_TRIES: usize = 12;
/// Bytes that are parsed in all; a large program gets fewer tries.
const MOST_PARSED: usize = 4 << 20;

/// What the program needs, and how it is to be called.
pub(super) struct Needs {
    pub(super) required: Vec<Requirement>,
    /// Whether it is a module, which Node wants to know from the file's ending.
    pub(super) is_module: bool,
}

/// Reads a program: findings go into `findings`.
pub(super) fn read(
    source: &str,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> Result<Needs, TooDeep> {
    let mut text = Cow::Borrowed(source);
    for tries in 0.. {
        depth::check(&text)?;
        let allocator = Allocator::default();
        let parsed = parse(&allocator, &text, dialect);
        let error = parsed.diagnostics.iter().next().map(|error| {
            let at = error
                .labels
                .iter()
                .next()
                .map_or(0, |label| label.offset() as usize);
            (at, error.message.to_string())
        });
        if let (Some((at, words)), 0) = (&error, tries) {
            findings.add(
                "syntax",
                Severity::Warn,
                *at,
                format!("this cannot be read: {words}"),
            );
        }
        match error {
            Some((at, _))
                if parsed.panicked
                    && tries < MOST_TRIES
                    && (tries + 2) * text.len() <= MOST_PARSED =>
            {
                let repaired = without_line(&text, at);
                drop(parsed);
                text = Cow::Owned(repaired);
            }
            _ => return Ok(examine(&parsed, findings)),
        }
    }
    Err(TooDeep)
}

fn parse<'a>(allocator: &'a Allocator, source: &'a str, dialect: Dialect) -> ParserReturn<'a> {
    let kind = match dialect {
        Dialect::TypeScript => SourceType::ts(),
        _ => SourceType::unambiguous(),
    };
    let options = ParseOptions {
        // Node wraps files in functions, so that they may return.
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    Parser::new(allocator, source, kind)
        .with_options(options)
        .parse()
}

fn examine(parsed: &ParserReturn<'_>, findings: &mut Findings<'_>) -> Needs {
    let mut names = names::Names::default();
    names.visit_program(&parsed.program);
    let mut imports = imports::Imports::new(&names);
    imports.visit_program(&parsed.program);
    let required: BTreeSet<Requirement> = imports.packages();
    let mut checks = checks::Checks::new(&names, findings);
    checks.visit_program(&parsed.program);
    Needs {
        required: required.into_iter().collect(),
        is_module: parsed.module_record.has_module_syntax,
    }
}

/// Blanks the line of a mistake; at the end of the text, what is still open is closed instead.
fn without_line(text: &str, at: usize) -> String {
    let at = at.min(text.len());
    if text.get(at..).is_none_or(|rest| rest.trim().is_empty()) {
        return format!("{}\n}}", text.trim_end());
    }
    let bytes = text.as_bytes();
    let start =
        memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
    let rest = bytes.get(at..).unwrap_or_default();
    let end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let (head, tail) = (text.get(..start), text.get(end..));
    let blank = " ".repeat(end - start);
    format!(
        "{}{blank}{}",
        head.unwrap_or_default(),
        tail.unwrap_or_default()
    )
}
