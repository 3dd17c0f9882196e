//! Which modules a program needs when it runs: all that it imports, but not what is only for type checkers, other versions or
//! other systems, and not what it can do without.

use std::collections::BTreeSet;

use ruff_python_ast::{CmpOp, ExceptHandler, Expr, Number, Stmt, StmtIf, StmtTry, UnaryOp};

use super::Needs;
use super::modules::Modules;

/// Collects modules.
pub(super) struct Imports {
    modules: Modules,
    minor: u8,
    required: BTreeSet<String>,
    optional: BTreeSet<String>,
    /// Inside of a `try` that catches missing modules.
    may_be_missing: bool,
}

impl Imports {
    pub(super) fn new(minor: u8) -> Self {
        Self {
            modules: Modules::of(minor),
            minor,
            required: BTreeSet::new(),
            optional: BTreeSet::new(),
            may_be_missing: false,
        }
    }

    /// Adds modules that are imported by calls.
    pub(super) fn require(&mut self, modules: Vec<String>) {
        self.required.extend(modules);
    }

    /// Turns modules into packages.
    pub(super) fn packages(self, local: &BTreeSet<String>) -> Needs {
        let packages = |modules: &BTreeSet<String>| {
            let found = modules
                .iter()
                .filter_map(|module| self.modules.package(module, local));
            found.collect::<BTreeSet<_>>()
        };
        let required = packages(&self.required);
        let optional = packages(&self.optional)
            .difference(&required)
            .cloned()
            .collect();
        Needs {
            required: required.into_iter().collect(),
            optional,
        }
    }

    pub(super) fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.module(alias.name.as_str());
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                for alias in &import.names {
                    let module = import.module.as_ref().map_or("", |module| module.as_str());
                    self.module(&format!("{module}.{}", alias.name));
                }
            }
            Stmt::If(test) => self.branches(test),
            Stmt::Try(attempt) => self.attempt(attempt),
            Stmt::FunctionDef(function) => self.body(&function.body),
            Stmt::ClassDef(class) => self.body(&class.body),
            Stmt::With(with) => self.body(&with.body),
            Stmt::For(each) => {
                self.body(&each.body);
                self.body(&each.orelse);
            }
            Stmt::While(each) => {
                self.body(&each.body);
                self.body(&each.orelse);
            }
            Stmt::Match(choice) => {
                for case in &choice.cases {
                    self.body(&case.body);
                }
            }
            _ => {}
        }
    }

    fn module(&mut self, module: &str) {
        if module.is_empty() || module.starts_with('.') {
            return;
        }
        let found = if self.may_be_missing {
            &mut self.optional
        } else {
            &mut self.required
        };
        found.insert(module.to_owned());
    }

    /// Follows only the branches that can be taken.
    fn branches(&mut self, test: &StmtIf) {
        let mut taken = self.truth(&test.test);
        if taken != Some(false) {
            self.body(&test.body);
        }
        for clause in &test.elif_else_clauses {
            if taken == Some(true) {
                return;
            }
            taken = clause
                .test
                .as_ref()
                .map_or(Some(true), |test| self.truth(test));
            if taken != Some(false) {
                self.body(&clause.body);
            }
        }
    }

    /// A program that catches a missing module can do without it, unless it ends then or turns to another one: the first is what
    /// it would rather have.
    fn attempt(&mut self, attempt: &StmtTry) {
        let handlers: Vec<_> = attempt
            .handlers
            .iter()
            .map(|ExceptHandler::ExceptHandler(handler)| handler)
            .collect();
        let catching: Vec<_> = handlers
            .iter()
            .filter(|handler| handler.type_.as_deref().is_none_or(catches_missing))
            .collect();
        let gives_up = catching.iter().any(|handler| ends(&handler.body));
        let turns = catching.iter().any(|handler| self.imports(&handler.body));
        let before = self.may_be_missing;
        self.may_be_missing = before || (!catching.is_empty() && !gives_up && !turns);
        self.body(&attempt.body);
        self.may_be_missing = before || !catching.is_empty();
        for handler in &handlers {
            self.body(&handler.body);
        }
        self.may_be_missing = before;
        self.body(&attempt.orelse);
        self.body(&attempt.finalbody);
    }

    /// Tells whether statements import anything.
    fn imports(&self, body: &[Stmt]) -> bool {
        let mut inner = Self::new(self.minor);
        inner.body(body);
        !inner.required.is_empty()
    }

    /// Decides a condition as far as that is possible here: this version, Linux, no type checker.
    fn truth(&self, expr: &Expr) -> Option<bool> {
        match expr {
            Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => Some(false),
            Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => Some(false),
            Expr::BooleanLiteral(literal) => Some(literal.value),
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(int) => int.as_u64().map(|value| value != 0),
                _ => None,
            },
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => {
                self.truth(&unary.operand).map(|truth| !truth)
            }
            Expr::Compare(compare) => match (&*compare.ops, &*compare.comparators) {
                ([op], [right]) => self.compare(&compare.left, *op, right),
                _ => None,
            },
            _ => None,
        }
    }

    fn compare(&self, left: &Expr, op: CmpOp, right: &Expr) -> Option<bool> {
        let ordering = match (dotted(left)?.as_str(), right) {
            ("sys.version_info", Expr::Tuple(tuple)) => {
                let numbers: Option<Vec<u64>> = tuple.elts.iter().take(2).map(number).collect();
                vec![3, u64::from(self.minor)].cmp(&numbers?)
            }
            ("sys.platform", Expr::StringLiteral(name)) => "linux".cmp(name.value.to_str()),
            ("os.name", Expr::StringLiteral(name)) => "posix".cmp(name.value.to_str()),
            ("platform.system", Expr::StringLiteral(name)) => "Linux".cmp(name.value.to_str()),
            _ => return None,
        };
        Some(match op {
            CmpOp::Eq => ordering.is_eq(),
            CmpOp::NotEq => ordering.is_ne(),
            CmpOp::Lt => ordering.is_lt(),
            CmpOp::LtE => ordering.is_le(),
            CmpOp::Gt => ordering.is_gt(),
            CmpOp::GtE => ordering.is_ge(),
            _ => return None,
        })
    }
}

fn number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => int.as_u64(),
            _ => None,
        },
        _ => None,
    }
}

/// Writes `a.b` and `a.b()` as `a.b`.
fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => {
            Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr))
        }
        Expr::Call(call) => dotted(&call.func),
        _ => None,
    }
}

fn catches_missing(expr: &Expr) -> bool {
    let names = [
        "ImportError",
        "ModuleNotFoundError",
        "Exception",
        "BaseException",
    ];
    match expr {
        Expr::Name(name) => names.contains(&name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().any(catches_missing),
        _ => false,
    }
}

/// Tells whether statements end the program: with `raise`, or a call such as `sys.exit`.
fn ends(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Raise(_) => true,
        Stmt::Expr(line) => {
            let called = match &*line.value {
                Expr::Call(call) => dotted(&call.func),
                _ => None,
            };
            called.is_some_and(|name| {
                matches!(
                    name.as_str(),
                    "sys.exit" | "exit" | "quit" | "os._exit" | "os.abort"
                )
            })
        }
        _ => false,
    })
}
