//! Tests of the local engine as somebody who is not root: this very test program once more, as another user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::unique_name;

/// A number that no account has; the kernel asks for no more.
const NOBODY_IN_PARTICULAR: u32 = 54_321;
/// Says where the second run keeps its state.
const STATE: &str = "SANDTOP_TEST_STATE";

/// Returns the state directory of this run.
pub fn state_dir() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let given = std::env::var_os(STATE).map(PathBuf::from);
        // One for all runs: it is empty in the end but for the guest program, which is the same again next time.
        given.unwrap_or_else(|| std::env::temp_dir().join("sandtop-test-state"))
    };
    MADE.get_or_init(make).clone()
}

/// Lists what is left of sandboxes below the folder of a scope, and groups of theirs in the kernel.
pub fn left_below(scope: &Path) -> Vec<String> {
    let entries = fs::read_dir(scope).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// Runs the tests below `filter` as an ordinary user; they print what they find.
pub fn run(filter: &str) {
    if std::env::var_os(STATE).is_some() {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: this is an ordinary user already");
        return;
    }
    let place = std::env::temp_dir().join(unique_name("ordinary"));
    fs::create_dir_all(&place).expect("a folder");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o711)).expect("a mode");
    let state = place.join("state");
    fs::create_dir(&state).expect("a folder");
    chown(
        &state,
        Some(NOBODY_IN_PARTICULAR),
        Some(NOBODY_IN_PARTICULAR),
    )
    .expect("an owner");
    // Where this program lies may be closed to others.
    let program = place.join("tests");
    fs::copy(std::env::current_exe().expect("a path"), &program).expect("a copy");
    let user = NOBODY_IN_PARTICULAR.to_string();
    let ran = Command::new("setpriv")
        .args([
            "--reuid",
            &user,
            "--regid",
            &user,
            "--clear-groups",
            "--inh-caps=-all",
            "--",
        ])
        .arg(&program)
        .args([filter, "--nocapture"])
        .env(STATE, &state)
        .env("TMPDIR", &state)
        .env("HOME", &state)
        .current_dir("/")
        .output()
        .expect("setpriv");
    let _ = fs::remove_dir_all(&place);
    let out = String::from_utf8_lossy(&ran.stdout);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "as an ordinary user:\n{out}\n{err}");
    assert!(!out.contains(" 0 passed"), "nothing ran:\n{out}");
    eprintln!(
        "as an ordinary user: {}",
        out.lines().last().unwrap_or_default()
    );
}
