//! The rules of Python: calls that start programs, run hidden code or destroy things, by what they are and not by how they are
//! spelt.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use super::literals::{decodes, has_safe_loader, is_one, is_true};
use super::names::{Names, text};
use crate::code::finding::Severity;
use crate::code::lines::Findings;
use crate::code::{paths, shell};

/// Modules that are there to use the network.
const NETWORK: [&str; 10] = [
    "socket",
    "urllib",
    "http",
    "ftplib",
    "smtplib",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "websockets",
];

/// Looks at every expression.
pub(super) struct Checks<'n, 'f, 's> {
    names: &'n Names,
    findings: &'f mut Findings<'s>,
    /// Loops around that never end.
    endless: usize,
    dynamic: Vec<String>,
}

impl<'n, 'f, 's> Checks<'n, 'f, 's> {
    pub(super) fn new(names: &'n Names, findings: &'f mut Findings<'s>) -> Self {
        Self {
            names,
            findings,
            endless: 0,
            dynamic: Vec::new(),
        }
    }

    /// Returns the modules that are imported by calls with a known name.
    pub(super) fn dynamic_imports(self) -> Vec<String> {
        self.dynamic
    }

    fn add(&mut self, rule: &'static str, severity: Severity, at: &impl Ranged, words: &str) {
        self.findings
            .add(rule, severity, at.start().to_usize(), words);
    }

    fn call(&mut self, call: &ExprCall) {
        let Some(name) = self.names.resolve(&call.func) else {
            return self.method(call);
        };
        let first = call.arguments.args.first();
        match name.as_str() {
            "eval" | "exec" | "compile" => self.dynamic_code(call),
            "__import__" | "importlib.import_module" => self.dynamic_import(call),
            "open" | "io.open" | "os.open" => self.open(call),
            "os.system"
            | "os.popen"
            | "pty.spawn"
            | "subprocess.getoutput"
            | "subprocess.getstatusoutput"
            | "asyncio.create_subprocess_shell"
            | "commands.getoutput" => self.shell(call, first),
            "subprocess.run"
            | "subprocess.call"
            | "subprocess.Popen"
            | "subprocess.check_call"
            | "subprocess.check_output"
            | "asyncio.create_subprocess_exec" => self.process(call),
            "shutil.rmtree" | "os.removedirs" => self.delete_tree(call),
            "os.fork" | "os.forkpty" => self.fork(call),
            "os.kill" | "os.killpg" => self.kill(call),
            "os.dup2" if self.names.imports("socket") => {
                let words = "joins a shell to a connection, as remote shells do";
                self.add("py-remote-shell", Severity::Danger, call, words);
            }
            "pickle.load" | "pickle.loads" | "cPickle.loads" | "dill.loads" | "dill.load"
            | "marshal.loads" | "marshal.load" | "yaml.unsafe_load" | "joblib.load"
            | "jsonpickle.decode" => self.unpickle(call),
            "yaml.load" | "yaml.load_all" if !has_safe_loader(call) => self.unpickle(call),
            "ctypes.CDLL" | "ctypes.cdll.LoadLibrary" => {
                self.add(
                    "py-native",
                    Severity::Info,
                    call,
                    "calls machine code that no check can read",
                );
            }
            name if name.starts_with("os.exec")
                || name.starts_with("os.spawn")
                || name == "os.posix_spawn" =>
            {
                self.add(
                    "py-process",
                    Severity::Warn,
                    call,
                    "starts another program in place of this one or beside it",
                );
            }
            _ => {}
        }
    }

    fn dynamic_code(&mut self, call: &ExprCall) {
        let hides = call
            .arguments
            .args
            .first()
            .is_some_and(|code| decodes(self.names, code));
        if hides {
            self.add(
                "py-hidden",
                Severity::Danger,
                call,
                "runs code that was hidden by an encoding",
            );
        } else {
            self.add(
                "py-eval",
                Severity::Warn,
                call,
                "runs code that is only known when it runs",
            );
        }
    }

    fn dynamic_import(&mut self, call: &ExprCall) {
        match call.arguments.args.first().and_then(text) {
            Some(module) => self.dynamic.push(module),
            None => self.add(
                "py-dynamic-import",
                Severity::Warn,
                call,
                "imports a module that is only known when it runs",
            ),
        }
    }

    fn open(&mut self, call: &ExprCall) {
        let path = call.arguments.find_argument_value("file", 0).and_then(text);
        let mode = call.arguments.find_argument_value("mode", 1).and_then(text);
        let writes = mode.is_some_and(|mode| mode.contains(['w', 'a', '+', 'x']));
        let Some(path) = path.filter(|_| writes) else {
            return;
        };
        self.written(call, &path);
    }

    /// Judges what a file is that is written.
    fn written(&mut self, call: &ExprCall, path: &str) {
        if paths::is_device(path) {
            self.add(
                "py-write-device",
                Severity::Danger,
                call,
                "writes over a disk or the memory of the machine",
            );
        } else if paths::is_account_file(path) {
            self.add(
                "py-system-file",
                Severity::Warn,
                call,
                "changes who may log in or become root",
            );
        }
    }

    /// Runs the shell's own rules over a command that is written down.
    fn shell(&mut self, call: &ExprCall, command: Option<&Expr>) {
        self.add("py-shell", Severity::Warn, call, "runs a shell command");
        if let Some(command) = command.and_then(text) {
            let hits = shell::judge(&command);
            self.shell_hits(call, hits);
        }
    }

    fn shell_hits(&mut self, call: &ExprCall, hits: Vec<shell::Hit>) {
        for hit in hits {
            self.add(hit.rule, hit.severity, call, &hit.message);
        }
    }

    fn process(&mut self, call: &ExprCall) {
        let first = call.arguments.find_argument_value("args", 0);
        let has_shell = call
            .arguments
            .find_keyword("shell")
            .is_some_and(|keyword| is_true(&keyword.value));
        if has_shell {
            return self.shell(call, first);
        }
        self.add("py-process", Severity::Info, call, "starts another program");
        let words = match first {
            Some(Expr::List(list)) => list.elts.iter().map(text).collect(),
            Some(Expr::Tuple(tuple)) => tuple.elts.iter().map(text).collect(),
            // `create_subprocess_exec` takes the words one by one.
            Some(Expr::StringLiteral(_)) => call.arguments.args.iter().map(text).collect(),
            _ => Vec::new(),
        };
        let hits = shell::judge_words(&words);
        self.shell_hits(call, hits);
    }

    fn delete_tree(&mut self, call: &ExprCall) {
        let target = call.arguments.args.first();
        let home = target.is_some_and(|target| self.is_home(target));
        let lost = target.and_then(text).and_then(|path| paths::loss(&path));
        if let Some(lost) = lost.or(home.then_some("the home directory")) {
            self.add(
                "py-delete-tree",
                Severity::Danger,
                call,
                &format!("deletes {lost}"),
            );
        } else {
            self.add(
                "py-delete-tree",
                Severity::Info,
                call,
                "deletes a folder with all below it",
            );
        }
    }

    fn is_home(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else {
            return false;
        };
        match self.names.resolve(&call.func).as_deref() {
            Some("pathlib.Path.home") => true,
            Some("os.path.expanduser") => call
                .arguments
                .args
                .first()
                .and_then(text)
                .is_some_and(|path| path == "~" || path == "~/"),
            _ => false,
        }
    }

    fn fork(&mut self, call: &ExprCall) {
        if self.endless > 0 {
            self.add(
                "py-fork-bomb",
                Severity::Danger,
                call,
                "starts processes without end until nothing else can run",
            );
        } else {
            self.add("py-process", Severity::Info, call, "starts another process");
        }
    }

    fn kill(&mut self, call: &ExprCall) {
        let target = call.arguments.args.first();
        let is_all = matches!(target, Some(Expr::UnaryOp(unary)) if is_one(&unary.operand));
        if is_all {
            self.add(
                "py-kill-all",
                Severity::Danger,
                call,
                "kills every process there is",
            );
        }
    }

    fn unpickle(&mut self, call: &ExprCall) {
        self.add(
            "py-unpickle",
            Severity::Warn,
            call,
            "loads data that can run code of its own",
        );
    }

    /// Methods of objects that were made on the spot, such as `Path("/dev/sda").write_bytes(…)`.
    fn method(&mut self, call: &ExprCall) {
        let Expr::Attribute(attribute) = &*call.func else {
            return;
        };
        let Expr::Call(made) = &*attribute.value else {
            return;
        };
        let is_path = self
            .names
            .resolve(&made.func)
            .is_some_and(|name| name == "pathlib.Path");
        let path = made
            .arguments
            .args
            .first()
            .and_then(text)
            .filter(|_| is_path);
        let writes = matches!(
            attribute.attr.as_str(),
            "write_text" | "write_bytes" | "unlink"
        );
        if let Some(path) = path.filter(|_| writes) {
            self.written(call, &path);
        }
    }

    fn network(&mut self, stmt: &Stmt, module: &str) {
        let top = module.split('.').next().unwrap_or_default();
        if NETWORK.contains(&top) && module != "urllib.parse" && module != "http.HTTPStatus" {
            self.add(
                "py-network",
                Severity::Info,
                stmt,
                "uses the network, which sandboxes have only when asked for",
            );
        }
    }
}

impl<'a> Visitor<'a> for Checks<'_, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.network(stmt, alias.name.as_str());
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                self.network(stmt, module);
            }
            Stmt::While(each) if is_true(&each.test) || is_one(&each.test) => {
                self.endless += 1;
                walk_stmt(self, stmt);
                self.endless -= 1;
                return;
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            // Handed on without being called: `map(os.system, commands)`.
            Expr::Attribute(_) => {
                let name = self.names.resolve(expr);
                if name.is_some_and(|name| {
                    matches!(name.as_str(), "os.system" | "os.popen" | "pty.spawn")
                }) {
                    self.add("py-shell", Severity::Warn, expr, "runs a shell command");
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
