//! Reads Python programs with ruff's parser, which goes on after a syntax error.

mod checks;
mod depth;
mod imports;
mod inline;
mod literals;
mod modules;
mod names;

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::finding::Severity;
use super::lines::Findings;
use super::packages::Requirement;
use super::{Around, TooDeep};

/// What the program needs.
pub(super) struct Needs {
    pub(super) required: Vec<Requirement>,
    pub(super) optional: Vec<Requirement>,
}

/// Tells whether a module comes with this Python.
pub(super) fn is_standard(minor: u8, module: &str) -> bool {
    modules::Modules::of(minor).is_standard(module)
}

/// Reads a program: findings go into `findings`.
pub(super) fn read(
    source: &str,
    around: &Around,
    findings: &mut Findings<'_>,
) -> Result<Needs, TooDeep> {
    depth::check(source)?;
    let version = PythonVersion {
        major: 3,
        minor: around.python,
    };
    let options = ParseOptions::from(Mode::Module).with_target_version(version);
    let parsed = parse_unchecked(source, options);
    if let Some(error) = parsed.errors().first() {
        let at = error.location.start().to_usize();
        let words = format!("this is not Python {version}: {}", error.error);
        findings.add("syntax", Severity::Warn, at, words);
    }
    let Mod::Module(module) = parsed.syntax() else {
        return Ok(Needs {
            required: Vec::new(),
            optional: Vec::new(),
        });
    };
    let names = names::Names::of(&module.body);
    let mut checks = checks::Checks::new(&names, findings);
    checks.visit_body(&module.body);
    let dynamic = checks.dynamic_imports();
    if let Some(declared) = inline::dependencies(source) {
        return Ok(Needs {
            required: declared,
            optional: Vec::new(),
        });
    }
    let mut imports = imports::Imports::new(around.python);
    imports.body(&module.body);
    imports.require(dynamic);
    Ok(imports.packages(&around.local))
}
