//! The languages that programs are written in, as data: built-in ones, and those of the configuration over them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::definition::Definition;

use crate::text::nearest;

/// The built-in languages, in the form that the configuration takes too.
const BUILT_IN: &str = include_str!("../../assets/languages.toml");

/// Stands for the program's file in a command.
const FILE: &str = "{file}";

/// What names of the files start with into which programs are written.
pub(crate) const FILE_MARK: &str = ".sandtop-";

/// The languages whose programs sandtop can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Python 3.
    Python,
    /// JavaScript as Node.js runs it.
    JavaScript,
    /// JavaScript with types.
    TypeScript,
    /// The shell.
    Bash,
}

/// The programs that install packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Installer {
    /// Python's.
    Pip,
    /// Node's.
    Npm,
}

impl Installer {
    /// Returns its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pip => "pip",
            Self::Npm => "npm",
        }
    }
}

/// A language; cheap to clone, equal by name.
#[derive(Clone)]
pub struct Language(Arc<(String, Definition)>);

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.name())
    }
}

impl Language {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.0
    }

    fn definition(&self) -> &Definition {
        &self.0.1
    }

    /// Returns the ending of its files.
    #[must_use]
    pub fn extension(&self) -> &str {
        let endings = self.definition().endings.as_deref().unwrap_or_default();
        endings.first().map_or("txt", String::as_str)
    }

    /// Returns a first program, shown in an empty editor.
    #[must_use]
    pub fn starter(&self) -> &str {
        let starter = self.definition().starter.as_deref().unwrap_or_default();
        starter.trim_start_matches('\n')
    }

    /// Returns whose checks and imports it is read with.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        self.definition().checks
    }

    /// Returns who installs its packages.
    #[must_use]
    pub fn installer(&self) -> Option<Installer> {
        self.definition().packages
    }

    /// Returns the programs of which an image must have one; none where that is not known.
    #[must_use]
    pub fn needs(&self) -> &[String] {
        self.definition().needs.as_deref().unwrap_or_default()
    }

    /// Returns the image that it asks for with a profile.
    #[must_use]
    pub fn image(&self, profile: &str) -> Option<&str> {
        let own = self.definition().images.as_ref()?.get(profile);
        own.map(String::as_str)
    }

    /// Returns the image that it asks for where nobody has chosen one.
    #[must_use]
    pub fn usual_image(&self) -> Option<&str> {
        self.definition()
            .image
            .as_deref()
            .filter(|image| !image.is_empty())
    }

    /// Returns the command that runs a file of it, with arguments for the program.
    #[must_use]
    pub fn command(&self, path: &str, arguments: &[String]) -> Vec<String> {
        let words = self.definition().run.as_deref().unwrap_or_default();
        let filled = words.iter().map(|word| word.replace(FILE, path));
        filled.chain(arguments.iter().cloned()).collect()
    }

    /// Returns the arguments in a command that ran a file of it.
    #[must_use]
    pub fn arguments(&self, argv: &[String]) -> Vec<String> {
        // The launcher is told the file before the command.
        let launched = match argv {
            [sh, c, _, file, ..] if sh == "sh" && c == "-c" => Some(file.as_str()),
            _ => None,
        };
        let names_file = |word: &String| {
            let name = word.rsplit('/').next();
            let is_hidden = name.is_some_and(|name| name.starts_with(FILE_MARK));
            is_hidden || launched.is_some_and(|file| word.ends_with(file))
        };
        let words = self.definition().run.as_deref().unwrap_or_default();
        let after_file = words.iter().rev().take_while(|word| !word.contains(FILE));
        let find = |from| {
            argv.iter()
                .skip(from)
                .position(names_file)
                .map(|at| from + at)
        };
        let file = launched.and_then(|_| find(4)).or_else(|| find(0));
        let given = file.map(|file| file + 1 + after_file.count());
        let given = given.and_then(|from| argv.get(from..));
        given.unwrap_or_default().to_vec()
    }

    /// Tells whether its files may end so.
    #[must_use]
    pub fn has_ending(&self, ending: &str) -> bool {
        let endings = self.definition().endings.as_deref().unwrap_or_default();
        endings.iter().any(|known| known == ending)
    }

    /// Tells whether a word is its name, an alias or an ending.
    fn answers_to(&self, word: &str) -> bool {
        let definition = self.definition();
        let others = definition.aliases.iter().chain(&definition.endings);
        self.name() == word || others.flatten().any(|other| other == word)
    }
}

/// All languages there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages {
    all: Arc<[Language]>,
    /// What the configuration says, as it was written.
    own: Arc<BTreeMap<String, Definition>>,
}

impl Default for Languages {
    fn default() -> Self {
        Self::with(BTreeMap::new())
    }
}

impl Languages {
    /// Puts definitions over the built-in languages; the built-in ones come first.
    #[must_use]
    pub fn with(own: BTreeMap<String, Definition>) -> Self {
        let kept = Arc::new(own.clone());
        let mut own = own;
        let mut all = Vec::new();
        for (name, base) in built_in() {
            let whole = own.remove(&name).unwrap_or_default().over(base);
            all.push(Language(Arc::new((name, whole))));
        }
        all.extend(own.into_iter().map(|one| Language(Arc::new(one))));
        Self {
            all: all.into(),
            own: kept,
        }
    }

    /// Goes through them.
    pub fn iter(&self) -> impl Iterator<Item = &Language> {
        self.all.iter()
    }

    /// Returns the definitions of the configuration.
    #[must_use]
    pub fn own(&self) -> &BTreeMap<String, Definition> {
        &self.own
    }

    /// Returns all names, for messages.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.iter().map(Language::name).collect();
        names.join(", ")
    }

    /// Finds one by its name, an alias such as `py`, or the ending of its files.
    #[must_use]
    pub fn by_word(&self, word: &str) -> Option<Language> {
        let word = word.to_ascii_lowercase();
        let by_name = self.iter().find(|language| language.name() == word);
        let found = by_name.or_else(|| self.iter().find(|language| language.answers_to(&word)));
        found.cloned()
    }

    /// Guesses from the name of a file, or from a first line such as `#!/usr/bin/env python3`.
    #[must_use]
    pub fn guess(&self, file: &str, first_line: &str) -> Option<Language> {
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        ending
            .and_then(|ending| self.by_word(ending))
            .or_else(|| self.by_shebang(first_line))
    }

    fn by_shebang(&self, line: &str) -> Option<Language> {
        let mut words = line.strip_prefix("#!")?.split([' ', '/', '\t']);
        words.find_map(|word| {
            let plain = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            self.by_word(plain)
        })
    }

    /// Returns the first one, in which new buffers start.
    #[must_use]
    pub fn first(&self) -> Option<Language> {
        self.all.first().cloned()
    }

    /// Says that there is no such language, and which one may have been meant.
    #[must_use]
    pub fn unknown(&self, word: &str) -> String {
        let shown = crate::text::safe_line(word);
        let names = self.iter().map(Language::name);
        let near = nearest(word, names)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        format!("Unsupported language: {shown}{near}")
    }
}

/// Reads the built-in languages, in the order of the file.
fn built_in() -> Vec<(String, Definition)> {
    let table: toml::Table = toml::from_str(BUILT_IN).unwrap_or_default();
    let read = |(name, value): (String, toml::Value)| Some((name, value.try_into().ok()?));
    let mut all: Vec<(String, Definition)> = table.into_iter().filter_map(read).collect();
    // A table has no order of its own.
    all.sort_by_key(|(name, _)| BUILT_IN.find(&format!("\n[{name}]")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(words: &[&str]) -> Vec<Option<String>> {
        let all = Languages::default();
        let name = |word: &&str| all.by_word(word).map(|l| l.name().to_owned());
        words.iter().map(name).collect()
    }

    #[test]
    fn the_built_in_ones_are_all_read_and_complete() {
        let all = Languages::default();
        assert_eq!(
            all.names(),
            "python, javascript, typescript, bash, ruby, go, rust"
        );
        for language in all.iter() {
            assert!(
                language.command("/x", &[]).contains(&"/x".to_owned()),
                "{language:?}"
            );
            assert!(!language.needs().is_empty(), "{language:?}");
            assert!(language.starter().ends_with('\n'), "{language:?}");
        }
    }

    #[test]
    fn arguments_are_found_again_in_the_command() {
        let toml = "[odd]\nrun = ['odd', '--file={file}', '--quiet']\n";
        let languages = Languages::with(toml::from_str(toml).expect("a definition"));
        let given = ["a b", "", "-x"].map(str::to_owned);
        for language in languages.iter() {
            let command = language.command("/workspace/.sandtop-0123.x", &given);
            assert_eq!(language.arguments(&command), given, "{language:?}");
            for file in ["/workspace/.sandtop-0123.x", "/workspace/main.x"] {
                let launched = ["sh", "-c", "…/x", file].map(str::to_owned);
                let launched = [&launched[..], &language.command(file, &given)].concat();
                assert_eq!(language.arguments(&launched), given, "{language:?}");
            }
            assert!(language.arguments(&given).is_empty(), "no file");
        }
    }

    #[test]
    fn the_seeds_aliases_are_known() {
        let table = [
            (&["py", "python3", "PY"][..], "python"),
            (&["js", "node", "nodejs", "mjs"], "javascript"),
            (&["ts", "typescript"], "typescript"),
            (&["sh", "shell", "bash"], "bash"),
        ];
        for (words, name) in table {
            for found in names_of(words) {
                assert_eq!(found.as_deref(), Some(name));
            }
        }
        assert_eq!(names_of(&["cobol", ""]), [None, None]);
        let message = Languages::default().unknown("pyton");
        assert_eq!(
            message,
            "Unsupported language: pyton; did you mean `python`?"
        );
    }

    #[test]
    fn own_languages_join_and_change_the_built_in_ones() {
        let own: BTreeMap<String, Definition> = toml::from_str(
            "[lua]\nrun = ['lua', '{file}']\nendings = ['lua']\n[python]\nrun = ['pypy3', '{file}']\n",
        )
        .expect("definitions");
        let all = Languages::with(own);
        let run = |word: &str, args: &[String]| all.by_word(word).map(|l| l.command("/f", args));
        assert_eq!(run("lua", &[]), Some(vec!["lua".into(), "/f".into()]));
        let python = run("py", &["-x".to_owned()]);
        assert_eq!(python, Some(vec!["pypy3".into(), "/f".into(), "-x".into()]));
    }

    #[test]
    fn files_and_first_lines_tell_the_language() {
        let all = Languages::default();
        let guess = |file: &str, line: &str| all.guess(file, line).map(|l| l.name().to_owned());
        assert_eq!(guess("/a/x.mjs", ""), Some("javascript".into()));
        assert_eq!(
            guess("run", "#!/usr/bin/env python3.11"),
            Some("python".into())
        );
        assert_eq!(guess("run", "#!/bin/sh -e"), Some("bash".into()));
        assert_eq!(guess("notes.txt", "hello"), None);
    }
}
