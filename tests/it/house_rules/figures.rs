//! The numbers of the house: how long files and functions are, how modules are tied, how much is tested.
//!
//! `cargo test --test it figures -- --ignored --nocapture` prints them all.

use super::cycles::{self, OwnFile, largest_cycle};
use super::source::{Source, production, snapshot_bytes, sources};
use super::tokens::{Token, group_length};

/// The longest function that needs no excuse.
const LONG_FUNCTION: usize = 50;

/// How many of ten thousand functions may be longer.
const MOST_LONG_FUNCTIONS: usize = 30;

/// How many production lines nine of ten files have at most.
const MOST_LINES_P90: usize = 280;

/// The part that needs `unsafe` or decides what sandboxes may do: its tests are counted apart.
const CRITICAL: [&str; 3] = ["src/guest/", "src/engine/filter/", "src/engine/local/"];

/// A function as it is written.
struct Function {
    place: String,
    lines: usize,
    takes_tuple: bool,
}

fn functions(sources: &[Source]) -> Vec<Function> {
    sources.iter().flat_map(functions_of).collect()
}

fn functions_of(source: &Source) -> Vec<Function> {
    let tokens = &source.tokens;
    let starts = (0..tokens.len().saturating_sub(1))
        .filter(|at| tokens[*at].text == "fn" && tokens[at + 1].is_word());
    starts
        .map(|at| {
            let signature = signature(&tokens[at..]);
            let body = at + signature.len();
            let end = body + group_length(&tokens[body..]) - 1;
            Function {
                place: format!(
                    "{}:{} {}",
                    source.name,
                    tokens[at].line,
                    tokens[at + 1].text
                ),
                lines: tokens[end].line - tokens[at].line + 1,
                takes_tuple: takes_tuple(signature),
            }
        })
        .collect()
}

/// Returns the tokens from `fn` to the body, or to the semicolon of a function without one.
fn signature(tokens: &[Token]) -> &[Token] {
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" | ";" => break,
            "(" | "[" => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    &tokens[..at]
}

/// Looks for a parameter such as `(host, store): (Host, Store)`.
pub fn takes_tuple(signature: &[Token]) -> bool {
    let Some(open) = parameters(signature) else {
        return false;
    };
    let list = &signature[open + 1..open + group_length(&signature[open..])];
    let mut at = 0;
    while at < list.len() {
        let length = group_length(&list[at..]);
        let is_type = at > 0
            && list[..at]
                .iter()
                .rev()
                .find(|token| !matches!(token.text.as_str(), "&" | "mut"))
                .is_some_and(|token| token.text == ":");
        if list[at].text == "(" && is_type && length > 2 {
            return true;
        }
        at += if "([{".contains(&list[at].text) {
            length
        } else {
            1
        };
    }
    false
}

/// Finds the bracket that opens the parameters, behind the generics.
fn parameters(signature: &[Token]) -> Option<usize> {
    let mut depth = 0;
    signature.iter().position(|token| {
        match token.text.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        token.text == "(" && depth == 0
    })
}

/// Returns the value that a share of all, in hundredths, does not exceed.
fn percentile(sorted: &[usize], share: usize) -> usize {
    let at = (sorted.len() * share).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

fn production_lines() -> Vec<usize> {
    let all = production();
    let mut lines: Vec<usize> = all.iter().map(Source::production_lines).collect();
    lines.sort_unstable();
    lines
}

/// Counts test lines and production lines below some places.
fn tested(places: &[&str]) -> (usize, usize) {
    let all = sources();
    let inside = all.iter().filter(|source| source.is_below(places));
    inside.fold((0, 0), |(tests, code), source| {
        let total = source.text.lines().count();
        let own = if source.is_test {
            total
        } else {
            source.test_lines
        };
        (tests + own, code + total - own)
    })
}

/// Finds `unsafe` blocks above which no comment says why they are sound.
fn unexplained_unsafe(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let blocks = source.tokens.windows(2);
    let blocks = blocks.filter(|pair| pair[0].text == "unsafe" && pair[1].text == "{");
    blocks
        .map(|pair| pair[0].line)
        .filter(|line| !is_explained(&lines[..*line]))
        .map(|line| format!("{}:{line}", source.name))
        .collect()
}

/// Looks for `SAFETY:` on the last of these lines and above it, up to the end of the statement before.
pub fn is_explained(lines: &[&str]) -> bool {
    let mut above = lines.iter().rev().map(|line| line.trim());
    let own = above.next().unwrap_or_default();
    let ends = |line: &str| {
        !line.starts_with("//") && (line.is_empty() || line.ends_with([';', '{', '}']))
    };
    own.contains("SAFETY:")
        || above
            .take_while(|line| !ends(line))
            .any(|line| line.contains("SAFETY:"))
}

#[test]
fn functions_stay_short() {
    let all = functions(production());
    let long = all.iter().filter(|f| f.lines > LONG_FUNCTION);
    let long: Vec<String> = long
        .map(|f| format!("{}: {} lines", f.place, f.lines))
        .collect();
    assert!(
        long.len() * 10_000 <= all.len() * MOST_LONG_FUNCTIONS,
        "{} of {} functions are longer than {LONG_FUNCTION} lines:\n{}",
        long.len(),
        all.len(),
        long.join("\n")
    );
}

#[test]
fn most_files_are_short() {
    let p90 = percentile(&production_lines(), 90);
    assert!(
        p90 <= MOST_LINES_P90,
        "p90 is {p90}, at most {MOST_LINES_P90}"
    );
}

#[test]
fn unsafe_blocks_say_why_they_are_sound() {
    let silent: Vec<String> = production().iter().flat_map(unexplained_unsafe).collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
#[ignore = "prints the figures, checks nothing"]
fn figures() {
    let all = production();
    let lines = production_lines();
    let found = functions(all);
    let long = found.iter().filter(|f| f.lines > LONG_FUNCTION);
    let long: Vec<String> = long.map(|f| format!("{}: {}", f.place, f.lines)).collect();
    let tuples = found.iter().filter(|f| f.takes_tuple);
    let tuples: Vec<&str> = tuples.map(|f| f.place.as_str()).collect();
    let unexplained: Vec<String> = all.iter().flat_map(unexplained_unsafe).collect();
    eprintln!(
        "files: {} with {} production lines",
        lines.len(),
        lines.iter().sum::<usize>()
    );
    let [p50, p90, most] = [50, 90, 100].map(|share| percentile(&lines, share));
    eprintln!("production lines of a file: p50 {p50}, p90 {p90}, max {most}");
    let share = long.len() * 10_000 / found.len();
    eprintln!(
        "functions: {}, over {LONG_FUNCTION} lines: {}.{:02} %",
        found.len(),
        share / 100,
        share % 100
    );
    show("functions over 50 lines", &long);
    show("functions that take a tuple", &tuples);
    show("unsafe blocks without SAFETY", &unexplained);
    eprintln!("snapshots: {} bytes", snapshot_bytes());
    for place in CRITICAL {
        let (tests, code) = tested(&[place]);
        eprintln!("{place}: {tests} test lines, {code} code lines");
    }
    let (tests, code) = tested(&CRITICAL);
    eprintln!(
        "{}: {tests} test lines, {code} code lines",
        CRITICAL.join(" + ")
    );
    cycle_table(all);
}

fn show(what: &str, found: &[impl AsRef<str>]) {
    eprintln!("{what}: {}", found.len());
    for place in found {
        eprintln!("    {}", place.as_ref());
    }
}

fn cycle_table(all: &[Source]) {
    eprintln!("largest circle of each folder, and with the folder's own file (only above 1):");
    let with = cycles::graphs(all, OwnFile::Counts);
    for (folder, graph) in cycles::graphs(all, OwnFile::IsLeftOut) {
        let (without, with) = (largest_cycle(&graph), largest_cycle(&with[&folder]));
        if with.len() + without.len() > 0 {
            let members: Vec<&str> = without.iter().map(String::as_str).collect();
            eprintln!(
                "    {folder}: {} ({}): {}",
                without.len(),
                with.len(),
                members.join(" ")
            );
        }
    }
}
