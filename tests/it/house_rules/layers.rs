//! Which top module may use which, and where libraries and the clock may stand.

use super::modules::{Modules, Path};
use super::source::{Source, production};

/// What each folder of `src` may use of the others. Files beside them put everything together and may use all.
const MAY_USE: [(&str, &[&str]); 15] = [
    ("text", &[]),
    ("domain", &[]),
    ("guest", &[]),
    ("code", &["text"]),
    ("describe", &["domain", "text"]),
    ("protocol", &["code", "domain"]),
    ("keymap", &["protocol", "text"]),
    ("config", &["code", "domain", "keymap", "protocol", "text"]),
    ("store", &["domain", "guest", "protocol"]),
    ("engine", &["domain", "guest", "protocol"]),
    (
        "manager",
        &[
            "code", "config", "domain", "engine", "protocol", "store", "text",
        ],
    ),
    (
        "app",
        &[
            "code", "config", "describe", "domain", "keymap", "protocol", "text",
        ],
    ),
    (
        "ui",
        &[
            "app", "code", "describe", "domain", "keymap", "protocol", "text",
        ],
    ),
    (
        "tui",
        &[
            "app", "config", "keymap", "manager", "protocol", "signals", "ui",
        ],
    ),
    (
        "cli",
        &[
            "app", "code", "config", "describe", "domain", "guest", "keymap", "manager",
            "protocol", "store", "text",
        ],
    ),
];

/// Where only one thing of another module may be used: who, of whom, what.
const ONLY: [(&str, &str, &str); 3] = [
    ("tui", "manager", "ManagerHandle"),
    ("cli", "manager", "ManagerHandle"),
    // Both front ends explain the rules of reaping in the same words.
    ("cli", "app", "rules"),
];

/// Where production code may name a library or read the clock.
const PLACES: [(&str, &[&str]); 14] = [
    ("bollard", &["src/engine/docker/"]),
    ("clap", &["src/cli/"]),
    ("crossterm", &["src/tui/"]),
    ("ratatui", &["src/ui/", "src/tui/"]),
    ("ratatui_textarea", &["src/app/"]),
    ("syntect", &["src/app/"]),
    ("vt100", &["src/app/", "src/ui/"]),
    ("rusqlite", &["src/store/"]),
    (
        "libc",
        &[
            "src/engine/filter/",
            "src/engine/local/",
            "src/guest/",
            "src/signals.rs",
        ],
    ),
    (
        "tokio",
        &[
            "src/lib.rs",
            "src/signals.rs",
            "src/cli/",
            "src/engine/",
            "src/manager/",
            "src/store/",
            "src/tui/",
        ],
    ),
    ("Local::now", &[]),
    ("Utc::now", &CLOCK),
    ("Instant::now", &CLOCK),
    ("SystemTime::now", &CLOCK),
];

const CLOCK: [&str; 6] = [
    "src/cli/",
    "src/engine/",
    "src/guest/",
    "src/manager/",
    "src/store/",
    "src/tui/",
];

/// Named exceptions: what, where (a part of the file's name), and in which longer path.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    // Rectangles are plain numbers; where panes lie is computed once for drawing and for the mouse.
    ("ratatui", "src/app/", "ratatui::layout"),
    // The editor must know the width of a cell as it will be drawn.
    ("ratatui", "/editor/", "ratatui::buffer::CellWidth"),
    // Highlighting gives up after some milliseconds and goes on with the next frame.
    ("Instant::now", "/editor/highlight.rs", "Instant::now"),
];

fn may_use(from: &str, named: &Path) -> Result<(), String> {
    let to = named[0].as_str();
    let Some((_, allowed)) = MAY_USE.iter().find(|(module, _)| *module == from) else {
        return Err(format!("`{from}` has no row in `MAY_USE`"));
    };
    if !allowed.contains(&to) {
        return Err(format!("`{from}` may not use `{to}`"));
    }
    let only = ONLY.iter().find(|(a, b, _)| (*a, *b) == (from, to));
    match only {
        Some((_, _, what)) if !named.iter().any(|part| part == what) => {
            Err(format!("`{from}` may use only `{what}` of `{to}`"))
        }
        _ => Ok(()),
    }
}

/// Is the module a folder below `src`, and no file beside them?
fn is_folder(source: &Source) -> bool {
    source.name.matches('/').count() > 1
}

#[test]
fn top_modules_use_only_what_lies_below_them() {
    let sources = production();
    let modules = Modules::new(sources);
    let top = modules.children(&[]);
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| is_folder(source)) {
        for reference in modules.references(source) {
            let (from, named) = (&reference.from[0], &reference.named);
            if named.is_empty() || named[0] == *from || !top.contains(&named[0]) {
                continue;
            }
            if let Err(why) = may_use(from, named) {
                wrong.push(format!("{}: {why}: {}", reference.place, named.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn permissions_are_all_used() {
    let sources = production();
    let modules = Modules::new(sources);
    let references: Vec<_> = sources.iter().flat_map(|s| modules.references(s)).collect();
    let is_used = |from: &str, to: &str| {
        references.iter().any(|r| {
            r.from.first().is_some_and(|part| part == from)
                && r.named.first().is_some_and(|part| part == to)
        })
    };
    let rows = MAY_USE.iter();
    let pairs = rows.flat_map(|(from, allowed)| allowed.iter().map(move |to| (*from, *to)));
    let spare: Vec<_> = pairs.filter(|(from, to)| !is_used(from, to)).collect();
    assert!(spare.is_empty(), "take these out of `MAY_USE`: {spare:?}");
}

#[test]
fn libraries_and_the_clock_stay_in_their_places() {
    let sources = production();
    let mut wrong = Vec::new();
    for (path, places) in PLACES {
        for source in sources.iter().filter(|source| !source.is_below(places)) {
            let mut found = source.places_of(path);
            for (_, _, longer) in exceptions(path, source) {
                let allowed = source.places_of(longer).len();
                found.truncate(found.len() - allowed);
            }
            wrong.extend(found);
        }
    }
    assert!(wrong.is_empty(), "not here:\n{}", wrong.join("\n"));
}

fn exceptions(
    path: &str,
    source: &Source,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let is_meant = move |exception: &&(&str, &str, &str)| {
        exception.0 == path && source.name.contains(exception.1)
    };
    EXCEPTIONS.iter().filter(is_meant)
}
