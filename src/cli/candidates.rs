//! What may stand at a place of the command line: sandboxes, runs, profiles, engines.
//!
//! Sandboxes and runs are asked of another sandtop with the flags that the line has so far: it finds the same configuration and
//! engine as the finished line will, and one that hangs can be ended in time.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use serde_json::Value;

use crate::config::{Config, Environment, LoadOptions};
use crate::domain::EngineKind;
use crate::text::safe_line;

/// The variable by which a shell's script asks; its value is the shell's name.
pub(super) const SHELL_VARIABLE: &str = "SANDTOP_COMPLETE";

/// Longest wait; who presses Tab would rather have nothing than wait.
const PATIENCE: Duration = Duration::from_secs(2);

/// The flags that choose what there is.
const CHOOSING: [&str; 3] = ["--engine", "--host", "--config"];

/// What the line to complete says so far.
#[derive(Debug, Clone)]
pub(super) struct CommandLine {
    /// The flags that choose settings and engine, each with its value.
    flags: Vec<OsString>,
}

impl CommandLine {
    /// Reads the words of a line.
    pub(super) fn by(words: &[OsString]) -> Self {
        let own = words.iter().take_while(|word| *word != "--");
        let mut own = own.peekable();
        let mut flags = Vec::new();
        while let Some(word) = own.next() {
            let text = word.to_string_lossy();
            if CHOOSING.iter().any(|flag| text == *flag) {
                let value = own.next().filter(|value| !value.is_empty());
                flags.extend(
                    value
                        .into_iter()
                        .flat_map(|value| [word.clone(), value.clone()]),
                );
            } else if CHOOSING
                .iter()
                .any(|flag| text.starts_with(&format!("{flag}=")))
            {
                flags.push(word.clone());
            }
        }
        Self { flags }
    }

    /// Lists sandboxes by name.
    pub(super) fn sandboxes(&self) -> Vec<CompletionCandidate> {
        let about = |one: &Value| format!("{}, {}", text(one, "phase"), text(one, "image"));
        self.list(&["ls", "--all"], "name", about)
    }

    /// Lists sandboxes as a side of a copy.
    pub(super) fn sandbox_sides(&self) -> Vec<CompletionCandidate> {
        let side = |one: CompletionCandidate| {
            let mut value = one.get_value().to_os_string();
            value.push(":");
            CompletionCandidate::new(value).help(one.get_help().cloned())
        };
        self.sandboxes().into_iter().map(side).collect()
    }

    /// Lists recorded runs, the newest first.
    pub(super) fn runs(&self) -> Vec<CompletionCandidate> {
        self.list(&["runs"], "run", about_run)
    }

    /// Lists runs that have not ended.
    pub(super) fn running_runs(&self) -> Vec<CompletionCandidate> {
        self.list(&["runs", "--running"], "run", about_run)
    }

    /// Lists the engines.
    pub(super) fn engines() -> Vec<CompletionCandidate> {
        let words = EngineKind::ALL.map(EngineKind::word);
        words.into_iter().map(CompletionCandidate::new).collect()
    }

    /// Lists the hosts.
    pub(super) fn hosts() -> Vec<CompletionCandidate> {
        vec![CompletionCandidate::new(super::HOST)]
    }

    /// Lists the verbs.
    pub(super) fn verbs(command: &clap::Command) -> Vec<CompletionCandidate> {
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let one = |verb: &clap::Command| {
            CompletionCandidate::new(verb.get_name()).help(verb.get_about().cloned())
        };
        verbs.map(one).collect()
    }

    /// Lists the profiles of the configuration.
    pub(super) fn profiles(&self) -> Vec<CompletionCandidate> {
        let options = LoadOptions {
            config: self.value("--config").map(Into::into),
            engine: None,
            environment: Environment::of_process(),
        };
        let names = Config::load(&options).map(|config| config.profiles.into_keys());
        let names = names.into_iter().flatten();
        names.map(CompletionCandidate::new).collect()
    }

    fn value(&self, flag: &str) -> Option<OsString> {
        let mut flags = self.flags.iter();
        while let Some(word) = flags.next() {
            if word == flag {
                return flags.next().cloned();
            }
            let glued = word.to_str().and_then(|word| word.split_once('='));
            if let Some((name, value)) = glued
                && name == flag
            {
                return Some(value.into());
            }
        }
        None
    }

    /// Asks another sandtop for a list, of which `key` is to be completed.
    fn list(
        &self,
        verb: &[&str],
        key: &str,
        about: impl Fn(&Value) -> String,
    ) -> Vec<CompletionCandidate> {
        let printed = self.ask(verb).unwrap_or_default();
        let found: Vec<Value> = serde_json::from_slice(&printed).unwrap_or_default();
        let one = |found: &Value| {
            // What a shell would read as something else than a name is left out.
            let name = text(found, key);
            let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            let is_name = !name.is_empty() && name.chars().all(is_plain);
            is_name
                .then(|| CompletionCandidate::new(name).help(Some(safe_line(about(found)).into())))
        };
        found.iter().filter_map(one).collect()
    }

    fn ask(&self, verb: &[&str]) -> Option<Vec<u8>> {
        let mut asked = Command::new(std::env::current_exe().ok()?)
            .args(&self.flags)
            .args([OsStr::new("--json")])
            .args(verb)
            .env_remove(SHELL_VARIABLE)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut stdout = asked.stdout.take()?;
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut printed = Vec::new();
            let _ = stdout.read_to_end(&mut printed);
            let _ = tell.send(printed);
        });
        let printed = told.recv_timeout(PATIENCE).ok();
        if printed.is_none() {
            let _ = asked.kill();
        }
        let _ = asked.wait();
        printed
    }
}

fn about_run(run: &Value) -> String {
    let words = run.get("command").and_then(Value::as_array);
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    let line = words.collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(40).collect();
    format!("{}: {line}", text(run, "sandbox"))
}

fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_line_chooses_is_taken_over() {
        let words = "sandtop --engine demo exec --config=/c --host --json -- --engine x";
        let words: Vec<OsString> = words.split(' ').map(Into::into).collect();
        let asked = CommandLine::by(&words);
        let expected = ["--engine", "demo", "--config=/c", "--host", "--json"];
        assert_eq!(asked.flags, expected);
        assert_eq!(asked.value("--config"), Some("/c".into()));
        assert_eq!(asked.value("--engine"), Some("demo".into()));
    }
}
