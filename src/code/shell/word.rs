//! Words of a shell program after quotes are taken away, with marks for what only a running shell knows.

/// Stands for the value of something that is not known here.
pub(super) const UNKNOWN: char = '\u{0}';
/// Stands for the value of a variable that may well be empty.
pub(super) const MAYBE_EMPTY: char = '\u{1}';
/// Stands for the home directory.
pub(super) const HOME: char = '\u{2}';
/// Characters that lose their meaning in quotes, each with what stands for it then.
const PLAIN: [(char, char); 5] = [
    ('*', '\u{3}'),
    ('?', '\u{4}'),
    ('[', '\u{5}'),
    ('{', '\u{6}'),
    ('~', '\u{7}'),
];

/// Takes the meaning from a quoted character.
pub(super) fn plain(c: char) -> char {
    let found = PLAIN.iter().find(|(meant, _)| *meant == c);
    found.map_or(c, |(_, plain)| *plain)
}

/// Gives quoted characters back, for another shell to read.
pub(super) fn bare(text: &str) -> String {
    let meant = |c| PLAIN.iter().find(|(_, plain)| *plain == c);
    text.chars()
        .map(|c| meant(c).map_or(c, |(meant, _)| *meant))
        .collect()
}

/// A word as a command gets it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Where it starts in its source.
    pub(super) at: usize,
    /// Its text, with the marks above.
    pub(super) text: String,
    /// Whether any of it was quoted, so that it is no reserved word.
    pub(super) quoted: bool,
}

impl Word {
    pub(super) fn plain(text: &str, at: usize) -> Self {
        Self {
            at,
            text: text.to_owned(),
            quoted: false,
        }
    }

    /// Returns the name of the program that it calls, without its folder.
    pub(super) fn program(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// Splits `NAME=VALUE`.
    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        is_name(name).then_some((name, value))
    }
}

/// Tells whether a text can name a variable.
pub(super) fn is_name(text: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(in_name)
}

/// Expands `{a,b}` once, as the shell does before anything else; a few results are enough to judge.
pub(super) fn braces(text: &str) -> Vec<String> {
    let whole = || vec![text.to_owned()];
    let Some((head, rest)) = text.split_once('{') else {
        return whole();
    };
    let Some((inner, tail)) = rest.split_once('}') else {
        return whole();
    };
    if !inner.contains(',') || inner.contains('{') {
        return whole();
    }
    let parts = inner.split(',').take(64);
    parts.map(|part| format!("{head}{part}{tail}")).collect()
}

/// Where a path leads, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The whole file system, or all that is in its root.
    Root,
    /// A folder of the system, or all that is in it.
    System,
    /// The home directory, or all that is in it.
    Home,
    /// The root, if a variable is empty.
    RootIfEmpty,
    /// The folder that one is in, or all that is in it.
    Here,
    /// Anything else.
    Elsewhere,
}

impl Reach {
    /// Says what is lost with all that it reaches.
    pub(super) fn loss(self) -> Option<&'static str> {
        match self {
            Self::Root => Some("the whole file system"),
            Self::System => Some("a folder that the system needs"),
            Self::Home => Some("the home directory"),
            Self::RootIfEmpty | Self::Here | Self::Elsewhere => None,
        }
    }
}

/// Folders without which a system is lost.
const SYSTEM: [&str; 17] = [
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "root", "run",
    "sbin", "srv", "sys", "usr", "var",
];

/// Judges where a path leads.
pub(super) fn reach(text: &str) -> Reach {
    let mut steps: Vec<&str> = Vec::new();
    let parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
    for part in parts {
        if part == ".." {
            steps.pop();
        } else {
            steps.push(part);
        }
    }
    // All that is in a folder is as bad as the folder.
    if matches!(steps.last(), Some(&("*" | ".*" | "**" | ".[!.]*" | "?*"))) {
        steps.pop();
    }
    let is_empty = |step: &&str| !step.is_empty() && step.chars().all(|c| c == MAYBE_EMPTY);
    match (text.starts_with('/'), steps.as_slice()) {
        (true, []) => Reach::Root,
        (true, [one]) if SYSTEM.contains(one) => Reach::System,
        (true, ["usr", "bin" | "lib" | "sbin" | "lib64"]) => Reach::System,
        (true, all) if all.iter().all(is_empty) => Reach::RootIfEmpty,
        (false, [home]) if home.chars().eq([HOME]) => Reach::Home,
        // `$X/` and `$X/*` are the root without X; `$X` alone would be nothing.
        (false, [one]) if is_empty(one) && text.contains('/') => Reach::RootIfEmpty,
        (false, [one, two]) if is_empty(one) && SYSTEM.contains(two) => Reach::RootIfEmpty,
        (false, []) => Reach::Here,
        _ => Reach::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_judged_by_where_they_lead() {
        let table = [
            ("/", Reach::Root),
            ("//", Reach::Root),
            ("/.", Reach::Root),
            ("/tmp/..", Reach::Root),
            ("/*", Reach::Root),
            ("/etc", Reach::System),
            ("/etc/*", Reach::System),
            ("/usr/lib/", Reach::System),
            ("/tmp/x", Reach::Elsewhere),
            ("/var/lib/apt/lists/*", Reach::Elsewhere),
            ("\u{2}", Reach::Home),
            ("\u{2}/*", Reach::Home),
            ("\u{2}/x", Reach::Elsewhere),
            ("\u{1}/", Reach::RootIfEmpty),
            ("\u{1}/*", Reach::RootIfEmpty),
            ("/\u{1}", Reach::RootIfEmpty),
            ("\u{1}", Reach::Elsewhere),
            ("\u{1}/build", Reach::Elsewhere),
            ("\u{1}/bin", Reach::RootIfEmpty),
            ("*", Reach::Here),
            ("./*", Reach::Here),
            ("x", Reach::Elsewhere),
        ];
        for (text, expected) in table {
            assert_eq!(reach(text), expected, "{text:?}");
        }
    }
}
