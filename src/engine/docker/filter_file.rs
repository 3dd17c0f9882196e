//! The system call filter in a file, for engines such as Podman that take it only by a path on their own machine.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::engine::filter;
use crate::engine::guest::random_word;

/// What the names of such files start with; an engine tells them of its containers.
const PREFIX: &str = "sandtop-filter-";

/// A file that is gone when this is.
pub(super) struct FilterFile(PathBuf);

impl FilterFile {
    /// Writes it, for everybody to read: the engine may be another user's. Nothing in it is secret, and nobody can have put
    /// another in its place, because the name is new.
    pub(super) fn write() -> io::Result<Self> {
        let name = format!("{PREFIX}{}.json", random_word());
        let file = Self(std::env::temp_dir().join(name));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        options
            .open(&file.0)?
            .write_all(filter::profile().as_bytes())?;
        Ok(file)
    }

    /// Writes the option that names it.
    pub(super) fn option(&self) -> String {
        format!("{OPTION}{}", self.0.display())
    }
}

impl Drop for FilterFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// How a container's options name its filter.
pub(super) const OPTION: &str = "seccomp=";

/// Tells whether what an engine tells of a filter is ours, given as it is or by such a file.
pub(super) fn is_ours(given: &str) -> bool {
    given == filter::profile() || given.contains(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_the_filter_and_goes() {
        let file = FilterFile::write().expect("a file");
        let option = file.option();
        let path = option.strip_prefix(OPTION).expect("an option");
        assert_eq!(fs::read_to_string(path).expect("text"), filter::profile());
        assert!(is_ours(path) && is_ours(&filter::profile()) && !is_ours("/etc/other.json"));
        let path = PathBuf::from(path);
        drop(file);
        assert!(!path.exists());
    }
}
