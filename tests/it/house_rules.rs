//! Rules of the source that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 400;

struct Source {
    /// Its path below the project, such as `src/lib.rs`.
    name: String,
    text: String,
}

impl Source {
    fn is_below(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.name.starts_with(place))
    }

    /// Tells where a word stands, comments included.
    fn lines_with(&self, word: &str) -> Vec<String> {
        let lines = self.text.lines().enumerate();
        let found = lines.filter(|(_, line)| has_word(line, word));
        found
            .map(|(number, line)| format!("{}:{}: {}", self.name, number + 1, line.trim()))
            .collect()
    }
}

/// Looks for a word that is not a part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let whole_start = !word.starts_with(is_part) || !before.is_some_and(is_part);
        let whole_end = !word.ends_with(is_part) || !after.is_some_and(is_part);
        whole_start && whole_end
    })
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![root.join("src")];
    while let Some(place) = waiting.pop() {
        if place.is_dir() {
            let children = fs::read_dir(&place).expect("a folder");
            waiting.extend(children.map(|child| child.expect("a file").path()));
        } else if place.extension().is_some_and(|e| e == "rs") {
            let name = place.strip_prefix(root).expect("a path below the root");
            found.push(Source {
                name: name.display().to_string(),
                text: fs::read_to_string(&place).expect("text"),
            });
        }
    }
    assert!(found.len() > 20, "the source was not found");
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Fails if a word stands outside of the places where it may.
fn only_in(word: &str, places: &[&str]) {
    let outside = sources();
    let outside = outside.iter().filter(|source| !source.is_below(places));
    let found: Vec<String> = outside.flat_map(|source| source.lines_with(word)).collect();
    assert!(
        found.is_empty(),
        "`{word}` may stand only in {places:?}:\n{}",
        found.join("\n")
    );
}

/// Fails if a word stands in places where it may not.
fn never_in(word: &str, places: &[&str]) {
    let inside = sources();
    let inside = inside.iter().filter(|source| source.is_below(places));
    let found: Vec<String> = inside.flat_map(|source| source.lines_with(word)).collect();
    assert!(
        found.is_empty(),
        "`{word}` may not stand in {places:?}:\n{}",
        found.join("\n")
    );
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (source.text.lines().count(), &source.name))
        .filter(|(count, _)| *count > LONGEST_FILE)
        .map(|(count, name)| format!("{name}: {count} lines"))
        .collect();
    assert!(
        long.is_empty(),
        "more than {LONGEST_FILE} lines:\n{}",
        long.join("\n")
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.name)
        .collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn libraries_stay_where_they_belong() {
    only_in("bollard", &["src/engine/docker/"]);
    only_in("clap", &["src/cli/"]);
    only_in("clap_complete", &["src/cli/"]);
    only_in("clap_mangen", &["src/cli/"]);
    only_in("ruff_python_parser", &["src/code/python/"]);
    only_in("oxc_parser", &["src/code/javascript/"]);
    let pure = [
        "src/domain/",
        "src/protocol/",
        "src/text/",
        "src/config/",
        "src/code/",
    ];
    for outer in [
        "crate::engine",
        "crate::manager",
        "crate::app",
        "crate::config",
    ] {
        never_in(outer, &["src/code/"]);
    }
    never_in("tokio", &pure);
}

#[test]
fn only_the_guest_keepers_and_the_editor_of_choice_start_processes() {
    let starters = [
        "src/guest/",
        "src/cli/detach.rs",
        "src/engine/local/keeper.rs",
        "src/engine/local/scope.rs",
        "src/tui/effects.rs",
    ];
    for word in ["process::Command", "tokio::process", "process::{Command"] {
        only_in(word, &starters);
    }
    let imports: Vec<String> = sources()
        .iter()
        .filter(|source| !source.is_below(&starters))
        .flat_map(|source| source.lines_with("std::process"))
        .filter(|line| has_word(line, "Command"))
        .collect();
    assert_eq!(imports, Vec::<String>::new());
}

#[test]
fn only_the_command_line_prints() {
    // Tests may tell what they measured.
    let mut places = vec!["src/guest/".to_owned(), "src/cli/print.rs".to_owned()];
    places.extend(
        sources()
            .into_iter()
            .map(|source| source.name)
            .filter(|name| name.ends_with("/tests.rs") || name.contains("/tests/")),
    );
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    for word in ["println!", "eprintln!", "print!", "eprint!", "dbg!"] {
        only_in(word, &places);
    }
}

#[test]
fn engines_keep_their_words_to_themselves() {
    for word in ["container", "containers", "Container", "Containers"] {
        only_in(word, &["src/engine/docker/"]);
    }
}
