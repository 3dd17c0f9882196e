//! The library of snippets on disk: one file each, in the state directory.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::app::msg::{SnippetNews, SnippetOp};

/// Larger files are no snippets.
const LARGEST: u64 = 2 << 20;

/// Where snippets are kept; `None` if there is no state directory.
pub(super) struct Library(Option<PathBuf>);

impl Library {
    /// Finds the folder.
    pub(super) fn new(state_dir: Option<&Path>) -> Self {
        Self(state_dir.map(|dir| dir.join("snippets")))
    }

    /// Does what was asked for.
    pub(super) fn perform(&self, op: SnippetOp) -> SnippetNews {
        let Some(folder) = &self.0 else {
            let words = "There is no state directory to keep snippets in.";
            return SnippetNews::Failed(words.to_owned());
        };
        let done = match op {
            SnippetOp::List => list(folder).map(SnippetNews::Listed),
            SnippetOp::Keep {
                name,
                text,
                replace,
            } => keep(folder, name, text, replace),
            SnippetOp::Open(name) => read(folder, name),
            SnippetOp::Rename { from, to } => rename(folder, &from, &to),
            SnippetOp::Delete(name) => fs::remove_file(folder.join(name))
                .and_then(|()| list(folder))
                .map(SnippetNews::Changed),
        };
        let shown = folder.display();
        done.unwrap_or_else(|error| SnippetNews::Failed(format!("Snippets in {shown}: {error}.")))
    }
}

fn list(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    Ok(names)
}

/// Writes beside the file first, so that a full disk leaves the old one as it was.
fn keep(folder: &Path, name: String, text: String, replace: bool) -> io::Result<SnippetNews> {
    fs::create_dir_all(folder)?;
    let file = folder.join(&name);
    if !replace && file.symlink_metadata().is_ok() {
        return Ok(SnippetNews::Exists { name, text });
    }
    let fresh = folder.join(format!(".new-{}", std::process::id()));
    let mut writer = fs::File::create(&fresh)?;
    let written = writer
        .write_all(text.as_bytes())
        .and_then(|()| fs::rename(&fresh, &file));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written.map(|()| SnippetNews::Kept(name))
}

fn read(folder: &Path, name: String) -> io::Result<SnippetNews> {
    let file = folder.join(&name);
    if fs::metadata(&file)?.len() > LARGEST {
        return Err(io::Error::other(format!("{name} is larger than 2 MiB")));
    }
    let text = fs::read_to_string(file)?;
    Ok(SnippetNews::Opened { name, text })
}

/// Renames without ever replacing another.
fn rename(folder: &Path, from: &str, to: &str) -> io::Result<SnippetNews> {
    if from != to {
        fs::hard_link(folder.join(from), folder.join(to))?;
        fs::remove_file(folder.join(from))?;
    }
    list(folder).map(SnippetNews::Changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(news: SnippetNews) -> Vec<String> {
        match news {
            SnippetNews::Listed(names) | SnippetNews::Changed(names) => names,
            other => vec![format!("{other:?}")],
        }
    }

    #[test]
    fn snippets_are_kept_read_renamed_and_deleted() {
        let dir = tempfile::tempdir().expect("a folder");
        let library = Library::new(Some(dir.path()));
        let list = || names(library.perform(SnippetOp::List));
        let keep = |name: &str, text: &str, replace| {
            library.perform(SnippetOp::Keep {
                name: name.to_owned(),
                text: text.to_owned(),
                replace,
            })
        };
        assert_eq!(list(), Vec::<String>::new(), "no folder yet");
        assert_eq!(keep("a.py", "1", false), SnippetNews::Kept("a.py".into()));
        assert!(matches!(
            keep("a.py", "2", false),
            SnippetNews::Exists { .. }
        ));
        assert_eq!(keep("a.py", "2", true), SnippetNews::Kept("a.py".into()));
        assert_eq!(keep("b.py", "3", false), SnippetNews::Kept("b.py".into()));
        let rename = |from: &str, to: &str| {
            library.perform(SnippetOp::Rename {
                from: from.to_owned(),
                to: to.to_owned(),
            })
        };
        let onto_another = rename("b.py", "a.py");
        assert!(
            matches!(onto_another, SnippetNews::Failed(_)),
            "never over another"
        );
        assert_eq!(names(rename("b.py", "c.py")), ["a.py", "c.py"]);
        let opened = library.perform(SnippetOp::Open("a.py".to_owned()));
        let (name, text) = ("a.py".to_owned(), "2".to_owned());
        assert_eq!(opened, SnippetNews::Opened { name, text });
        let left = library.perform(SnippetOp::Delete("a.py".to_owned()));
        assert_eq!(names(left), ["c.py"]);
        let gone = library.perform(SnippetOp::Open("a.py".to_owned()));
        assert!(matches!(gone, SnippetNews::Failed(_)));
    }
}
