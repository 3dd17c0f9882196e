//! Completion in shells: their scripts, and the answers to these with what there is at the moment.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{EnvCompleter, Shells};
use serde_json::json;

use super::args::Cli;
use super::candidates::{CommandLine, SHELL_VARIABLE};
use super::exit;
use super::print::{self, Format, Outcome};
use crate::protocol::{Failure, FailureKind};

/// `completions`.
pub(super) fn completions(shell: clap_complete::Shell, format: Format) -> Outcome<u8> {
    let name = shell.to_string();
    let mut script = Vec::new();
    let written = Shells::builtins().completer(&name).map(|completer| {
        completer.write_registration(SHELL_VARIABLE, "sandtop", "sandtop", "sandtop", &mut script)
    });
    if !matches!(written, Some(Ok(()))) {
        let message = format!("there are no completions for {name}");
        return Err(Failure::new(FailureKind::Unsupported, message).into());
    }
    let script = String::from_utf8_lossy(&script);
    match format {
        Format::Json => print::json(&json!({"shell": name, "script": script}))?,
        Format::Text => print::line(script.trim_end())?,
    }
    Ok(exit::OK)
}

/// Answers the script of a shell that asks how a line may go on; `None` if none asks.
#[must_use]
pub fn answer() -> Option<u8> {
    let shell = std::env::var(SHELL_VARIABLE).ok()?;
    let shells = Shells::builtins();
    let completer = shells.completer(&shell)?;
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let answered = complete(completer, words.collect());
    Some(if answered.is_ok() {
        exit::OK
    } else {
        exit::FAILED
    })
}

fn complete(shell: &dyn EnvCompleter, words: Vec<OsString>) -> std::io::Result<()> {
    let mut command = with_candidates(Cli::command(), &CommandLine::by(&words));
    let folder = std::env::current_dir().ok();
    let mut answer = Vec::new();
    shell.write_complete(&mut command, words, folder.as_deref(), &mut answer)?;
    std::io::stdout().write_all(&answer)
}

/// Says for each argument of each verb what it may be.
fn with_candidates(command: Command, asked: &CommandLine) -> Command {
    let verb = command.get_name().to_owned();
    command
        .mut_args(|arg| match candidates(&verb, &arg, asked) {
            Some(completer) => arg.add(completer),
            None => arg,
        })
        .mut_subcommands(|verb| with_candidates(verb, asked))
}

fn candidates(verb: &str, arg: &Arg, asked: &CommandLine) -> Option<ArgValueCompleter> {
    let from = |list: fn(&CommandLine) -> Vec<CompletionCandidate>| {
        let asked = asked.clone();
        Some(ArgValueCompleter::new(move |typed: &OsStr| {
            starting_with(typed, list(&asked))
        }))
    };
    match (verb, arg.get_id().as_str()) {
        // A new sandbox has a new name.
        ("create", "name") => None,
        (_, "name" | "names" | "sandbox") => from(CommandLine::sandboxes),
        ("cp", "from" | "to") => {
            let asked = asked.clone();
            Some(ArgValueCompleter::new(move |typed: &OsStr| {
                let mut sides = PathCompleter::any().complete(typed);
                sides.extend(starting_with(typed, asked.sandbox_sides()));
                sides
            }))
        }
        ("input" | "cancel", "run") => from(CommandLine::running_runs),
        (_, "run") => from(CommandLine::runs),
        (_, "engine") => from(|_| CommandLine::engines()),
        (_, "host") => from(|_| CommandLine::hosts()),
        (_, "profile") => from(CommandLine::profiles),
        ("man", "verb") => from(|_| CommandLine::verbs(&Cli::command())),
        _ => None,
    }
}

fn starting_with(typed: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let start = typed.as_encoded_bytes();
    let matches = |one: &CompletionCandidate| one.get_value().as_encoded_bytes().starts_with(start);
    all.into_iter().filter(matches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        let mut command = with_candidates(Cli::command(), &CommandLine::by(&[]));
        let at = words.len() - 1;
        let found = clap_complete::engine::complete(&mut command, words, at, None);
        let found = found.expect("an answer").into_iter();
        found
            .map(|one| one.get_value().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn verbs_flags_and_engines_are_completed() {
        assert_eq!(completed(&["sandtop", "ins"]), ["inspect"]);
        assert_eq!(completed(&["sandtop", "exec", "--det"]), ["--detach"]);
        assert_eq!(completed(&["sandtop", "--engine", "doc"]), ["docker"]);
        assert_eq!(completed(&["sandtop", "ls", "--engine", "lo"]), ["local"]);
        assert_eq!(completed(&["sandtop", "man", "exe"]), ["exec"]);
    }
}
