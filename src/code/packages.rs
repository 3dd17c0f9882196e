//! Packages by name and version as people, programs and package managers write them.

use std::collections::BTreeMap;

use super::language::Installer;
use crate::text::safe_line;

/// Longest text of one requirement; real ones are far shorter.
const LONGEST: usize = 512;

/// A package, and which versions of it will do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// Its name in the form that the index compares.
    pub name: String,
    /// What the package manager is asked for.
    pub text: String,
}

impl Requirement {
    /// Asks for any version of a package.
    #[must_use]
    pub fn any(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: name.to_owned(),
        }
    }

    /// Reads a requirement such as `requests>=2` or `lodash@4`.
    ///
    /// # Errors
    /// It is none, with a sentence. Options of a package manager are none, so that nobody smuggles one in.
    pub fn parse(installer: Installer, text: &str) -> Result<Self, String> {
        let text = text.trim();
        let refused = || format!("`{}` is not a package", safe_line(text));
        let is_strange = |c: char| c.is_control() || !c.is_ascii();
        if text.is_empty() || text.len() > LONGEST || text.contains(is_strange) {
            return Err(refused());
        }
        let parsed = match installer {
            Installer::Pip => parse_pip(text),
            Installer::Npm => parse_npm(text),
        };
        parsed.ok_or_else(refused)
    }
}

fn parse_pip(text: &str) -> Option<Requirement> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let end = text.find(|c| !in_name(c)).unwrap_or(text.len());
    let name = text.get(..end).filter(|name| is_fine(name))?;
    let rest = text.get(end..)?.trim_start();
    let continues =
        rest.is_empty() || rest.starts_with(['=', '<', '>', '!', '~', ';', '@', '[', '(']);
    continues.then(|| Requirement {
        name: python_name(name),
        text: text.to_owned(),
    })
}

fn parse_npm(text: &str) -> Option<Requirement> {
    // Python's way of writing a version is a frequent slip.
    let text = text.replacen("==", "@", 1);
    let (scope, rest) = match text.strip_prefix('@') {
        Some(scoped) => {
            let (scope, rest) = scoped.split_once('/')?;
            (Some(scope), rest)
        }
        None => (None, text.as_str()),
    };
    let (name, version) = match rest.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (rest, None),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || " .-+^~<>=|*_".contains(c);
    let is_version = |version: &str| !version.is_empty() && version.chars().all(is_part);
    if !is_fine(name) || !scope.is_none_or(is_fine) || !version.is_none_or(is_version) {
        return None;
    }
    let name = scope.map_or_else(|| name.to_owned(), |scope| format!("@{scope}/{name}"));
    Some(Requirement { name, text })
}

fn is_fine(name: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && !name.ends_with(['.', '-'])
        && name.len() <= 214
        && name.chars().all(in_name)
}

/// Writes a Python package's name as the index compares it: lower case, one `-` between words.
pub(super) fn python_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.push(c.to_ascii_lowercase());
        }
    }
    out
}

/// Which packages a run gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Those that the code imports.
    #[default]
    Detected,
    /// None.
    Nothing,
    /// Those that the code imports, and these, whose versions win.
    Also(Vec<String>),
}

impl Wanted {
    /// Reads `auto`, `none` or a list with commas.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.trim() {
            "auto" | "" => Self::Detected,
            "none" => Self::Nothing,
            list => Self::Also(split(list)),
        }
    }

    /// Puts the asked for over the detected ones, one per name, sorted.
    ///
    /// # Errors
    /// Something asked for is no package.
    pub fn merge(
        &self,
        installer: Installer,
        detected: &[Requirement],
    ) -> Result<Vec<Requirement>, String> {
        let own = match self {
            Self::Nothing => return Ok(Vec::new()),
            Self::Detected => &[][..],
            Self::Also(own) => own.as_slice(),
        };
        let mut all: BTreeMap<String, Requirement> = BTreeMap::new();
        for one in detected {
            all.insert(one.name.clone(), one.clone());
        }
        for text in own {
            let one = Requirement::parse(installer, text)?;
            all.insert(one.name.clone(), one);
        }
        Ok(all.into_values().collect())
    }
}

/// Splits a list; `numpy>=1,<2` is one package.
fn split(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in text.split([',', '\n']).map(str::trim) {
        let continues = piece.starts_with(['<', '>', '=', '!', '~']);
        match found.last_mut() {
            Some(last) if continues => {
                last.push(',');
                last.push_str(piece);
            }
            _ if piece.is_empty() || piece == "auto" => {}
            _ => found.push(piece.to_owned()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &str, detected: &[&str]) -> Result<Vec<String>, String> {
        let detected: Vec<Requirement> =
            detected.iter().map(|name| Requirement::any(name)).collect();
        let merged = Wanted::parse(wanted).merge(Installer::Pip, &detected)?;
        Ok(merged.into_iter().map(|one| one.text).collect())
    }

    #[test]
    fn versions_that_were_asked_for_win() {
        let both = names("requests==2.28.0, numpy>=1,<2", &["requests", "rich"]);
        assert_eq!(
            both,
            Ok(vec![
                "numpy>=1,<2".into(),
                "requests==2.28.0".into(),
                "rich".into()
            ])
        );
        assert_eq!(names("none", &["rich"]), Ok(Vec::new()));
        assert_eq!(names("auto", &["rich"]), Ok(vec!["rich".into()]));
        assert_eq!(
            names("PyYAML==6", &["pyyaml"]),
            Ok(vec!["PyYAML==6".into()])
        );
    }

    #[test]
    fn options_of_a_package_manager_are_no_packages() {
        for text in [
            "--index-url=http://x",
            "-r /etc/passwd",
            "",
            "a b",
            "x\n-e .",
            "../x",
            "git+https://x/y",
        ] {
            assert!(
                Requirement::parse(Installer::Pip, text).is_err(),
                "{text:?}"
            );
        }
        for text in ["--registry=http://x", "@/x", "a@", "a@$(x)", "file:../x"] {
            assert!(
                Requirement::parse(Installer::Npm, text).is_err(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn npm_gets_its_own_way_of_writing_versions() {
        let text = |text| Requirement::parse(Installer::Npm, text).map(|one| (one.name, one.text));
        assert_eq!(
            text("lodash==4.17.21"),
            Ok(("lodash".into(), "lodash@4.17.21".into()))
        );
        assert_eq!(
            text("@types/node@^20"),
            Ok(("@types/node".into(), "@types/node@^20".into()))
        );
    }
}
