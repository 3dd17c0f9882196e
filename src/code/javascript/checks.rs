//! The rules of JavaScript: calls that start programs, run hidden code or destroy things.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, CallExpression, Expression, ForStatement, ImportDeclaration,
    NewExpression, ObjectPropertyKind, WhileStatement,
};
use oxc_ast_visit::Visit;
use oxc_ast_visit::walk::{
    walk_call_expression, walk_expression, walk_for_statement, walk_new_expression,
    walk_while_statement,
};
use oxc_span::{GetSpan, Span};

use super::names::{Names, argument, text};
use crate::code::finding::Severity;
use crate::code::lines::Findings;
use crate::code::{paths, shell};

/// Modules that are there to use the network.
const NETWORK: [&str; 9] = [
    "http",
    "https",
    "http2",
    "net",
    "tls",
    "dgram",
    "axios",
    "node-fetch",
    "ws",
];

/// Looks at every call.
pub(super) struct Checks<'n, 'f, 's> {
    names: &'n Names,
    findings: &'f mut Findings<'s>,
    /// Loops around that never end.
    endless: usize,
}

impl<'n, 'f, 's> Checks<'n, 'f, 's> {
    pub(super) fn new(names: &'n Names, findings: &'f mut Findings<'s>) -> Self {
        Self {
            names,
            findings,
            endless: 0,
        }
    }

    fn add(&mut self, rule: &'static str, severity: Severity, at: Span, words: &str) {
        self.findings.add(rule, severity, at.start as usize, words);
    }

    fn call(&mut self, name: &str, arguments: &[Argument<'_>], at: Span) {
        let first = arguments.first().and_then(argument);
        // Everything in `fs/promises` and `fs.promises` is in `fs` too.
        let name = name
            .replace("fs/promises", "fs")
            .replace("fs.promises", "fs");
        match name.as_str() {
            "eval" | "Function" => self.dynamic_code(arguments, at),
            "setTimeout" | "setInterval" if first.and_then(text).is_some() => {
                self.dynamic_code(arguments, at);
            }
            "vm.runInThisContext" | "vm.runInNewContext" | "vm.runInContext" | "vm.Script" => {
                self.dynamic_code(arguments, at);
            }
            "require" if first.is_some_and(|first| text(first).is_none()) => {
                self.add(
                    "js-dynamic-import",
                    Severity::Warn,
                    at,
                    "loads a module that is only known when it runs",
                );
            }
            "require" => {
                let module = first.and_then(text).unwrap_or_default();
                self.network(&module, at);
            }
            "fetch" | "WebSocket" | "XMLHttpRequest" => self.uses_network(at),
            "child_process.exec" | "child_process.execSync" => self.shell(first, at),
            "child_process.spawn"
            | "child_process.spawnSync"
            | "child_process.execFile"
            | "child_process.execFileSync" => self.process(arguments, at),
            "child_process.fork" | "cluster.fork" => self.fork(at),
            "fs.rm"
            | "fs.rmSync"
            | "fs.rmdir"
            | "fs.rmdirSync"
            | "fs-extra.remove"
            | "fs-extra.removeSync"
            | "rimraf"
            | "rimraf.sync" => self.delete(first, at),
            "fs.writeFile"
            | "fs.writeFileSync"
            | "fs.createWriteStream"
            | "fs.appendFile"
            | "fs.appendFileSync" => {
                self.write(first, at);
            }
            "process.kill" => self.kill(first, at),
            "process.binding" | "process._linkedBinding" => {
                self.add(
                    "js-native",
                    Severity::Warn,
                    at,
                    "reaches into Node itself, below all of its checks",
                );
            }
            _ => {}
        }
    }

    fn dynamic_code(&mut self, arguments: &[Argument<'_>], at: Span) {
        let hides = arguments
            .iter()
            .filter_map(argument)
            .any(|code| self.decodes(code));
        if hides {
            self.add(
                "js-hidden",
                Severity::Danger,
                at,
                "runs code that was hidden by an encoding",
            );
        } else {
            self.add(
                "js-eval",
                Severity::Warn,
                at,
                "runs code that is only known when it runs",
            );
        }
    }

    /// Tells whether an expression decodes something, at any depth.
    fn decodes(&self, expression: &Expression<'_>) -> bool {
        struct Search<'n>(&'n Names, bool);
        impl<'a> Visit<'a> for Search<'_> {
            fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
                let name = self.0.resolve(&call.callee).unwrap_or_default();
                let encoding = call.arguments.get(1).and_then(argument).and_then(text);
                let decodes = name == "Buffer.from"
                    && matches!(encoding.as_deref(), Some("base64" | "hex" | "base64url"));
                self.1 |= decodes || name == "atob";
                walk_call_expression(self, call);
            }
        }
        let mut search = Search(self.names, false);
        search.visit_expression(expression);
        search.1
    }

    fn shell(&mut self, command: Option<&Expression<'_>>, at: Span) {
        self.add("js-shell", Severity::Warn, at, "runs a shell command");
        if let Some(command) = command.and_then(text) {
            self.shell_hits(shell::judge(&command), at);
        }
    }

    fn shell_hits(&mut self, hits: Vec<shell::Hit>, at: Span) {
        for hit in hits {
            self.add(hit.rule, hit.severity, at, &hit.message);
        }
    }

    fn process(&mut self, arguments: &[Argument<'_>], at: Span) {
        let first = arguments.first().and_then(argument);
        if arguments
            .iter()
            .filter_map(argument)
            .any(|options| has_true(options, "shell"))
        {
            return self.shell(first, at);
        }
        self.add("js-process", Severity::Info, at, "starts another program");
        let mut words = vec![first.and_then(text)];
        if let Some(Expression::ArrayExpression(list)) = arguments.get(1).and_then(argument) {
            words.extend(list.elements.iter().map(|element| element_text(element)));
        }
        self.shell_hits(shell::judge_words(&words), at);
    }

    fn fork(&mut self, at: Span) {
        if self.endless > 0 {
            self.add(
                "js-fork-bomb",
                Severity::Danger,
                at,
                "starts processes without end until nothing else can run",
            );
        } else {
            self.add("js-process", Severity::Info, at, "starts another process");
        }
    }

    fn delete(&mut self, target: Option<&Expression<'_>>, at: Span) {
        let path = target.and_then(text);
        let is_home = target.is_some_and(|target| match target {
            Expression::CallExpression(call) => self
                .names
                .resolve(&call.callee)
                .is_some_and(|name| name == "os.homedir"),
            other => self
                .names
                .resolve(other)
                .is_some_and(|name| name == "process.env.HOME"),
        });
        let lost = path
            .and_then(|path| paths::loss(&path))
            .or(is_home.then_some("the home directory"));
        if let Some(lost) = lost {
            self.add(
                "js-delete-tree",
                Severity::Danger,
                at,
                &format!("deletes {lost}"),
            );
        }
    }

    fn write(&mut self, target: Option<&Expression<'_>>, at: Span) {
        let Some(path) = target.and_then(text) else {
            return;
        };
        if paths::is_device(&path) {
            self.add(
                "js-write-device",
                Severity::Danger,
                at,
                "writes over a disk or the memory of the machine",
            );
        } else if paths::is_account_file(&path) {
            self.add(
                "js-system-file",
                Severity::Warn,
                at,
                "changes who may log in or become root",
            );
        }
    }

    fn kill(&mut self, target: Option<&Expression<'_>>, at: Span) {
        let is_all = matches!(target, Some(Expression::UnaryExpression(unary)) if is_number(&unary.argument, 1.0));
        if is_all {
            self.add(
                "js-kill-all",
                Severity::Danger,
                at,
                "kills every process there is",
            );
        }
    }

    fn network(&mut self, module: &str, at: Span) {
        let module = module.strip_prefix("node:").unwrap_or(module);
        if NETWORK.contains(&module) {
            self.uses_network(at);
        }
    }

    fn uses_network(&mut self, at: Span) {
        let words = "uses the network, which sandboxes have only when asked for";
        self.add("js-network", Severity::Info, at, words);
    }
}

impl<'a> Visit<'a> for Checks<'_, '_, '_> {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Some(name) = self.names.resolve(&call.callee) {
            self.call(&name, &call.arguments, call.span);
        }
        walk_call_expression(self, call);
    }

    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        if let Some(name) = self.names.resolve(&new.callee) {
            self.call(&name, &new.arguments, new.span);
        }
        walk_new_expression(self, new);
    }

    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        self.network(import.source.value.as_str(), import.span);
    }

    fn visit_expression(&mut self, expression: &Expression<'a>) {
        // Handed on without being called: `commands.map(execSync)`.
        if matches!(
            expression,
            Expression::Identifier(_) | Expression::StaticMemberExpression(_)
        ) {
            let name = self.names.resolve(expression);
            if name.is_some_and(|name| {
                matches!(
                    name.as_str(),
                    "child_process.exec" | "child_process.execSync"
                )
            }) {
                self.add(
                    "js-shell",
                    Severity::Warn,
                    expression.span(),
                    "runs a shell command",
                );
            }
        }
        walk_expression(self, expression);
    }

    fn visit_while_statement(&mut self, each: &WhileStatement<'a>) {
        let endless = usize::from(is_endless(Some(&each.test)));
        self.endless += endless;
        walk_while_statement(self, each);
        self.endless -= endless;
    }

    fn visit_for_statement(&mut self, each: &ForStatement<'a>) {
        let endless = usize::from(is_endless(each.test.as_ref()));
        self.endless += endless;
        walk_for_statement(self, each);
        self.endless -= endless;
    }
}

fn element_text(element: &ArrayExpressionElement<'_>) -> Option<String> {
    element.as_expression().and_then(text)
}

fn is_number(expression: &Expression<'_>, value: f64) -> bool {
    matches!(expression, Expression::NumericLiteral(number) if (number.value - value).abs() < f64::EPSILON)
}

/// Tells whether an object sets a property to true, or to anything but false.
fn has_true(expression: &Expression<'_>, property: &str) -> bool {
    let Expression::ObjectExpression(object) = expression else {
        return false;
    };
    object.properties.iter().any(|one| match one {
        ObjectPropertyKind::ObjectProperty(one) => {
            let is_false =
                matches!(&one.value, Expression::BooleanLiteral(literal) if !literal.value);
            one.key.static_name().is_some_and(|name| name == property) && !is_false
        }
        ObjectPropertyKind::SpreadProperty(_) => false,
    })
}

fn is_endless(test: Option<&Expression<'_>>) -> bool {
    match test {
        None => true,
        Some(Expression::BooleanLiteral(literal)) => literal.value,
        Some(other) => is_number(other, 1.0),
    }
}
