//! Paths of this machine in prompts: `~`, names and completion, all without touching a disk.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::ask::{shown, submit};
use crate::app::intent::Intent;
use crate::app::msg::{Download, Effect, HostKind};
use crate::domain::SandboxPath;
use crate::protocol::Command;
use crate::text::safe_line;

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

/// Copies what is to be copied, each on its own.
fn copies(download: &Download) -> Vec<Intent> {
    let both = download.targets.iter().zip(download.places());
    let copy = |(from, to): (&SandboxPath, PathBuf)| {
        let label = format!("copying out {}", shown(from.file_name()));
        let command = Command::CopyOut {
            sandbox: download.sandbox.clone(),
            from: from.clone(),
            to,
            max_bytes: None,
        };
        submit(command, label)
    };
    both.map(copy).collect()
}

/// Copies if nothing is in the way, goes into a folder as `cp` does, else asks.
#[must_use]
pub fn host_checked(download: Download, found: &[HostKind]) -> Vec<Intent> {
    if !download.into && found == [HostKind::Folder] {
        let into = true;
        let download = Box::new(Download { into, ..download });
        return vec![Intent::Effect(Effect::CheckHost(download))];
    }
    let places = download.places();
    let taken = places.iter().zip(found);
    let taken: Vec<_> = taken
        .filter(|(_, kind)| **kind != HostKind::Nothing)
        .collect();
    let question = match taken.as_slice() {
        [] => return copies(&download),
        [(place, HostKind::Folder)] => {
            let place = safe_line(place.as_os_str().as_bytes());
            format!("{place} is there already. Files of the same names in it are replaced. Copy?")
        }
        [(place, _)] => {
            let place = safe_line(place.as_os_str().as_bytes());
            format!("{place} exists on this machine. Replace it? What it holds is lost.")
        }
        many => format!(
            "{} of these names exist on this machine. Replace them?",
            many.len()
        ),
    };
    vec![Intent::Confirm {
        question,
        button: "Replace".to_owned(),
        then: copies(&download),
    }]
}

/// Returns the last part of a host path, if it names something.
pub(super) fn base_name(path: &Path) -> Option<&[u8]> {
    path.file_name().map(OsStrExt::as_bytes)
}

/// Completes the last part of a path by the names in its folder, as far as they agree; folders end in `/`.
///
/// Returns nothing when there is nothing to add.
#[must_use]
pub fn complete(prefix: &str, entries: &[String]) -> Option<String> {
    let (folder, part) = parts(prefix);
    let mut offered = offered(prefix, entries);
    let first = offered.next()?.as_str();
    let common = offered.fold(first, |common, name| common_start(common, name));
    (common.len() > part.len()).then(|| format!("{folder}{common}"))
}

/// Lists the names that the last part of a path may become; as in shells, hidden ones only when asked for.
pub fn offered<'a>(prefix: &'a str, entries: &'a [String]) -> impl Iterator<Item = &'a String> {
    let (_, part) = parts(prefix);
    entries.iter().filter(move |name| {
        name.starts_with(part) && (part.starts_with('.') || !name.starts_with('.'))
    })
}

/// Cuts a path before its last part.
fn parts(prefix: &str) -> (&str, &str) {
    let start = prefix.rfind('/').map_or(0, |at| at + 1);
    prefix.split_at_checked(start).unwrap_or((prefix, ""))
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
