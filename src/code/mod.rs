//! Reads programs before they run: what they are written in, which packages they need, what in them is risky.
//!
//! This is a seat-belt against mistakes and a help for people. It is not a boundary: who wants to hide something from it can.
//! The boundary is the sandbox.
//!
//! Everything here is pure and bounded. Programs are hostile: what is too large or nests too deep is not read at all and says
//! so, and parsers, which recurse, run on a stack whose size is known.

mod definition;
mod finding;
#[cfg(test)]
mod fuzz;
mod javascript;
mod language;
mod lines;
mod packages;
mod paths;
mod python;
mod shell;
#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::thread;

pub use definition::Definition;
pub use finding::{CheckSettings, Finding, Policy, Severity, UNCHECKED, Verdict, is_safe};
pub(crate) use language::FILE_MARK;
pub use language::{Dialect, Installer, Language, Languages};
pub use packages::{Requirement, Wanted};
pub(crate) use shell::words;

use lines::Findings;

/// Programs larger than this are not read.
pub const MOST_BYTES: usize = 2 << 20;
/// What parsers and walks of at most 3000 levels need, with a lot to spare in debug builds; untouched pages cost nothing.
const STACK: usize = 256 << 20;
/// The version of Python that is assumed where none is known.
pub const USUAL_PYTHON: u8 = 12;

/// What is around a program where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The minor version of Python 3.
    pub python: u8,
    /// Modules that lie beside the program.
    pub local: BTreeSet<String>,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            python: USUAL_PYTHON,
            local: BTreeSet::new(),
        }
    }
}

/// What was read in a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// What the checks found, in the order of lines.
    pub findings: Vec<Finding>,
    /// The packages it needs, sorted.
    pub packages: Vec<Requirement>,
    /// Packages that it uses if they are there, sorted.
    pub optional: Vec<Requirement>,
    /// Whether it is a JavaScript module.
    pub is_module: bool,
}

/// The program nests too deep to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TooDeep;

/// Reads a program; a language that cannot be read gives an empty report.
#[must_use]
pub fn read(dialect: Option<Dialect>, source: &[u8], around: &Around) -> Report {
    let Some(dialect) = dialect else {
        return Report::default();
    };
    if source.len() > MOST_BYTES {
        return unchecked("it is larger than 2 MiB");
    }
    let text = String::from_utf8_lossy(source);
    let is_text = matches!(text, Cow::Borrowed(_)) && !source.contains(&0);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut report = on_own_stack(|| read_text(dialect, text, around))
        .unwrap_or_else(|| unchecked("the parser gave up on it"));
    if !is_text {
        let words = "holds bytes that are not text";
        report.findings.insert(0, found("not-text", words));
    }
    report
}

/// Tells whether a name is a module that comes with the language itself, which a file of that name would hide.
pub(crate) fn is_standard_module(dialect: Option<Dialect>, python: u8, name: &str) -> bool {
    dialect == Some(Dialect::Python) && python::is_standard(python, name)
}

fn read_text(dialect: Dialect, source: &str, around: &Around) -> Report {
    let mut findings = Findings::new(source);
    let mut report = Report::default();
    let read = match dialect {
        Dialect::Python => python::read(source, around, &mut findings).map(|needs| {
            report.packages = needs.required;
            report.optional = needs.optional;
        }),
        Dialect::JavaScript | Dialect::TypeScript => {
            javascript::read(source, dialect, &mut findings).map(|needs| {
                report.packages = needs.required;
                report.is_module = needs.is_module;
            })
        }
        Dialect::Bash => {
            for hit in shell::judge(source) {
                findings.add(hit.rule, hit.severity, hit.at, hit.message);
            }
            Ok(())
        }
    };
    match read {
        Ok(()) => {
            report.findings = findings.finish();
            report
        }
        Err(TooDeep) => unchecked("it nests too deep"),
    }
}

/// Runs something on a thread with a stack of known size; `None` if it panics or there is no thread to be had.
fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        thread.ok()?.join().ok()
    })
}

fn unchecked(why: &str) -> Report {
    Report {
        findings: vec![found(UNCHECKED, &format!("was not checked: {why}"))],
        ..Report::default()
    }
}

fn found(rule: &'static str, words: &str) -> Finding {
    Finding {
        rule,
        severity: Severity::Warn,
        line: 1,
        column: 1,
        message: words.to_owned(),
    }
}
