//! Looks at files of this machine, for prompts and downloads.

use std::path::Path;

use crate::app::msg::HostKind;

/// The most names that are read of a folder.
const MOST: usize = 10_000;

/// Lists the names in a folder, sorted, those of folders with a slash; names that are no text cannot be typed.
pub(super) fn list(folder: &Path) -> Result<Vec<String>, String> {
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .take(MOST)
        .flatten()
        .filter_map(|entry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{}{slash}", entry.file_name().to_str()?))
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Tells what is at a path; a link to a folder is that folder.
pub(super) fn kind(path: &Path) -> HostKind {
    match (path.symlink_metadata(), path.is_dir()) {
        (Err(_), _) => HostKind::Nothing,
        (Ok(_), true) => HostKind::Folder,
        (Ok(_), false) => HostKind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("src")).expect("a folder");
        std::fs::write(at("a.txt"), "x").expect("a file");
        std::os::unix::fs::symlink("src", at("link")).expect("a link");
        std::os::unix::fs::symlink("nowhere", at("dangling")).expect("a link");
        let names = list(folder.path()).expect("names");
        assert_eq!(names, ["a.txt", "dangling", "link/", "src/"]);
        let kinds = ["src", "link", "a.txt", "dangling", "none"].map(|name| kind(&at(name)));
        assert_eq!(
            kinds,
            [
                HostKind::Folder,
                HostKind::Folder,
                HostKind::File,
                HostKind::File,
                HostKind::Nothing
            ]
        );
        assert!(list(&at("none")).is_err());
    }
}
