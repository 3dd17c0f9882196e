//! What names mean in a program: modules, what is taken out of them, and names of the program's own.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{
    Argument, BindingIdentifier, BindingPattern, CallExpression, Expression, ImportDeclaration,
    ImportDeclarationSpecifier, VariableDeclarator,
};
use oxc_ast_visit::Visit;
use oxc_ast_visit::walk::{walk_import_declaration, walk_variable_declarator};

/// Global names that rules look at.
const GLOBAL: [&str; 14] = [
    "eval",
    "Function",
    "require",
    "process",
    "setTimeout",
    "setInterval",
    "Buffer",
    "atob",
    "globalThis",
    "global",
    "window",
    "fetch",
    "WebSocket",
    "XMLHttpRequest",
];

/// The names of one program, without regard to scopes.
#[derive(Debug, Default)]
pub(super) struct Names {
    aliases: HashMap<String, String>,
    own: HashSet<String>,
}

impl Names {
    /// Returns the full name of what an expression stands for, such as `child_process.exec`.
    pub(super) fn resolve(&self, expression: &Expression<'_>) -> Option<String> {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.resolve_name(name.name.as_str()),
            Expression::StaticMemberExpression(member) => {
                let owner = self.resolve(&member.object)?;
                Some(join(&owner, member.property.name.as_str()))
            }
            Expression::ComputedMemberExpression(member) => {
                let owner = self.resolve(&member.object)?;
                Some(join(&owner, &text(&member.expression)?))
            }
            Expression::CallExpression(call) => self.required(call),
            Expression::AwaitExpression(wait) => self.resolve(&wait.argument),
            Expression::ImportExpression(import) => {
                text(&import.source).map(|source| module(&source))
            }
            // `(0, eval)` is a way to call the global one.
            Expression::SequenceExpression(sequence) => self.resolve(sequence.expressions.last()?),
            _ => None,
        }
    }

    fn resolve_name(&self, name: &str) -> Option<String> {
        if let Some(origin) = self.aliases.get(name) {
            return Some(origin.clone());
        }
        let is_global = GLOBAL.contains(&name) && !self.own.contains(name);
        is_global.then(|| name.to_owned())
    }

    /// Returns the module that a call of `require` brings.
    pub(super) fn required(&self, call: &CallExpression<'_>) -> Option<String> {
        let function = self.resolve(&call.callee)?;
        let is_require = matches!(
            function.as_str(),
            "require" | "module.require" | "process.mainModule.require"
        );
        let source = argument(call.arguments.first()?).and_then(text)?;
        match function.as_str() {
            "process.binding" => None,
            _ => is_require.then(|| module(&source)),
        }
    }

    fn bind(&mut self, pattern: &BindingPattern<'_>, origin: &str) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                self.aliases
                    .insert(name.name.to_string(), origin.to_owned());
            }
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    if let Some(key) = property.key.static_name() {
                        self.bind(&property.value, &join(origin, &key));
                    }
                }
            }
            BindingPattern::AssignmentPattern(assignment) => self.bind(&assignment.left, origin),
            BindingPattern::ArrayPattern(_) => {}
        }
    }
}

/// Writes a module's name without `node:`.
fn module(source: &str) -> String {
    source.strip_prefix("node:").unwrap_or(source).to_owned()
}

fn join(owner: &str, name: &str) -> String {
    match owner {
        "globalThis" | "global" | "window" => name.to_owned(),
        // `import cp from "child_process"` is the same thing.
        owner if name == "default" => owner.to_owned(),
        owner => format!("{owner}.{name}"),
    }
}

/// Returns the text of a literal, or of a template without anything to fill in.
pub(super) fn text(expression: &Expression<'_>) -> Option<String> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => Some(literal.value.to_string()),
        Expression::TemplateLiteral(template) => {
            template.single_quasi().map(|text| text.to_string())
        }
        _ => None,
    }
}

/// Returns an argument that is not spread.
pub(super) fn argument<'b, 'a>(argument: &'b Argument<'a>) -> Option<&'b Expression<'a>> {
    argument.as_expression()
}

impl<'a> Visit<'a> for Names {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        let source = module(import.source.value.as_str());
        for specifier in import.specifiers.iter().flatten() {
            let (name, origin) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    (&one.local, join(&source, one.imported.name().as_str()))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    (&one.local, source.clone())
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
                    (&one.local, source.clone())
                }
            };
            self.aliases.insert(name.name.to_string(), origin);
        }
        walk_import_declaration(self, import);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        if let Some(origin) = declarator.init.as_ref().and_then(|init| self.resolve(init)) {
            self.bind(&declarator.id, &origin);
        }
        walk_variable_declarator(self, declarator);
    }

    fn visit_binding_identifier(&mut self, name: &BindingIdentifier<'a>) {
        if !self.aliases.contains_key(name.name.as_str()) {
            self.own.insert(name.name.to_string());
        }
    }
}
