//! The rules of the shell: which commands destroy, hide or escape.

use super::Hit;
use super::call::{Call, piped};
use super::command::Simple;
use super::unwrap::{XARGS, after_options};
use super::word::{HOME, Reach, UNKNOWN, Word, braces, reach};
use crate::code::finding::Severity;
use crate::code::paths::{is_account_file, is_device};

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Judges one command after the other.
pub(super) struct Judge {
    pub(super) hits: Vec<Hit>,
    /// Programs in arguments, such as that of `sh -c`, and where they stand.
    pub(super) programs: Vec<(String, usize)>,
    /// Where `cd` has led to.
    here: Reach,
}

impl Judge {
    pub(super) fn new() -> Self {
        Self {
            hits: Vec::new(),
            programs: Vec::new(),
            here: Reach::Elsewhere,
        }
    }

    pub(super) fn hit(
        &mut self,
        rule: &'static str,
        severity: Severity,
        at: usize,
        message: impl Into<String>,
    ) {
        self.hits.push(Hit {
            rule,
            severity,
            at,
            message: message.into(),
        });
    }

    /// Judges a command; `upstream` is the one that it reads from.
    pub(super) fn command(&mut self, command: &Simple, upstream: Option<&Simple>) {
        self.redirects(command);
        let Some(call) = Call::of(&command.words) else {
            return;
        };
        self.fork_bomb(command, call);
        self.call(call, upstream);
        if SHELLS.contains(&call.name) {
            self.shell(call, command, upstream);
        }
    }

    fn call(&mut self, call: Call<'_>, upstream: Option<&Simple>) {
        match call.name {
            "rm" | "unlink" | "srm" => self.remove(call, &[]),
            "find" => self.find(call),
            "xargs" | "parallel" => self.xargs(call, upstream),
            "mv" => self.move_away(call),
            "chmod" | "chown" | "chgrp" | "setfacl" => self.mode(call),
            "dd" => self.dd(call),
            "tee" | "cp" | "install" | "truncate" | "shred" => self.writes(call),
            "cd" | "pushd" => self.go(call),
            "eval" => self.eval(call),
            "su" | "runuser" => self.option_program(call, "-c"),
            "trap" => self.trap(call),
            "kill" => self.kill(call),
            "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" => self.power(call),
            "nc" | "ncat" | "netcat" | "socat" => self.remote_shell(call),
            "wipefs" | "mkswap" | "blkdiscard" | "mke2fs" | "mkdosfs" => self.format(call),
            name if name.starts_with("mkfs") => self.format(call),
            "." | "source" if call.arguments.iter().any(|w| w.text.contains(UNKNOWN)) => {
                let words = "runs a script whose text is only known when it runs";
                self.hit("sh-eval", Severity::Warn, call.at, words);
            }
            _ => {}
        }
    }

    /// Judges `rm`, with operands that come from elsewhere.
    fn remove(&mut self, call: Call<'_>, more: &[String]) {
        if !call.has(&['r', 'R'], "--recursive") {
            return;
        }
        let mut operands = call.operands();
        operands.extend(more.iter().cloned());
        self.destroys(call.at, "sh-delete-root", "deletes", &operands);
    }

    /// Tells what is lost when something is done to all below these paths.
    fn destroys(&mut self, at: usize, rule: &'static str, does: &str, paths: &[String]) {
        for path in paths {
            let reach = match reach(path) {
                Reach::Here => self.here,
                other => other,
            };
            if let Some(what) = reach.loss() {
                return self.hit(rule, Severity::Danger, at, format!("{does} {what}"));
            }
            if reach == Reach::RootIfEmpty {
                let words = format!(
                    "{does} the whole file system if the variable is empty; write ${{NAME:?}}"
                );
                self.hit("sh-empty-variable", Severity::Warn, at, words);
            }
        }
    }

    fn find(&mut self, call: Call<'_>) {
        let texts: Vec<&str> = call
            .arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let narrows = [
            "-name",
            "-iname",
            "-path",
            "-wholename",
            "-regex",
            "-mtime",
            "-mmin",
            "-newer",
            "-user",
            "-group",
            "-size",
            "-empty",
            "-maxdepth",
            "-perm",
            "-inum",
            "-atime",
            "-ctime",
        ];
        let starts: Vec<String> = texts
            .iter()
            .take_while(|text| !text.starts_with(['-', '(', '!']))
            .flat_map(|text| braces(text))
            .collect();
        let is_narrow = texts.iter().any(|text| narrows.contains(text));
        let exec = texts
            .iter()
            .position(|text| matches!(*text, "-exec" | "-execdir" | "-ok"));
        let run = exec.and_then(|at| Call::of(call.arguments.get(at + 1..)?));
        let removes = run.is_some_and(|run| matches!(run.name, "rm" | "shred" | "unlink"));
        if !is_narrow && (texts.contains(&"-delete") || removes) {
            self.destroys(call.at, "sh-delete-root", "deletes", &starts);
        }
        if let Some(run) = run.filter(|_| !removes) {
            let words: Vec<Word> = run
                .arguments
                .iter()
                .take_while(|w| w.text != ";" && w.text != "+")
                .cloned()
                .collect();
            let inner = Call {
                arguments: &words,
                ..run
            };
            self.call(inner, None);
            if SHELLS.contains(&inner.name) {
                self.option_program(inner, "-c");
            }
        }
    }

    /// `xargs` gives its command what comes through the pipe.
    fn xargs(&mut self, call: Call<'_>, upstream: Option<&Simple>) {
        let inner = after_options(call.arguments, &XARGS);
        let Some(inner) = Call::of(inner) else { return };
        let more = upstream
            .and_then(|command| Call::of(&command.words))
            .map(piped)
            .unwrap_or_default();
        match inner.name {
            "rm" => self.remove(inner, &more),
            name if SHELLS.contains(&name) => self.option_program(inner, "-c"),
            _ => self.call(inner, None),
        }
    }

    fn move_away(&mut self, call: Call<'_>) {
        let mut operands = call.operands();
        operands.pop();
        self.destroys(call.at, "sh-delete-root", "moves away", &operands);
    }

    fn mode(&mut self, call: Call<'_>) {
        if call.has(&['R'], "--recursive") {
            let operands = call.operands();
            let targets = operands.get(1..).unwrap_or_default();
            self.destroys(
                call.at,
                "sh-mode-root",
                "changes owners or rights of",
                targets,
            );
        }
    }

    fn dd(&mut self, call: Call<'_>) {
        let targets = call
            .arguments
            .iter()
            .filter_map(|word| word.text.strip_prefix("of="));
        if targets.into_iter().any(is_device) {
            self.device(call.at);
        }
    }

    fn writes(&mut self, call: Call<'_>) {
        let operands = call.operands();
        let targets = match call.name {
            "cp" | "install" => operands.last().into_iter().collect::<Vec<_>>(),
            _ => operands.iter().collect(),
        };
        if targets.iter().any(|target| is_device(target)) {
            self.device(call.at);
        }
        if targets.iter().any(|target| is_account_file(target)) {
            self.account_file(call.at);
        }
    }

    fn device(&mut self, at: usize) {
        let words = "writes over a disk or the memory of the machine";
        self.hit("sh-write-device", Severity::Danger, at, words);
    }

    fn account_file(&mut self, at: usize) {
        let words = "changes who may log in or become root";
        self.hit("sh-system-file", Severity::Warn, at, words);
    }

    fn format(&mut self, call: Call<'_>) {
        let words = "makes a new file system and loses the old one";
        self.hit("sh-mkfs", Severity::Danger, call.at, words);
    }

    fn redirects(&mut self, command: &Simple) {
        for (op, target) in &command.redirects {
            if op.contains('>') && is_device(&target.text) {
                self.device(target.at);
            } else if op.contains('>') && is_account_file(&target.text) {
                self.account_file(target.at);
            } else if op.contains('>') && target.text.starts_with("/proc/sysrq-trigger") {
                self.hit(
                    "sh-power",
                    Severity::Danger,
                    target.at,
                    "tells the kernel to crash or restart",
                );
            }
            if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
                self.hit(
                    "sh-remote-shell",
                    Severity::Warn,
                    target.at,
                    "opens a connection from the shell itself",
                );
            }
        }
    }

    fn go(&mut self, call: Call<'_>) {
        let target = call
            .operands()
            .into_iter()
            .next()
            .unwrap_or_else(|| HOME.to_string());
        self.here = match reach(&target) {
            Reach::Here => self.here,
            other => other,
        };
    }

    fn kill(&mut self, call: Call<'_>) {
        let mut operands = call.arguments.iter().skip(1);
        if operands.any(|word| word.text == "-1") {
            self.hit(
                "sh-kill-all",
                Severity::Danger,
                call.at,
                "kills every process there is",
            );
        }
    }

    fn power(&mut self, call: Call<'_>) {
        let is_init = matches!(call.name, "init" | "telinit");
        let ends = call
            .arguments
            .first()
            .is_some_and(|word| matches!(word.text.as_str(), "0" | "6"));
        if !is_init || ends {
            self.hit(
                "sh-power",
                Severity::Warn,
                call.at,
                "stops or restarts the machine",
            );
        }
    }

    fn remote_shell(&mut self, call: Call<'_>) {
        let hands_over = call.arguments.iter().any(|word| {
            matches!(word.text.as_str(), "-e" | "-c" | "--exec" | "--sh-exec")
                || word.text.to_lowercase().starts_with("exec:")
        });
        if hands_over {
            self.hit(
                "sh-remote-shell",
                Severity::Danger,
                call.at,
                "hands a shell to whoever is at the other end",
            );
        }
    }

    /// A function or script that starts itself twice, or in the background, fills the machine.
    fn fork_bomb(&mut self, command: &Simple, call: Call<'_>) {
        let is_self = |name: &str| command.functions.iter().any(|function| function == name);
        let is_script = command
            .words
            .first()
            .is_some_and(|word| word.text.ends_with("$0"));
        let multiplies = command.feeds || command.is_piped || command.in_background;
        if multiplies && (is_self(call.name) || is_script) {
            self.hit(
                "sh-fork-bomb",
                Severity::Danger,
                call.at,
                "starts itself again and again until nothing else can run",
            );
        }
    }
}
