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
/// Says that it has cgroups.
const GROUPS: &str = "SANDTOP_TEST_GROUPS";

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

/// Tells whether limits are enforced by the kernel for whoever runs these tests.
pub fn has_groups() -> bool {
    rustix::process::geteuid().is_root() || std::env::var_os(GROUPS).is_some()
}

/// Groups in every hierarchy that were handed over to the ordinary user, as a user service of systemd is.
struct HandedOver(Vec<PathBuf>);

impl HandedOver {
    fn make() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("a list of mounts");
        let points = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (point, kind, options) = (words.nth(1)?, words.next()?, words.next()?);
            let wanted = ["memory", "cpu", "pids", "freezer"];
            let useful = kind == "cgroup2" || options.split(',').any(|o| wanted.contains(&o));
            (kind.starts_with("cgroup") && useful).then(|| PathBuf::from(point))
        });
        let name = unique_name("handed-over");
        let folders: Vec<_> = points.map(|point| point.join(&name)).collect();
        for folder in &folders {
            fs::create_dir_all(folder.join("own")).expect("a group");
            let controllers = folder.join("cgroup.subtree_control");
            for controller in ["memory", "cpu", "pids"] {
                // Only the second version has this, and not every controller.
                if controllers.exists() {
                    let _ = fs::write(&controllers, format!("+{controller}"));
                }
            }
            for place in [
                "",
                "cgroup.procs",
                "cgroup.subtree_control",
                "own",
                "own/cgroup.procs",
            ] {
                let _ = chown(folder.join(place), Some(NOBODY_IN_PARTICULAR), None);
            }
        }
        Self(folders)
    }

    /// Words of a shell that joins them all.
    fn join(&self) -> String {
        let joins = self.0.iter().map(|folder| {
            let list = folder.join("own/cgroup.procs");
            format!("echo $$ > {} && ", list.display())
        });
        joins.collect()
    }
}

impl Drop for HandedOver {
    fn drop(&mut self) {
        for folder in &self.0 {
            for part in ["sandtop", "own", ""] {
                let _ = fs::remove_dir(folder.join(part));
            }
        }
    }
}

/// Runs the tests below the filters as an ordinary user to whom a part of every hierarchy was handed over.
pub fn run_with_groups(filters: &[&str]) {
    if std::env::var_os(STATE).is_none() && rustix::process::geteuid().is_root() {
        let groups = HandedOver::make();
        run_in(filters, Some(&groups));
        let left = groups.0.iter().filter(|folder| {
            let below = fs::read_dir(folder.join("sandtop"))
                .into_iter()
                .flatten()
                .flatten();
            below.filter(|entry| entry.path().is_dir()).count() > 0
        });
        assert_eq!(left.collect::<Vec<_>>(), Vec::<&PathBuf>::new());
    }
}

/// Runs the tests below `filter` as an ordinary user; they print what they find.
pub fn run(filter: &str) {
    run_in(&[filter], None);
}

fn run_in(filters: &[&str], groups: Option<&HandedOver>) {
    if std::env::var_os(STATE).is_some() {
        return;
    }
    assert!(
        rustix::process::geteuid().is_root(),
        "only root can become an ordinary user"
    );
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
    let join = groups.map(HandedOver::join).unwrap_or_default();
    let become_user = format!(
        "{join}exec setpriv --reuid {user} --regid {user} --clear-groups --inh-caps=-all -- \"$@\""
    );
    let mut command = Command::new("sh");
    command.args(["-c", &become_user, "sh"]).arg(&program);
    if groups.is_some() {
        command.env(GROUPS, "yes");
    }
    let ran = command
        .args(filters)
        .args(["--include-ignored", "--nocapture"])
        .env(STATE, &state)
        .env("TMPDIR", &state)
        .env("HOME", &state)
        .current_dir("/")
        .output()
        .expect("a shell");
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
