//! Missing folders above a new file, made on the way and taken away again if the file does not come.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders that were made, the outermost first.
#[derive(Default)]
pub(crate) struct Parents(Vec<PathBuf>);

impl Parents {
    /// Makes what is missing above a place; what fails leaves nothing.
    pub(crate) fn make(place: &Path) -> io::Result<Self> {
        let above = place.ancestors().skip(1);
        let missing: Vec<&Path> = above.take_while(|folder| is_missing(folder)).collect();
        let mut made = Self::default();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => made.0.push(folder.to_path_buf()),
                // Somebody else was faster; that one is theirs.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    made.give_up();
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    /// Removes those that are still empty.
    pub(crate) fn give_up(&self) {
        for folder in self.0.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn is_missing(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
