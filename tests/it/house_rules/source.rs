//! The files below `src`, each with its place in the tree of modules.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::tokens::{self, Token};

/// A file of the source.
pub struct Source {
    /// Its path below the project, such as `src/lib.rs`.
    pub name: String,
    pub text: String,
    /// Which module it is: `src/app/mod.rs` is `[app]`.
    pub module: Vec<String>,
    /// Is it for tests only?
    pub is_test: bool,
    /// How many of its lines are for tests only.
    pub test_lines: usize,
    /// Its words and marks, without tests and comments.
    pub tokens: Vec<Token>,
    test_modules: Vec<Vec<String>>,
}

impl Source {
    fn read(root: &Path, place: &Path) -> Self {
        let name = place.strip_prefix(root).expect("a path below the root");
        let text = fs::read_to_string(place).expect("text");
        Self::new(&name.display().to_string(), &text)
    }

    pub fn new(name: &str, text: &str) -> Self {
        let module = module_of(name);
        let parts = tokens::without_tests(&tokens::tokens(text));
        let below = |child: &String| [module.clone(), vec![child.clone()]].concat();
        Self {
            test_modules: parts.test_modules.iter().map(below).collect(),
            name: name.to_owned(),
            text: text.to_owned(),
            module,
            is_test: false,
            test_lines: parts.test_lines,
            tokens: parts.production,
        }
    }

    pub fn is_below(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.name.starts_with(place))
    }

    /// Counts the lines that are not for tests.
    pub fn production_lines(&self) -> usize {
        self.text.lines().count() - self.test_lines
    }

    /// Tells where a word stands, comments included.
    pub fn lines_with(&self, word: &str) -> Vec<String> {
        let lines = self.text.lines().enumerate();
        let found = lines.filter(|(_, line)| has_word(line, word));
        found
            .map(|(number, line)| format!("{}:{}: {}", self.name, number + 1, line.trim()))
            .collect()
    }

    /// Tells where a path such as `Utc::now` stands in production code.
    pub fn places_of(&self, path: &str) -> Vec<String> {
        let words: Vec<&str> = path.split("::").collect();
        let mut wanted = vec![words[0]];
        for word in &words[1..] {
            wanted.extend(["::", word]);
        }
        let starts = 0..self.tokens.len();
        let found = starts.filter(|at| tokens::starts_with(&self.tokens[*at..], &wanted));
        found
            .map(|at| format!("{}:{}: {path}", self.name, self.tokens[at].line))
            .collect()
    }
}

/// Looks for a word that is not a part of a longer one.
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = tokens::is_part;
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let whole_start = !word.starts_with(is_part) || !before.is_some_and(is_part);
        let whole_end = !word.ends_with(is_part) || !after.is_some_and(is_part);
        whole_start && whole_end
    })
}

fn module_of(name: &str) -> Vec<String> {
    let below = name.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Vec<String> = below.split('/').map(str::to_owned).collect();
    if matches!(
        module.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        module.pop();
    }
    module
}

/// Every file below `src`.
pub fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_all);
    &SOURCES
}

/// Every file below `src` that is part of the program.
pub fn production() -> &'static [Source] {
    static PRODUCTION: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let all = read_all().into_iter();
        all.filter(|source| !source.is_test).collect()
    });
    &PRODUCTION
}

/// Adds up the pictures that tests of the screen compare with.
pub fn snapshot_bytes() -> u64 {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pictures = files_below(root.join("src"), "snap").into_iter();
    pictures
        .map(|place| fs::metadata(place).expect("a file").len())
        .sum()
}

fn read_all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = files_below(root.join("src"), "rs");
    let mut found: Vec<Source> = files.iter().map(|file| Source::read(root, file)).collect();
    assert!(found.len() > 20, "the source was not found");
    found.sort_by(|a, b| a.name.cmp(&b.name));
    mark_tests(&mut found);
    found
}

fn files_below(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder];
    while let Some(place) = waiting.pop() {
        if place.is_dir() {
            let children = fs::read_dir(&place).expect("a folder");
            waiting.extend(children.map(|child| child.expect("a file").path()));
        } else if place.extension().is_some_and(|e| e == ending) {
            found.push(place);
        }
    }
    found
}

fn mark_tests(sources: &mut [Source]) {
    let declared = sources
        .iter()
        .flat_map(|source| source.test_modules.clone());
    let declared: Vec<Vec<String>> = declared.collect();
    for source in sources {
        let is_declared = declared.iter().any(|test| source.module.starts_with(test));
        source.is_test = is_declared || source.module.iter().any(|part| part == "tests");
    }
}
