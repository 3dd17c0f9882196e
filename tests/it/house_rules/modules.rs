//! Which module uses which: read from `use` lines and from paths in the code, re-exports followed to where a name is defined.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::tokens::{Token, starts_with};

pub type Path = Vec<String>;

/// How often a name is followed through re-exports before it is taken for a circle.
const MOST_ALIASES: usize = 8;

/// A name that a `use` line brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    pub name: String,
    /// As written, such as `[super, files, Entry]`.
    pub path: Path,
    is_public: bool,
    line: usize,
}

/// One place where a module uses another.
#[derive(Debug, Clone)]
pub struct Reference {
    pub from: Path,
    /// What is named, from the root of the source on.
    pub named: Path,
    /// The module that defines it; none if only a module is brought in, since what is used of it is a reference of its own.
    pub defined_in: Option<Path>,
    /// The file and the line.
    pub place: String,
}

/// All modules with what they bring in.
pub struct Modules {
    imports: BTreeMap<Path, Vec<Import>>,
    /// Folders that are programs of their own: `crate` means them.
    programs: Vec<Path>,
}

impl Modules {
    pub fn new(sources: &[Source]) -> Self {
        let mut imports: BTreeMap<Path, Vec<Import>> = BTreeMap::new();
        for source in sources {
            for length in 0..=source.module.len() {
                imports.entry(source.module[..length].to_vec()).or_default();
            }
            let brought = imports.entry(source.module.clone()).or_default();
            brought.extend(split_imports(&source.tokens).0);
        }
        let programs = sources.iter().filter(|s| s.name.ends_with("/main.rs"));
        let programs = programs.map(|s| s.module.clone()).filter(|m| !m.is_empty());
        Self {
            programs: programs.collect(),
            imports,
        }
    }

    /// Returns the modules that have others below them.
    pub fn folders(&self) -> BTreeSet<Path> {
        let below = self.imports.keys().filter(|path| !path.is_empty());
        below.map(|path| path[..path.len() - 1].to_vec()).collect()
    }

    /// Returns the names of the modules right below one.
    pub fn children(&self, module: &[String]) -> BTreeSet<String> {
        let paths = self.imports.keys();
        let below = paths.filter(|path| path.len() == module.len() + 1 && path.starts_with(module));
        below.map(|path| path[module.len()].clone()).collect()
    }

    /// Finds what a file uses of other modules.
    pub fn references(&self, source: &Source) -> Vec<Reference> {
        let (imports, code) = split_imports(&source.tokens);
        let is_used = |name: &str| code.iter().any(|token| token.text == name);
        let brought = imports
            .iter()
            .filter(|import| !import.is_public || is_used(&import.name))
            .map(|import| (import.path.clone(), import.line));
        let named = paths(&code);
        let all = brought.map(|path| (path, true));
        let all = all.chain(named.into_iter().map(|path| (path, false)));
        all.filter_map(|((path, line), is_import)| {
            let named = self.absolute(&path, &source.module, MOST_ALIASES)?;
            let is_module = is_import && self.imports.contains_key(&named);
            Some(Reference {
                from: source.module.clone(),
                defined_in: (!is_module).then(|| self.definer(&named, MOST_ALIASES)),
                named,
                place: format!("{}:{line}", source.name),
            })
        })
        .collect()
    }

    /// Writes a path from the root of the source on; none if it leads out of the source.
    fn absolute(&self, path: &[String], module: &[String], aliases: usize) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let parent = &module[..module.len().saturating_sub(1)];
        let base = match first.as_str() {
            "crate" => self.root_of(module, rest),
            "self" => module.to_vec(),
            "super" if rest.first().is_some_and(|next| next == "super") => {
                return self.absolute(rest, parent, aliases);
            }
            "super" => parent.to_vec(),
            _ if self.imports.contains_key(&child(module, first)) => child(module, first),
            _ => self.alias(module, first, aliases)?,
        };
        Some([&base, rest].concat())
    }

    fn alias(&self, module: &[String], name: &str, aliases: usize) -> Option<Path> {
        let import = self.imports.get(module)?.iter().find(|i| i.name == name)?;
        self.absolute(&import.path, module, aliases.checked_sub(1)?)
    }

    fn root_of(&self, module: &[String], rest: &[String]) -> Path {
        let program = self.programs.iter().find(|root| module.starts_with(root));
        let has_it = |root: &&Path| {
            rest.first()
                .is_some_and(|first| self.imports.contains_key(&child(root, first)))
        };
        program.filter(has_it).cloned().unwrap_or_default()
    }

    /// Finds the module in which a path ends, re-exports followed.
    fn definer(&self, path: &[String], aliases: usize) -> Path {
        let mut module = Path::new();
        for (at, part) in path.iter().enumerate() {
            let below = child(&module, part);
            if self.imports.contains_key(&below) {
                module = below;
                continue;
            }
            let next = aliases.checked_sub(1);
            return match next.and_then(|next| Some((next, self.alias(&module, part, next)?))) {
                Some((next, target)) => self.definer(&[&target, &path[at + 1..]].concat(), next),
                None => module,
            };
        }
        module
    }
}

fn child(module: &[String], name: &str) -> Path {
    [module, &[name.to_owned()]].concat()
}

/// Takes the `use` lines out of the code.
fn split_imports(tokens: &[Token]) -> (Vec<Import>, Vec<Token>) {
    let mut imports = Vec::new();
    let mut code: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text != "use" || starts_with(&tokens[at + 1..], &["<"]) {
            code.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let before = code.last().map(|token| token.text.clone());
        let mut reader = UseReader {
            tokens,
            at: at + 1,
            is_public: matches!(before.as_deref(), Some("pub" | ")")),
            found: Vec::new(),
        };
        reader.tree(&[]);
        at = reader.at + 1;
        imports.extend(reader.found);
    }
    (imports, code)
}

/// Reads what stands between `use` and its semicolon.
struct UseReader<'a> {
    tokens: &'a [Token],
    at: usize,
    is_public: bool,
    found: Vec<Import>,
}

impl UseReader<'_> {
    fn text(&self) -> &str {
        self.tokens.get(self.at).map_or(";", |t| t.text.as_str())
    }

    fn tree(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        loop {
            match self.text() {
                "{" => return self.list(&path),
                "::" => self.at += 1,
                "as" => {
                    let name = self.tokens[self.at + 1].text.clone();
                    self.at += 2;
                    return self.leaf(path, Some(name));
                }
                "," | "}" | ";" => return self.leaf(path, None),
                word => {
                    path.push(word.to_owned());
                    self.at += 1;
                }
            }
        }
    }

    fn list(&mut self, prefix: &[String]) {
        self.at += 1;
        while self.text() != "}" && self.text() != ";" {
            self.tree(prefix);
            if self.text() == "," {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn leaf(&mut self, mut path: Path, name: Option<String>) {
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(name) = name.or_else(|| path.last().cloned()) else {
            return;
        };
        self.found.push(Import {
            name,
            path,
            is_public: self.is_public,
            line: self.tokens[self.at - 1].line,
        });
    }
}

/// Finds paths of two and more words in code.
fn paths(code: &[Token]) -> Vec<(Path, usize)> {
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| code[before].text.as_str());
        let is_visibility = at >= 3 && starts_with(&code[at - 3..], &["pub", "(", "in"]);
        if !token.is_word() || is_visibility || matches!(before, Some("::" | ".")) {
            continue;
        }
        let mut path = vec![token.text.clone()];
        let mut rest = &code[at + 1..];
        while let [mark, word, ..] = rest
            && mark.text == "::"
            && word.is_word()
        {
            path.push(word.text.clone());
            rest = &rest[2..];
        }
        if path.len() > 1 {
            found.push((path, token.line));
        }
    }
    found
}
