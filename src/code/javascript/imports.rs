//! Which packages a program needs when it runs.

use std::collections::BTreeSet;

use oxc_ast::ast::{
    CallExpression, ExportAllDeclaration, ExportFromDeclaration, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, TSImportEqualsDeclaration, TSModuleReference,
};
use oxc_ast_visit::Visit;
use oxc_ast_visit::walk::{walk_call_expression, walk_import_expression};

use super::names::{Names, argument, text};
use crate::code::language::Installer;
use crate::code::packages::Requirement;

const BUILT_IN: &str = include_str!("../../../assets/javascript/builtins.txt");

/// Collects the names of modules.
pub(super) struct Imports<'n> {
    names: &'n Names,
    modules: BTreeSet<String>,
}

impl<'n> Imports<'n> {
    pub(super) fn new(names: &'n Names) -> Self {
        Self {
            names,
            modules: BTreeSet::new(),
        }
    }

    /// Turns modules into packages.
    pub(super) fn packages(&self) -> BTreeSet<Requirement> {
        let built_in: BTreeSet<&str> = BUILT_IN.lines().collect();
        let names = self
            .modules
            .iter()
            .filter_map(|module| package(module, &built_in));
        names
            .filter_map(|name| Requirement::parse(Installer::Npm, &name).ok())
            .collect()
    }

    fn module(&mut self, module: &str) {
        self.modules.insert(module.to_owned());
    }
}

/// Reduces `lodash/fp` to `lodash`; none for files, addresses and what comes with Node.
fn package(module: &str, built_in: &BTreeSet<&str>) -> Option<String> {
    if module.starts_with(['.', '/', '#']) || module.contains(':') || module.contains('\\') {
        return None;
    }
    let mut parts = module.split('/');
    let first = parts.next().unwrap_or_default();
    if let Some(scope) = first.strip_prefix('@') {
        let name = parts.next().unwrap_or_default();
        return (!scope.is_empty() && !name.is_empty() && !name.contains('@'))
            .then(|| format!("{first}/{name}"));
    }
    (!built_in.contains(first) && !first.contains('@')).then(|| first.to_owned())
}

impl<'a> Visit<'a> for Imports<'_> {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        // Types are gone when the program runs; `import {} from` is not.
        let only_types = import.import_kind.is_type()
            || import.specifiers.as_ref().is_some_and(|all| {
                !all.is_empty()
                    && all.iter().all(|one| {
                        matches!(one, ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type())
                    })
            });
        if !only_types {
            self.module(import.source.value.as_str());
        }
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        if !export.export_kind.is_type() {
            self.module(export.source.value.as_str());
        }
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        if !export.export_kind.is_type() {
            self.module(export.source.value.as_str());
        }
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Some(source) = text(&import.source) {
            self.module(&source);
        }
        walk_import_expression(self, import);
    }

    fn visit_ts_import_equals_declaration(&mut self, import: &TSImportEqualsDeclaration<'a>) {
        if let TSModuleReference::ExternalModuleReference(reference) = &import.module_reference
            && !import.import_kind.is_type()
        {
            self.module(reference.expression.value.as_str());
        }
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let function = self.names.resolve(&call.callee);
        if function.is_some_and(|name| matches!(name.as_str(), "require" | "require.resolve"))
            && let Some(source) = call.arguments.first().and_then(argument).and_then(text)
        {
            self.module(&source);
        }
        walk_call_expression(self, call);
    }
}
