//! Paths of this machine in prompts: `~`, names and completion, all without touching a disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where paths of this machine start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPlaces {
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// What relative paths start at.
    pub here: PathBuf,
}

impl HostPlaces {
    /// Reads a path as a person writes it.
    ///
    /// # Errors
    /// Returns a sentence when it is empty, or starts with `~` and nobody knows what that is.
    pub fn resolve(&self, text: &str) -> Result<PathBuf, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("give a path of this machine".to_owned());
        }
        let rest = match text.strip_prefix('~') {
            Some("") => "",
            Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
            Some(_) | None => return Ok(self.here.join(text)),
        };
        let home = self.home.as_ref();
        let home = home.ok_or("`~` is not known here; write the whole path")?;
        Ok(home.join(rest))
    }

    /// Returns what a prompt for a file of this name starts with.
    pub(super) fn suggest(&self, name: &str) -> String {
        self.here.join(name).display().to_string()
    }
}

/// Returns the last part of a host path, if it names something.
pub(super) fn base_name(path: &Path) -> Option<&[u8]> {
    path.file_name().map(OsStrExt::as_bytes)
}

/// Appends a name of a sandbox's file, of any bytes, to a host folder.
pub(super) fn child(folder: &Path, name: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(name))
}

/// Completes the last part of a path by the names in its folder, as far as they agree; folders end in `/`.
///
/// Returns nothing when there is nothing to add.
#[must_use]
pub fn complete(prefix: &str, entries: &[String]) -> Option<String> {
    let start = prefix.rfind('/').map_or(0, |at| at + 1);
    let (folder, part) = prefix.split_at_checked(start)?;
    // As in shells, hidden names are offered only when asked for.
    let is_offered = |name: &&String| {
        name.starts_with(part) && (part.starts_with('.') || !name.starts_with('.'))
    };
    let mut offered = entries.iter().filter(is_offered);
    let first = offered.next()?.as_str();
    let common = offered.fold(first, |common, name| common_start(common, name));
    (common.len() > part.len()).then(|| format!("{folder}{common}"))
}

fn common_start<'a>(left: &'a str, right: &str) -> &'a str {
    let mut both = left.char_indices().zip(right.chars());
    let differs = both.find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let end = differs.unwrap_or(left.len().min(right.len()));
    left.get(..end).unwrap_or(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tilde_and_relative_paths_are_expanded() {
        let places = HostPlaces {
            home: Some("/home/me".into()),
            here: "/work".into(),
        };
        let cases = [
            ("~", "/home/me"),
            ("~/a b", "/home/me/a b"),
            ("~//a", "/home/me/a"),
            ("~other", "/work/~other"),
            (" x/y ", "/work/x/y"),
            ("/x", "/x"),
        ];
        for (text, expected) in cases {
            assert_eq!(places.resolve(text), Ok(expected.into()), "{text}");
        }
        assert!(places.resolve(" ").is_err());
        assert!(HostPlaces::default().resolve("~/x").is_err());
    }

    #[test]
    fn completes_as_far_as_names_agree() {
        let entries: Vec<String> = ["data-1.csv", "data-2.csv", "größe", "grüße", "src/", ".rc"]
            .map(str::to_owned)
            .to_vec();
        let cases = [
            ("/a/d", Some("/a/data-")),
            ("/a/data-", None),
            ("/a/data-1", Some("/a/data-1.csv")),
            ("s", Some("src/")),
            ("g", Some("gr")),
            ("~/.", Some("~/.rc")),
            ("/a/", None),
            ("x", None),
            ("src/", None),
        ];
        for (prefix, expected) in cases {
            assert_eq!(complete(prefix, &entries).as_deref(), expected, "{prefix}");
        }
        assert_eq!(complete("", &["only".to_owned()]).as_deref(), Some("only"));
    }
}
