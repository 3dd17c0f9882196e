//! Which modules come with Python, and which packages bring the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::packages::{Requirement, python_name};

const STDLIB: &str = include_str!("../../../assets/python/stdlib.txt");
const PACKAGES: &str = include_str!("../../../assets/python/packages.txt");

/// Names that many packages share; only what stands below them tells the package.
const NAMESPACES: [&str; 6] = ["google", "azure", "zope", "backports", "ruamel", "jaraco"];

/// The modules of one version of Python, and the names of packages.
pub(super) struct Modules {
    /// Modules, and whether this version has them.
    known: BTreeMap<&'static str, bool>,
    packages: BTreeMap<&'static str, &'static str>,
}

impl Modules {
    /// Knows Python 3 of a minor version.
    pub(super) fn of(minor: u8) -> Self {
        let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
        let known = lines(STDLIB).filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            Some((name, words.next().is_none_or(|span| holds(span, minor))))
        });
        let packages = lines(PACKAGES).filter_map(|line| line.split_once(' '));
        let mut known: BTreeMap<_, _> = known.collect();
        known.extend([("__main__", true), ("test", true)]);
        Self {
            known,
            packages: packages.collect(),
        }
    }

    /// Tells whether a module comes with this Python.
    pub(super) fn is_standard(&self, module: &str) -> bool {
        self.known.get(first(module)) == Some(&true)
    }

    /// Returns the package that brings a module; none for what comes with Python, lies beside the program or is private.
    pub(super) fn package(&self, module: &str, local: &BTreeSet<String>) -> Option<Requirement> {
        let top = first(module);
        if !is_module(module) || self.is_standard(module) || local.contains(top) {
            return None;
        }
        if let Some(package) = self.mapped(module) {
            return Some(Requirement::any(package));
        }
        // What left the standard library, and private names, are on the index under other people's control.
        if self.known.contains_key(top) || top.starts_with('_') || !top.is_ascii() {
            return None;
        }
        if NAMESPACES.contains(&top) {
            return below_namespace(module);
        }
        Some(Requirement::any(&python_name(top)))
    }

    /// Looks a module up by its longest known start.
    fn mapped(&self, module: &str) -> Option<&'static str> {
        let mut rest = module;
        loop {
            if let Some(package) = self.packages.get(rest) {
                return Some(package);
            }
            rest = rest.rsplit_once('.')?.0;
        }
    }
}

/// `google.cloud.x` is in `google-cloud-x`, `zope.event` in `zope-event`.
fn below_namespace(module: &str) -> Option<Requirement> {
    let parts: Vec<&str> = module.split('.').collect();
    let name = match parts.as_slice() {
        ["google", "cloud", name, ..] => format!("google-cloud-{name}"),
        ["azure", "mgmt", name, ..] => format!("azure-mgmt-{name}"),
        [_] | ["google", "cloud"] | [] => return None,
        [space, name, ..] => format!("{space}-{name}"),
    };
    Some(Requirement::any(&python_name(&name)))
}

/// Tells whether a text can name a module; calls such as `__import__("x @ http://…")` may be given any text.
fn is_module(text: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    !text.starts_with(|c: char| c.is_numeric()) && text.chars().all(in_name)
}

fn first(module: &str) -> &str {
    module.split('.').next().unwrap_or_default()
}

/// Tells whether `3.9..3.12`, open at either end, holds a version.
fn holds(span: &str, minor: u8) -> bool {
    let number = |text: &str| {
        text.strip_prefix("3.")
            .and_then(|text| text.parse::<u8>().ok())
    };
    let (from, to) = span.split_once("..").unwrap_or((span, span));
    number(from).is_none_or(|from| from <= minor) && number(to).is_none_or(|to| minor <= to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_when_modules_came_and_went() {
        let table = [
            ("tomllib", 11, true),
            ("tomllib", 10, false),
            ("distutils", 11, true),
            ("distutils", 12, false),
            ("cgi", 12, true),
            ("cgi", 13, false),
            ("zoneinfo", 9, true),
            ("annotationlib", 14, true),
            ("os.path", 8, true),
            ("__future__", 12, true),
            ("concurrent.futures", 12, true),
        ];
        for (module, minor, expected) in table {
            assert_eq!(
                Modules::of(minor).is_standard(module),
                expected,
                "{module} 3.{minor}"
            );
        }
    }

    #[test]
    fn no_name_of_the_standard_library_is_ever_taken_from_the_index_by_itself() {
        for minor in 8..=14 {
            let modules = Modules::of(minor);
            for (name, here) in &modules.known {
                let package = modules.package(name, &BTreeSet::new());
                let is_fine = package.is_none() || (!here && modules.packages.contains_key(name));
                assert!(is_fine, "{name} 3.{minor}: {package:?}");
            }
        }
    }
}
