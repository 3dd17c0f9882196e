//! Where settings, state and cache live: the XDG folders, or one below `/tmp` for a process without a home.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::protocol::{Failure, FailureKind};
use crate::text::safe_line;

const APP: &str = "sandtop";
const PRIVATE: u32 = 0o700;
/// The rights of everybody but the owner.
const OTHERS: u32 = 0o077;

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

/// Makes a folder, with those above it, that nobody else can use; one that others can use, or could have filled, is refused.
///
/// What lies in it may have been made by programs that cared less; since nobody else got there, taking away the rights of others
/// is all that it needs.
///
/// # Errors
/// The folder cannot be made (whatever kind), or it or something in it is not ours alone (`Refused`).
pub fn create_private(dir: &Path, uid: u32) -> Result<(), Failure> {
    let top = shared_top(uid);
    if dir.starts_with(&top) {
        make(&top)?;
        check_private(&top, uid)?;
    }
    make(dir)?;
    check_private(dir, uid)?;
    let entries = fs::read_dir(dir).map_err(|error| cannot_make(dir, &error))?;
    for entry in entries.flatten() {
        take_rights_of_others(&entry.path(), uid)?;
    }
    Ok(())
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

fn check_private(dir: &Path, uid: u32) -> Result<(), Failure> {
    let found = fs::symlink_metadata(dir).map_err(|error| cannot_make(dir, &error))?;
    if !found.is_dir() {
        return Err(refused(
            dir,
            "is no folder but a link or file",
            "take it away",
        ));
    }
    if found.uid() != uid {
        return Err(belongs_to_another(dir, found.uid()));
    }
    if found.mode() & OTHERS != 0 {
        let mend = format!("see what others left there, then: chmod go= {}", shown(dir));
        return Err(refused(dir, "can be used by other users", &mend));
    }
    Ok(())
}

/// Takes away what others may do with something in a folder that they cannot reach.
fn take_rights_of_others(path: &Path, uid: u32) -> Result<(), Failure> {
    // Gone again, or nothing that rights could be taken from: both are nobody's danger.
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if found.uid() != uid {
        return Err(belongs_to_another(path, found.uid()));
    }
    if found.mode() & OTHERS != 0 && !found.is_symlink() {
        let own = Permissions::from_mode(found.mode() & 0o7777 & !OTHERS);
        let _ = fs::set_permissions(path, own);
    }
    Ok(())
}

fn belongs_to_another(path: &Path, owner: u32) -> Failure {
    let mend = format!(
        "run `sudo -H`, or set XDG_STATE_HOME to a folder of your own, or: chown -R {} {}",
        "$(id -u)",
        shown(path)
    );
    refused(path, &format!("belongs to user {owner}"), &mend)
}

fn refused(path: &Path, why: &str, mend: &str) -> Failure {
    let message = format!("{} {why}, so nothing is kept there", shown(path));
    Failure::new(FailureKind::Refused, message).with_hint(mend)
}

fn shown(path: &Path) -> String {
    safe_line(path.as_os_str().as_encoded_bytes())
}

fn cannot_make(dir: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => FailureKind::Denied,
        io::ErrorKind::StorageFull => FailureKind::NoSpace,
        _ => FailureKind::Internal,
    };
    let message = format!("making the folder {} failed: {error}", shown(dir));
    Failure::new(kind, message)
}

#[cfg(test)]
mod tests {
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

    fn ours() -> u32 {
        rustix::process::getuid().as_raw()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").mode() & 0o777
    }

    #[test]
    fn private_folders_are_made_for_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let deep = dir.path().join("a/b");
        create_private(&deep, ours()).expect("made");
        create_private(&deep, ours()).expect("there already");
        assert_eq!(mode(&deep), PRIVATE);
    }

    #[test]
    fn folders_that_others_can_use_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("state");
        create_private(&folder, ours()).expect("made");
        let refusal = |uid| create_private(&folder, uid).map_err(|failure| failure.kind);
        assert_eq!(refusal(ours() + 1), Err(FailureKind::Refused));
        for open in [0o750, 0o701, 0o777] {
            set_mode(&folder, open);
            assert_eq!(refusal(ours()), Err(FailureKind::Refused), "{open:o}");
            assert_eq!(
                mode(&folder),
                open,
                "nothing is changed behind the user's back"
            );
        }
        set_mode(&folder, PRIVATE);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).expect("a link");
        assert!(check_private(&link, ours()).is_err());
    }

    #[test]
    fn what_lies_in_a_private_folder_loses_the_rights_of_others() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("state");
        create_private(&folder, ours()).expect("made");
        let (file, inner) = (folder.join("store.db"), folder.join("slots"));
        fs::write(&file, "x").expect("a file");
        fs::create_dir(&inner).expect("a folder");
        set_mode(&file, 0o644);
        set_mode(&inner, 0o755);
        create_private(&folder, ours()).expect("mended");
        assert_eq!((mode(&file), mode(&inner)), (0o600, 0o700));
    }
}
