//! The layout as it was left: kept in a file of the state directory, whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::app::remembered::Layout;

/// The file, and what it is known to hold.
pub(super) struct Memory {
    file: Option<PathBuf>,
    kept: Option<Layout>,
}

impl Memory {
    /// Names the file; without a directory nothing is remembered.
    pub(super) fn new(state_dir: Option<&Path>) -> Self {
        Self {
            file: state_dir.map(|dir| dir.join("layout.json")),
            kept: None,
        }
    }

    /// Reads the layout; a file that is broken counts as none.
    pub(super) fn read(&mut self) -> Option<Layout> {
        let file = self.file.as_ref()?;
        let bytes = fs::read(file).ok()?;
        match serde_json::from_slice::<Layout>(&bytes) {
            Ok(layout) => self.kept = Some(layout),
            Err(error) => {
                let file = file.display();
                tracing::warn!(%file, %error, "the layout of the last time is not readable");
            }
        }
        self.kept.clone()
    }

    /// Keeps the layout if it is another one than before.
    pub(super) fn keep(&mut self, layout: Layout) {
        let Some(file) = self.file.as_ref() else {
            return;
        };
        if self.kept.as_ref() == Some(&layout) {
            return;
        }
        if let Err(error) = write(file, &layout) {
            tracing::warn!(%error, "the layout could not be kept");
        }
        // Kept or not, it is not tried again until it changes.
        self.kept = Some(layout);
    }
}

/// Writes beside the file first, so that a crash leaves the old one.
fn write(file: &Path, layout: &Layout) -> std::io::Result<()> {
    let fresh = file.with_extension(format!("{}.new", std::process::id()));
    let written = fs::File::create(&fresh).and_then(|mut out| {
        out.write_all(&serde_json::to_vec(layout)?)?;
        out.sync_all()
    });
    let written = written.and_then(|()| fs::rename(&fresh, file));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::App;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut app = App::with(160, 48, &["py"]);
        app.keys("o z 3");
        let layout = app.state.layout();
        let mut memory = Memory::new(Some(folder.path()));
        assert_eq!(memory.read(), None);
        memory.keep(layout.clone());
        assert_eq!(names(folder.path()), ["layout.json"]);
        let read = Memory::new(Some(folder.path())).read();
        assert_eq!(read, Some(layout));
    }

    #[test]
    fn the_same_is_not_written_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = App::new(80, 24).state.layout();
        let mut memory = Memory::new(Some(folder.path()));
        memory.keep(layout.clone());
        let file = folder.path().join("layout.json");
        fs::remove_file(&file).expect("removed");
        memory.keep(layout);
        assert!(!file.exists());
    }

    #[test]
    fn a_broken_file_or_folder_does_no_harm() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("layout.json");
        for text in ["", "{", "3", "{\"focus\": \"moon\"}", "\u{0}\u{1b}[2J"] {
            fs::write(&file, text).expect("written");
            assert_eq!(Memory::new(Some(folder.path())).read(), None, "{text:?}");
        }
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a folder in its place");
        let mut memory = Memory::new(Some(folder.path()));
        memory.keep(App::new(80, 24).state.layout());
        assert_eq!(
            (memory.kept.is_some(), names(folder.path()).len()),
            (true, 1)
        );
        let mut nowhere = Memory::new(None);
        nowhere.keep(App::new(80, 24).state.layout());
        assert_eq!(nowhere.read(), None);
    }
}
