//! Rules of the source that no compiler checks.

mod cycles;
mod figures;
mod layers;
mod modules;
mod reading;
mod source;
mod tokens;

use source::{has_word, sources};

const LONGEST_FILE: usize = 400;

/// A change on screen should not change dozens of files.
const MOST_SNAPSHOT_BYTES: u64 = 400_000;

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
fn pictures_of_the_screen_stay_few() {
    let bytes = source::snapshot_bytes();
    assert!(
        bytes <= MOST_SNAPSHOT_BYTES,
        "the snapshots take {bytes} bytes, at most {MOST_SNAPSHOT_BYTES}: keep one size for each scene"
    );
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = sources()
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.name.clone())
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
    never_in("tokio", &pure);
}

#[test]
fn only_the_guest_keepers_and_the_editor_of_choice_start_processes() {
    let starters = [
        "src/guest/",
        // Completion asks another sandtop, which it can end in time.
        "src/cli/candidates.rs",
        "src/cli/detach.rs",
        "src/engine/local/keeper.rs",
        "src/engine/local/systemd_scope.rs",
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
    let mut places = ["src/guest/", "src/cli/print.rs", "src/fuzz.rs"]
        .map(str::to_owned)
        .to_vec();
    places.extend(
        sources()
            .iter()
            .map(|source| source.name.clone())
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
