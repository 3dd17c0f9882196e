//! `man`: the manual, a page for each verb.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;

use super::args::Cli;
use super::exit;
use super::print::{self, Format, Outcome};
use crate::protocol::{Failure, FailureKind};
use crate::text::nearest;

/// What `man` takes.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The verb, such as `exec` or `files put` (default: the page about all of them)
    pub verb: Vec<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "verb")]
    pub out: Option<PathBuf>,
}

/// `man`.
pub(super) fn manual(args: &ManArgs, format: Format) -> Outcome<u8> {
    let whole = command();
    if let Some(folder) = &args.out {
        return write_all(&whole, folder, format);
    }
    let page = page(find(&whole, &args.verb)?)?;
    let page = String::from_utf8_lossy(&page);
    match format {
        Format::Json => print::json(&json!({"page": page}))?,
        Format::Text => print::line(page.trim_end())?,
    }
    Ok(exit::OK)
}

/// Returns the command line as the pages describe it; each verb knows its whole name.
fn command() -> Command {
    // `help` would be named on pages and have none.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

fn find<'a>(whole: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(whole, |command, word| {
        let found = verbs(command).find(|verb| verb.get_name() == word);
        found.ok_or_else(|| unknown(command, word))
    })
}

fn unknown(command: &Command, word: &str) -> Failure {
    let names: Vec<&str> = verbs(command).map(Command::get_name).collect();
    let (above, word_shown) = (command.get_name(), word.escape_default());
    let message = format!("`{above}` has no verb `{word_shown}`");
    let hint = match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("`sandtop man {above}` is the page about it"),
        None => format!("its verbs: {}", names.join(", ")),
    };
    Failure::new(FailureKind::Invalid, message).with_hint(hint)
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| {
        let message = format!("making the manual page failed: {error}");
        Failure::new(FailureKind::Internal, message)
    })?;
    Ok(page)
}

fn write_all(whole: &Command, folder: &Path, format: Format) -> Outcome<u8> {
    let failed = |path: &Path, error: std::io::Error| {
        let message = format!("writing {} failed: {error}", path.display());
        Failure::new(FailureKind::Internal, message)
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut written = Vec::new();
    let mut waiting = vec![whole];
    while let Some(command) = waiting.pop() {
        let path = folder.join(Man::new(command.clone()).get_filename());
        std::fs::write(&path, page(command)?).map_err(|error| failed(&path, error))?;
        written.push(path.display().to_string());
        waiting.extend(verbs(command));
    }
    written.sort();
    match format {
        Format::Json => print::json(&json!({"pages": written}))?,
        Format::Text => print::line(&written.join("\n"))?,
    }
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let whole = command();
        let found = find(&whole, &words).map_err(|failure| failure.hint.unwrap_or_default())?;
        Ok(Man::new(found.clone()).get_filename())
    }

    #[test]
    fn each_verb_has_a_page_of_its_whole_name() {
        assert_eq!(title(&[]), Ok("sandtop.1".into()));
        assert_eq!(title(&["exec"]), Ok("sandtop-exec.1".into()));
        assert_eq!(title(&["files", "put"]), Ok("sandtop-files-put.1".into()));
        assert_eq!(title(&["exce"]), Err("did you mean `exec`?".into()));
        assert!(title(&["keep"]).is_err(), "hidden verbs have no page");
        assert!(title(&["ls", "x"]).is_err());
    }
}
