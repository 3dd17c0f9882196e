//! A scope of systemd for one keeper: an ordinary user's login session hands no cgroup over, but the user's own manager does.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::hierarchies::Hierarchies;
use super::users;
use crate::engine::guest::random_word;

/// Where the user's manager listens, below the user's runtime directory.
const MANAGER: &str = "systemd/private";
/// Longest wait for it; without an answer the sandbox is made as if it was not there.
const PATIENCE: Duration = Duration::from_secs(5);
/// The keeper's own group, because a group that is divided may have no processes itself.
const KEEPER: &str = "keeper";

/// The user's manager of systemd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SystemdManager {
    runtime: OsString,
}

impl SystemdManager {
    /// Finds the manager, where its help is needed.
    pub(super) fn find_if_needed() -> Option<Self> {
        let manager = Self::at(std::env::var_os("XDG_RUNTIME_DIR")?)?;
        let is_needed = !users::may_give_blocks() && Hierarchies::read().needs_a_scope();
        is_needed.then_some(manager)
    }

    fn at(runtime: OsString) -> Option<Self> {
        let there = Path::new(&runtime).join(MANAGER).exists();
        there.then_some(Self { runtime })
    }

    /// Starts a keeper in a scope of its own; it waits for its plan. `None` if the manager does not play along.
    pub(super) fn start_keeper(
        &self,
        guest: &Path,
        folder: &Path,
        id: &str,
    ) -> Option<SystemdScope> {
        let name = format!("sandtop-{id}-{}.scope", random_word().get(..8)?);
        let mut child = self.command(guest, folder, &name).spawn().ok()?;
        let groups = PathBuf::from(format!("/proc/{}/cgroup", child.id()));
        let joined = await_scope(&mut child, &name, || {
            fs::read_to_string(&groups).unwrap_or_default()
        });
        let mut scope = SystemdScope {
            child: Some(child),
            hierarchies: Hierarchies::within(&joined.unwrap_or_default()),
        };
        // Dropped, it ends the process that was started.
        scope.move_aside().ok()?;
        Some(scope)
    }

    fn command(&self, guest: &Path, folder: &Path, name: &str) -> Command {
        let mut command = Command::new("systemd-run");
        // Only the way to the manager, which the keeper itself must not see.
        let kept = ["PATH", "DBUS_SESSION_BUS_ADDRESS"];
        let kept = kept
            .iter()
            .filter_map(|key| Some((*key, std::env::var_os(key)?)));
        command
            .args([
                "--user",
                "--scope",
                "--quiet",
                "--collect",
                "--property=Delegate=yes",
            ])
            .arg(format!("--unit={name}"))
            // The command line is public, also inside; where the program lies is not for everybody.
            .args(["--", "env", "-i"])
            .arg(Path::new("../..").join(guest.file_name().unwrap_or_default()))
            .arg("keeper")
            .env_clear()
            .envs(kept)
            .env("XDG_RUNTIME_DIR", &self.runtime)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

/// Waits until a process is in the scope of that name, and returns the list of its groups.
fn await_scope(child: &mut Child, name: &str, groups: impl Fn() -> String) -> Option<String> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
        let list = groups();
        if list
            .lines()
            .any(|line| line.starts_with("0::") && line.ends_with(&format!("/{name}")))
        {
            return Some(list);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// A scope with a keeper that waits for its plan; given up, the keeper ends, and the scope with it.
pub(super) struct SystemdScope {
    child: Option<Child>,
    /// The cgroups of this machine as far as they are the scope's.
    pub(super) hierarchies: Hierarchies,
}

impl SystemdScope {
    fn move_aside(&mut self) -> io::Result<()> {
        let top = self
            .hierarchies
            .handed_over()
            .ok_or(io::ErrorKind::NotFound)?;
        let own = top.join(KEEPER);
        fs::create_dir(&own)?;
        let pid = self.child.as_ref().map_or(0, Child::id);
        fs::write(own.join("cgroup.procs"), pid.to_string())
    }

    /// Hands the keeper over to who gives it its plan.
    pub(super) fn into_keeper(mut self) -> Option<Child> {
        self.child.take()
    }
}

impl Drop for SystemdScope {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_where_its_socket_is() {
        let runtime = tempfile::tempdir().expect("a folder");
        assert_eq!(SystemdManager::at(runtime.path().into()), None);
        fs::create_dir(runtime.path().join("systemd")).expect("a folder");
        fs::write(runtime.path().join(MANAGER), "").expect("a file");
        assert!(SystemdManager::at(runtime.path().into()).is_some());
    }

    #[test]
    fn the_manager_is_asked_for_a_scope_that_is_handed_over() {
        let manager = SystemdManager {
            runtime: "/run/user/7".into(),
        };
        let command = manager.command(Path::new("/home/ada/s/guest-1"), Path::new("/"), "x.scope");
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect();
        let words = words.join(" ");
        assert_eq!(
            words,
            "--user --scope --quiet --collect --property=Delegate=yes --unit=x.scope -- env -i ../../guest-1 keeper"
        );
        let mut variables = command.get_envs().map(|(key, _)| key.to_string_lossy());
        assert!(
            variables.all(
                |key| ["PATH", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].contains(&&*key)
            )
        );
    }

    #[test]
    fn a_process_is_waited_for_until_it_is_in_its_scope_or_has_ended() {
        let list = "1:name=systemd:/\n0::/user.slice/app.slice/x.scope\n";
        let mut waits = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let found = await_scope(&mut waits, "x.scope", || list.to_owned());
        assert_eq!(found.as_deref(), Some(list));
        drop(waits.stdin.take());
        waits.wait().expect("an end");
        let mut fails = Command::new("false").spawn().expect("a process");
        assert_eq!(
            await_scope(&mut fails, "x.scope", || "0::/y.scope\n".to_owned()),
            None
        );
    }
}
