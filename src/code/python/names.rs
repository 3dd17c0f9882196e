//! What names mean in a program: imports and their aliases, names given to functions, and names of the program's own.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Parameter, Stmt};

/// Built-in functions that rules look at.
const BUILT_IN: [&str; 7] = [
    "eval",
    "exec",
    "compile",
    "__import__",
    "open",
    "getattr",
    "input",
];

/// The names of one program, without regard to scopes.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names and what they stand for, such as `s` for `os.system`.
    aliases: HashMap<String, String>,
    /// Names that the program gives to things of its own.
    own: HashSet<String>,
}

impl Names {
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut names = Self::default();
        names.visit_body(body);
        names
    }

    /// Tells whether a module is imported under any name.
    pub(super) fn imports(&self, module: &str) -> bool {
        self.aliases.values().any(|origin| origin == module)
    }

    /// Returns the full name of what an expression stands for, such as `os.system`; `None` if that is not known.
    pub(super) fn resolve(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => self.resolve_name(name.id.as_str()),
            Expr::Attribute(attribute) => {
                let owner = self.resolve(&attribute.value)?;
                Some(join(&owner, attribute.attr.as_str()))
            }
            Expr::Call(call) => {
                let function = self.resolve(&call.func)?;
                let first = call.arguments.args.first();
                match function.as_str() {
                    "__import__" | "importlib.import_module" => first.and_then(text),
                    "getattr" => {
                        let owner = self.resolve(first?)?;
                        let attribute = call.arguments.args.get(1).and_then(text)?;
                        Some(join(&owner, &attribute))
                    }
                    _ => None,
                }
            }
            Expr::Subscript(subscript) => {
                let owner = self.resolve(&subscript.value)?;
                (owner == "sys.modules")
                    .then(|| text(&subscript.slice))
                    .flatten()
            }
            _ => None,
        }
    }

    fn resolve_name(&self, name: &str) -> Option<String> {
        if let Some(origin) = self.aliases.get(name) {
            return Some(origin.clone());
        }
        let is_built_in = BUILT_IN.contains(&name) && !self.own.contains(name);
        (is_built_in || name == "__builtins__").then(|| name.to_owned())
    }

    fn alias(&mut self, name: &str, origin: String) {
        self.aliases.insert(name.to_owned(), origin);
    }

    fn import(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    // `import os.path` binds `os`.
                    let top = module.split('.').next().unwrap_or(module);
                    let (name, origin) = alias
                        .asname
                        .as_ref()
                        .map_or((top, top), |name| (name.as_str(), module));
                    self.alias(name, origin.to_owned());
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.alias(name.as_str(), format!("{module}.{}", alias.name));
                }
                if import.names.iter().any(|alias| alias.name.as_str() == "*") {
                    self.import_all(module);
                }
            }
            _ => {}
        }
    }

    /// `from os import *` brings the names that rules look for.
    fn import_all(&mut self, module: &str) {
        let names: &[&str] = match module {
            "os" => &[
                "system", "popen", "fork", "kill", "execv", "execvp", "spawnl", "remove",
            ],
            "subprocess" => &[
                "run",
                "call",
                "Popen",
                "check_call",
                "check_output",
                "getoutput",
            ],
            "shutil" => &["rmtree"],
            _ => &[],
        };
        for name in names {
            self.alias(name, format!("{module}.{name}"));
        }
    }
}

fn join(owner: &str, name: &str) -> String {
    match owner {
        "builtins" | "__builtins__" => name.to_owned(),
        owner => format!("{owner}.{name}"),
    }
}

/// Returns the text of a literal.
pub(super) fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().to_owned()),
        _ => None,
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(stmt),
            Stmt::FunctionDef(function) => {
                self.own.insert(function.name.to_string());
            }
            Stmt::ClassDef(class) => {
                self.own.insert(class.name.to_string());
            }
            // `run = os.system` makes another name for it.
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Some(origin)) =
                    (assign.targets.as_slice(), self.resolve(&assign.value))
                {
                    self.alias(name.id.as_str(), origin);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx == ExprContext::Store
        {
            self.own.insert(name.id.to_string());
        }
        walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.own.insert(parameter.name.to_string());
    }
}
