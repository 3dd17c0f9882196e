//! Programs within commands: what `sh -c`, `eval`, here-documents and pipes make a shell run.

use super::call::{Call, piped};
use super::command::Simple;
use super::rules::Judge;
use super::word::{UNKNOWN, Word};
use crate::code::finding::Severity;

/// Programs that fetch a file and write it out.
const FETCHERS: [&str; 4] = ["curl", "wget", "fetch", "aria2c"];

impl Judge {
    pub(super) fn eval(&mut self, call: Call<'_>) {
        let texts: Vec<&str> = call
            .arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let program = texts.join(" ");
        if program.contains(UNKNOWN) {
            self.hit(
                "sh-eval",
                Severity::Warn,
                call.at,
                "runs text that is only known when it runs",
            );
        }
        self.programs.push((program, call.at));
    }

    pub(super) fn trap(&mut self, call: Call<'_>) {
        if let Some(word) = call.arguments.first() {
            self.programs.push((word.text.clone(), word.at));
        }
    }

    /// Reads the program after an option such as `-c`, also in `-ec`.
    pub(super) fn option_program(&mut self, call: Call<'_>, option: &str) {
        let letter = option.trim_start_matches('-');
        let is_option = |word: &Word| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
        };
        let at = call.arguments.iter().position(is_option);
        let program = at.and_then(|at| call.arguments.get(at + 1));
        if let Some(word) = program {
            self.programs.push((word.text.clone(), word.at));
        }
    }

    /// A shell runs what `-c`, a here-document or a pipe brings.
    pub(super) fn shell(&mut self, call: Call<'_>, command: &Simple, upstream: Option<&Simple>) {
        self.option_program(call, "-c");
        if let Some(body) = &command.here_doc {
            self.programs.push((body.text.clone(), body.at));
        }
        for (op, word) in &command.redirects {
            if *op == "<<<" {
                self.programs.push((word.text.clone(), word.at));
            }
        }
        let Some(source) = upstream.and_then(|command| Call::of(&command.words)) else {
            return;
        };
        if FETCHERS.contains(&source.name) {
            self.hit(
                "sh-pipe-to-shell",
                Severity::Warn,
                call.at,
                "runs a script straight from the network",
            );
        } else if matches!(
            source.name,
            "base64" | "base32" | "xxd" | "openssl" | "rev" | "uudecode"
        ) {
            self.hit(
                "sh-hidden",
                Severity::Danger,
                call.at,
                "runs a program that was hidden by an encoding",
            );
        } else if matches!(source.name, "echo" | "printf") {
            self.programs.push((piped(source).join(" "), source.at));
        }
    }
}
