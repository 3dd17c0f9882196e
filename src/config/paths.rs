//! Where settings, state and cache live: the XDG folders, or one below `/tmp` for a process without a home.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::protocol::{Failure, FailureKind};
use crate::text::safe_line;

const APP: &str = "sandtop";
const PRIVATE: u32 = 0o700;

/// The places of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The file that is read unless another is named; `None` without a home.
    pub config_file: Option<PathBuf>,
    /// What outlives a process: the store, spooled output, the log.
    pub state_dir: PathBuf,
    /// What can be made anew.
    pub cache_dir: PathBuf,
}

impl Paths {
    /// Finds the places; nothing is made or looked at.
    #[must_use]
    pub fn new(environment: &Environment) -> Self {
        let folder = |variable, below_home| {
            xdg(environment, variable, below_home).map(|base| base.join(APP))
        };
        let last_resort = shared_top(environment.uid());
        Self {
            config_file: folder("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("config.toml")),
            state_dir: folder("XDG_STATE_HOME", ".local/state")
                .unwrap_or_else(|| last_resort.join("state")),
            cache_dir: folder("XDG_CACHE_HOME", ".cache")
                .unwrap_or_else(|| last_resort.join("cache")),
        }
    }
}

/// Makes a folder, with those above it, that only its owner can read.
///
/// Below `/tmp` others could have made the top folder first; one that is not ours is refused.
///
/// # Errors
/// The folder cannot be made, or belongs to someone else.
pub fn create_private(dir: &Path, uid: u32) -> Result<(), Failure> {
    let top = shared_top(uid);
    if dir.starts_with(&top) {
        make(&top)?;
        check_owner(&top, uid)?;
    }
    make(dir)
}

/// Returns the home, if it is known and can be meant.
pub(super) fn home(environment: &Environment) -> Option<PathBuf> {
    environment.path("HOME").filter(|path| path.is_absolute())
}

/// Returns an XDG folder; relative values are void, as its specification says.
fn xdg(environment: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = environment.path(variable).filter(|path| path.is_absolute());
    named.or_else(|| Some(home(environment)?.join(below_home)))
}

fn shared_top(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/{APP}-{uid}"))
}

fn make(dir: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(dir);
    made.map_err(|error| cannot_make(dir, &error))
}

fn check_owner(dir: &Path, uid: u32) -> Result<(), Failure> {
    let found = fs::symlink_metadata(dir).map_err(|error| cannot_make(dir, &error))?;
    let is_shared = found.mode() & 0o077 != 0;
    if found.is_dir() && found.uid() == uid && !is_shared {
        return Ok(());
    }
    let shown = safe_line(dir.as_os_str().as_encoded_bytes());
    let message = format!("{shown} can be used by others, so nothing is kept in it");
    Err(Failure::new(FailureKind::Denied, message)
        .with_hint("set HOME or XDG_STATE_HOME and XDG_CACHE_HOME to folders of your own"))
}

fn cannot_make(dir: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => FailureKind::Denied,
        io::ErrorKind::StorageFull => FailureKind::NoSpace,
        _ => FailureKind::Internal,
    };
    let shown = safe_line(dir.as_os_str().as_encoded_bytes());
    Failure::new(kind, format!("making the folder {shown} failed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn paths(variables: &[(&str, &str)]) -> [Option<String>; 3] {
        let paths = Paths::new(&Environment::new(variables.iter().copied(), 7));
        let text = |path: PathBuf| path.display().to_string();
        [
            paths.config_file.map(text),
            Some(text(paths.state_dir)),
            Some(text(paths.cache_dir)),
        ]
    }

    fn all(config: Option<&str>, state: &str, cache: &str) -> [Option<String>; 3] {
        [
            config.map(Into::into),
            Some(state.into()),
            Some(cache.into()),
        ]
    }

    #[test]
    fn follows_xdg_then_home_then_tmp() {
        let xdg = [
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_STATE_HOME", "/s"),
            ("XDG_CACHE_HOME", "/k"),
        ];
        let named = all(Some("/c/sandtop/config.toml"), "/s/sandtop", "/k/sandtop");
        assert_eq!(paths(&xdg), named);
        let below_home = all(
            Some("/home/me/.config/sandtop/config.toml"),
            "/home/me/.local/state/sandtop",
            "/home/me/.cache/sandtop",
        );
        assert_eq!(paths(&[("HOME", "/home/me")]), below_home);
        let void = [
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "c"),
            ("XDG_STATE_HOME", ""),
        ];
        assert_eq!(paths(&void), below_home);
        let homeless = all(None, "/tmp/sandtop-7/state", "/tmp/sandtop-7/cache");
        assert_eq!(paths(&[]), homeless);
        assert_eq!(paths(&[("HOME", "me")]), homeless);
    }

    #[test]
    fn private_folders_are_made_for_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let deep = dir.path().join("a/b");
        create_private(&deep, 7).expect("made");
        create_private(&deep, 7).expect("there already");
        let mode = fs::metadata(&deep).expect("there").mode();
        assert_eq!(mode & 0o777, PRIVATE);
    }

    #[test]
    fn folders_of_others_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(PRIVATE)).expect("set");
        let ours = fs::metadata(dir.path()).expect("there").uid();
        assert_eq!(check_owner(dir.path(), ours), Ok(()));
        let refused = check_owner(dir.path(), ours + 1).map_err(|failure| failure.kind);
        assert_eq!(refused, Err(FailureKind::Denied));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).expect("a link");
        assert!(check_owner(&link, ours).is_err());
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o770)).expect("set");
        assert!(check_owner(dir.path(), ours).is_err());
    }
}
